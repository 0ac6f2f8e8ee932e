"""What a connection is encrypted by, and that a server is believed only where it has proved who it is."""

import ssl
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.conftest import short_folder
from tests.tls_identity import Identity, make_identity

from poolpilot.errors import ServerError, SettingError
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.mariadb import session as session_module
from poolpilot.mariadb.control import open_control
from poolpilot.mariadb.login.dsn import Account, Dsn
from poolpilot.mariadb.login.tls import Tls
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.session import Session

REMOTE = "db1.example"
"""A host of another name than the one in the certificate of tests."""


class Encrypted(NamedTuple):
    """A server that offers TLS, and the certificate that it shows, which signs itself and names 127.0.0.1."""

    lab: Lab
    identity: Identity

    def account(self, tls: Tls) -> Account:
        """The tuner's account over TCP."""
        return replace(Dsn(defaults_file=self.lab.defaults_file).account(), socket=None, tls=tls)


@pytest.fixture(scope="module")
def encrypted(mariadb_installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encrypted]:  # noqa: ARG001
    folder = short_folder(tmp_path_factory)
    identity = make_identity(folder, "db1")
    for file in identity:
        file.chmod(0o644)  # the server has an account of its own
    folder.chmod(0o755)
    options = (f"--ssl-cert={identity.certificate}", f"--ssl-key={identity.key}", f"--ssl-ca={identity.certificate}")
    with Lab(folder / "server", LabSettings(dataset="empty"), options) as running:
        yield Encrypted(running, identity)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections to a host of another name lead to this one."""
    connected = session_module._connected

    def led_here(path: Path | None, host: str, port: int, where: str) -> object:
        assert host == REMOTE
        return connected(path, "127.0.0.1", port, where)

    monkeypatch.setattr(session_module, "_connected", led_here)


def read(text: str, tmp_path: Path) -> Tls:
    """What a defaults file says."""
    file = tmp_path / "my.cnf"
    file.write_text(f"[client]\n{text}\n")
    return Dsn(defaults_file=file).account().tls


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Tls()),
        ("ssl", Tls(wanted=True)),
        ("ssl=ON", Tls(wanted=True)),
        ("ssl=0", Tls(wanted=False)),
        ("skip-ssl\nssl-ca=/ca.pem", Tls(wanted=True, verifies=True, authority=Path("/ca.pem"))),
        ("ssl-ca=/ca.pem\nskip-ssl", Tls(wanted=False, verifies=True, authority=Path("/ca.pem"))),
        ("skip-ssl\n[poolpilot]\nssl", Tls(wanted=True)),
        ("disable_ssl", Tls(wanted=False)),
        ("loose-ssl-ca=/ca.pem", Tls(wanted=True, verifies=True, authority=Path("/ca.pem"))),
        ("ssl-ca=", Tls()),
        ("skip-ssl\nssl-verify-server-cert=OFF", Tls(wanted=False)),
        ("ssl\n  user=me", Tls(wanted=True)),
        ("ssl-ca=/ca.pem", Tls(wanted=True, verifies=True, authority=Path("/ca.pem"))),
        ("ssl_capath=/cas", Tls(wanted=True, verifies=True, authorities=Path("/cas"))),
        ("ssl-verify-server-cert", Tls(wanted=True, verifies=True)),
        ("ssl-ca=/ca.pem\nssl-verify-server-cert=OFF", Tls(wanted=True, authority=Path("/ca.pem"))),
        ("ssl-ca=/ca.pem\nskip-ssl-verify-server-cert", Tls(wanted=True, authority=Path("/ca.pem"))),
        ("ssl-cert=/c.pem\nssl-key=/c.key", Tls(wanted=True, certificate=Path("/c.pem"), key=Path("/c.key"))),
    ],
)
def test_options_are_those_of_other_clients(text: str, expected: Tls, tmp_path: Path) -> None:
    assert read(text, tmp_path) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ssl=maybe", "allowed are ON and OFF"),
        ("ssl-key=/c.key", "name that too, ssl-cert=FILE"),
        ("ssl-crl=/crl.pem", "ssl-crl is not obeyed here"),
        ("tls_version=TLSv1.3", "tls-version is not obeyed here"),
        ("ssl-ca=~nobody-of-this-name/ca.pem", "there is no path"),
    ],
)
def test_options_that_cannot_be_obeyed_are_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=said):
        read(text, tmp_path)


def test_files_of_no_use_are_named(tmp_path: Path) -> None:
    locked = make_identity(tmp_path, "locked", b"secret")
    (tmp_path / "empty.pem").touch()
    for tls, named in (
        (Tls(wanted=True, verifies=True, authority=tmp_path / "missing.pem"), "ssl-ca=.*missing.pem.*No such file"),
        (Tls(wanted=True, verifies=True, authority=tmp_path / "empty.pem"), "ssl-ca=.*empty.pem"),
        (
            Tls(wanted=True, certificate=locked.certificate, key=locked.key),
            "ssl-key=.*locked by a passphrase",
        ),
    ):
        with pytest.raises(ServerError, match=named):
            tls.context("db1")


def test_name_is_asked_for_but_on_this_host(tmp_path: Path) -> None:
    certificate = make_identity(tmp_path, "db1").certificate
    by_system, by_file = Tls(wanted=True, verifies=True), Tls(wanted=True, verifies=True, authority=certificate)
    for tls, host, checked in (
        (by_file, REMOTE, True),
        (by_file, "127.0.0.1", False),
        (by_file, None, False),
        (by_system, "127.0.0.1", True),
    ):
        context = tls.context(host)
        assert context is not None
        assert (context.check_hostname, context.verify_mode) == (checked, ssl.CERT_REQUIRED)
    assert Tls().context(REMOTE) is None


def test_server_that_proves_who_it_is_is_believed(encrypted: Encrypted) -> None:
    tls = Tls(wanted=True, verifies=True, authority=encrypted.identity.certificate)
    with Session(encrypted.account(tls)) as session:
        assert session.tls_version.startswith("TLSv1")
        assert session.rows("SELECT REPEAT('x', 100000)") == [("x" * 100_000,)]


def test_server_of_another_authority_is_refused_before_a_password_is_sent(encrypted: Encrypted, tmp_path: Path) -> None:
    other = make_identity(tmp_path, "db1")
    before = encrypted_logins(encrypted)
    with pytest.raises(ServerError, match=r"certificate is not trusted.*ssl-ca=FILE"):
        Session(encrypted.account(Tls(wanted=True, verifies=True, authority=other.certificate)))
    assert encrypted_logins(encrypted) == before


def encrypted_logins(encrypted: Encrypted) -> int:
    """How many sessions were accepted over TLS."""
    with Session(encrypted.lab.root) as session:
        return int(session.row("SHOW GLOBAL STATUS LIKE 'Ssl_finished_accepts'")[1])


@pytest.mark.usefixtures("elsewhere")
def test_server_of_another_name_is_refused(encrypted: Encrypted) -> None:
    account = encrypted.account(Tls(wanted=True, verifies=True, authority=encrypted.identity.certificate))
    with pytest.raises(ServerError, match=r"not trusted \(Hostname mismatch"):
        Session(replace(account, host=REMOTE))


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(
    ("tls", "said"), [(Tls(), "whoever answers there is believed"), (Tls(wanted=False), "is not encrypted")]
)
def test_connection_that_is_open_to_others_is_told(encrypted: Encrypted, tls: Tls, said: str) -> None:
    account = replace(encrypted.account(tls), host=REMOTE)
    with open_control(account) as control:
        assert [said in warning for warning in control.warnings] == [True]


def test_nobody_stands_between_on_this_host(encrypted: Encrypted) -> None:
    with open_control(encrypted.account(Tls(wanted=False))) as control:
        assert control.warnings == ()
        assert control.session.tls_version == ""


def test_it_is_used_where_it_is_offered_but_not_on_a_socket(encrypted: Encrypted) -> None:
    with Session(encrypted.account(Tls())) as tcp, Session(encrypted.lab.root) as local:
        assert tcp.tls_version.startswith("TLSv1")
        assert local.tls_version == ""


def test_on_a_socket_it_is_used_where_it_is_asked_for(encrypted: Encrypted) -> None:
    tls = Tls(wanted=True, verifies=True, authority=encrypted.identity.certificate)
    with Session(replace(encrypted.lab.root, tls=tls)) as session:
        assert session.tls_version.startswith("TLSv1")
        assert session.peer_process() is not None


def test_server_without_it_is_refused_where_it_is_asked_for(lab: Lab) -> None:
    account = replace(Dsn(defaults_file=lab.defaults_file).account(), socket=None)
    with pytest.raises(ServerError, match="offers no TLS, which the defaults file asks for"):
        Session(replace(account, tls=Tls(wanted=True)))
    with Session(replace(account, tls=Tls())) as session:
        assert session.tls_version == ""


def test_what_was_encrypted_stays_so(encrypted: Encrypted) -> None:
    account = encrypted.account(Tls())
    with MariadbServer(account) as server:
        assert (account.tls.wanted, server.account.tls.wanted) == (None, True)
        server.reopen()
        assert server.session.tls_version.startswith("TLSv1")


def test_authority_that_is_replaced_meanwhile_is_a_server_that_cannot_be_reached_now(
    encrypted: Encrypted, tmp_path: Path
) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_bytes(encrypted.identity.certificate.read_bytes())
    with MariadbServer(encrypted.account(Tls(wanted=True, verifies=True, authority=authority))) as server:
        authority.unlink()
        with pytest.raises(ServerError, match=r"ca\.pem: No such file"):
            server.reopen()
        authority.write_bytes(encrypted.identity.certificate.read_bytes())
        server.reopen()
        assert server.session.tls_version.startswith("TLSv1")


def test_certificate_of_a_client_is_shown(encrypted: Encrypted, tmp_path: Path) -> None:
    with Session(encrypted.lab.root) as session:
        session.execute("CREATE OR REPLACE USER shows@127.0.0.1 REQUIRE X509")
    tls = Tls(wanted=True, certificate=encrypted.identity.certificate, key=encrypted.identity.key)
    account = replace(encrypted.account(tls), user="shows", password="")
    with Session(account) as session:
        assert session.tls_version.startswith("TLSv1")
    with pytest.raises(ServerError, match="denies access to 'shows'"):
        Session(replace(account, tls=Tls(wanted=True)))
    other = make_identity(tmp_path, "other")
    with pytest.raises(ServerError, match="does it take the certificate of ssl-cert"):
        Session(replace(account, tls=Tls(wanted=True, certificate=other.certificate, key=other.key)))


def test_certificate_that_has_expired_is_told(encrypted: Encrypted, monkeypatch: pytest.MonkeyPatch) -> None:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code, error.verify_message = 10, "certificate has expired"

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", fail)
    with pytest.raises(ServerError, match=r"certificate has expired\): have it renewed"):
        Session(encrypted.account(Tls(wanted=True)))


def test_account_may_insist(encrypted: Encrypted) -> None:
    with Session(encrypted.lab.root) as session:
        session.execute("CREATE OR REPLACE USER insists@127.0.0.1 REQUIRE SSL")
    account = replace(encrypted.account(Tls()), user="insists", password="")
    with Session(account) as session:
        assert session.row("SELECT CURRENT_USER()") == ("insists@127.0.0.1",)
    with pytest.raises(ServerError, match=r"denies access to 'insists'.*TLS"):
        Session(replace(account, tls=Tls(wanted=False)))
