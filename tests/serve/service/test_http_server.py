"""TLS with files that are given, the client's too; SIGHUP; and what is no HTTP."""

import os
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.pipelines.production.conftest import curves_named, files_of
from tests.serve.conftest import trusting
from tests.tls_identity import Identity, make_identity

from poolpilot.errors import PoolPilotError, ServerError
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.latent.learned_folder import CURVES_FILE
from poolpilot.pipelines.production.model_shelf import ModelShelf
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.http_server import HttpServer, http_server
from poolpilot.serve.service.renewed_tls import tls_of
from poolpilot.serve.service.service_settings import ServeSettings

Serving = Callable[..., Any]


@pytest.fixture
def service_identity(tmp_path: Path) -> Identity:
    return make_identity(tmp_path, "service")


@pytest.fixture
def client_identity(tmp_path: Path) -> Identity:
    return make_identity(tmp_path, "client")


def test_answers_over_tls_alone(
    serving: Serving, predictor: Advisor, service_identity: Identity, request_values: dict[str, Any]
) -> None:
    certificate, key = service_identity
    service = serving(predictor, tls_certificate=certificate, tls_key=key)
    assert service.url.startswith("https:")
    answer = httpx2.post(
        f"{service.url}/v1/predict", json=request_values, verify=trusting(service_identity.certificate)
    )
    assert answer.status_code == 200
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{service.url}/healthz")  # trusts the authorities of the system alone
    with pytest.raises(httpx2.TransportError):
        httpx2.get(f"{service.url}/healthz".replace("https:", "http:"))


def test_client_shows_a_certificate_where_that_is_asked(
    serving: Serving, predictor: Advisor, service_identity: Identity, client_identity: Identity
) -> None:
    certificate, key = service_identity
    service = serving(predictor, tls_certificate=certificate, tls_key=key, tls_client_ca=client_identity.certificate)
    url = f"{service.url}/healthz"
    assert httpx2.get(url, verify=trusting(service_identity.certificate, client_identity)).status_code == 200
    with pytest.raises(httpx2.TransportError):
        httpx2.get(url, verify=trusting(service_identity.certificate))
    with pytest.raises(httpx2.TransportError):
        httpx2.get(url, verify=trusting(service_identity.certificate, service_identity))


def test_handshake_is_not_waited_for(serving: Serving, predictor: Advisor, service_identity: Identity) -> None:
    certificate, key = service_identity
    service = serving(predictor, tls_certificate=certificate, tls_key=key, header_timeout_s=0.2)
    with service.connect() as silent, suppress(ConnectionResetError):
        assert silent.recv(1) == b""


def test_certificate_is_renewed_and_stays_where_the_new_one_is_of_no_use(
    tmp_path: Path, predictor: Advisor, service_identity: Identity
) -> None:
    values = service_identity_values(service_identity)
    settings = ServeSettings.load(None, values)
    application = create_app(predictor, settings)
    shown = shown_by(server := http_server(application, settings))
    other = make_identity(tmp_path, "other")
    service_identity.certificate.write_bytes(other.certificate.read_bytes())
    with pytest.raises(PoolPilotError, match="cannot use the certificate"):
        application.state.renewal.run()
    assert shown_by(server) == shown
    service_identity.key.write_bytes(other.key.read_bytes())
    application.state.renewal.run()
    assert shown_by(server) == ssl.PEM_cert_to_DER_cert(other.certificate.read_text(encoding="ascii"))


def shown_by(service: HttpServer) -> bytes | None:
    """The certificate that a client is shown in a handshake in memory."""
    context = service.tls
    assert context is not None
    trusting_anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting_anybody.check_hostname, trusting_anybody.verify_mode = False, ssl.CERT_NONE
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    client, server = trusting_anybody.wrap_bio(down, up), context.wrap_bio(up, down, server_side=True)
    for _ in range(3):
        for side in (client, server):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return client.getpeercert(binary_form=True)


def test_authorities_of_clients_are_renewed(
    tmp_path: Path, serving: Serving, predictor: Advisor, service_identity: Identity, client_identity: Identity
) -> None:
    """Before, they were read for the check alone: whoever was admitted stayed so, and nobody was added."""
    authorities, other = tmp_path / "authorities.pem", make_identity(tmp_path, "other")
    authorities.write_bytes(client_identity.certificate.read_bytes())
    values = {**service_identity_values(service_identity), "tls_client_ca": authorities}
    service = serving(predictor, **values)
    url = f"{service.url}/v1/model"
    old, new = (trusting(service_identity.certificate, shown) for shown in (client_identity, other))
    with pytest.raises(httpx2.TransportError):
        httpx2.get(url, verify=new)
    authorities.write_bytes(other.certificate.read_bytes())
    assert httpx2.post(url, verify=old).status_code == 200
    assert httpx2.get(url, verify=new).status_code == 200
    with pytest.raises(httpx2.TransportError):
        httpx2.get(url, verify=old)


def test_files_of_no_use_are_one_sentence(tmp_path: Path, service_identity: Identity) -> None:
    other, locked = make_identity(tmp_path, "other"), make_identity(tmp_path, "locked", b"secret")
    bad: dict[str, dict[str, Path]] = {
        "No such file": {"tls_certificate": tmp_path / "nowhere.pem", "tls_key": service_identity.key},
        "passphrase": {"tls_certificate": locked.certificate, "tls_key": locked.key},
        "other.key": {"tls_certificate": service_identity.certificate, "tls_key": other.key},
        "authorities": {**service_identity_values(service_identity), "tls_client_ca": service_identity.key},
    }
    for reason, given in bad.items():
        with pytest.raises(ServerError, match=reason) as refused:
            tls_of(ServeSettings.load(None, given))
        assert "\n" not in str(refused.value)
    tls_of(ServeSettings.load(None, service_identity_values(service_identity)))


def service_identity_values(identity: Identity) -> dict[str, Path]:
    return {"tls_certificate": identity.certificate, "tls_key": identity.key}


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\n: empty\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"a" * 70_000,
    ],
    ids=["tls", "word", "nameless", "long"],
)
def test_what_is_no_http_is_refused(serving: Serving, predictor: Advisor, sent: bytes) -> None:
    with serving(predictor).connect() as connection, suppress(ConnectionResetError):
        connection.sendall(sent)
        answer = connection.recv(65_536)
        assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 "))
        assert connection.recv(65_536) == b""


SERVE = """
import sys
from poolpilot.serve.commands.main import main
sys.argv = ["poolpilot", "serve", "--port", "0", *sys.argv[1:]]
main()
"""


@contextmanager
def served(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a process of its own, and its address."""
    command = [sys.executable, "-c", SERVE, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        ends = threading.Timer(120.0, process.kill)
        ends.start()
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("POST "), process.communicate()
            yield process, line.split()[1].removesuffix("/v1/predict")
        finally:
            process.terminate()
            process.communicate()
            ends.cancel()


def test_sighup_reads_tokens_and_models_again_and_ends_nothing(tmp_path: Path) -> None:
    tokens, old, new = tmp_path / "tokens", "old-" + "a" * 40, "new-" + "b" * 40
    tokens.touch(0o600)
    tokens.write_text(f"predict {old}\n", encoding="ascii")
    with served("--token-file", str(tokens), "--outcomes", str(tmp_path / "outcomes")) as (process, address):

        def status(token: str) -> int:
            return httpx2.get(f"{address}/v1/model", headers={"Authorization": f"Bearer {token}"}).status_code

        assert (status(old), status(new)) == (200, 401)
        tokens.write_text(f"predict {new}\n", encoding="ascii")
        os.kill(process.pid, signal.SIGHUP)
        while status(new) != 200:  # the timer of the process bounds it
            assert process.poll() is None
        assert status(old) == 401
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()
    assert process.returncode == 130
    assert "loaded again" in told
    assert "Traceback" not in told
    assert old not in told + str(process.args)


def test_sighup_before_it_serves_ends_nothing(tmp_path: Path) -> None:
    """Before, a service that was told to load again while it loaded ended, and systemd left it so."""
    marker = tmp_path / "begun"
    slow = "import time\nfrom poolpilot.models.advisor.model import Model as P\nload = P.load\n"
    waits = f"P.load = lambda *a, **k: (open({str(marker)!r}, 'w').close(), time.sleep(0.5), load(*a, **k))[2]\n"
    command = [sys.executable, "-c", slow + waits + SERVE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not marker.exists():  # it loads
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("POST "), process.communicate()
        assert httpx2.get(f"{line.split()[1].removesuffix('/v1/predict')}/readyz").status_code == 200
        process.terminate()
        process.communicate()


def test_model_that_takes_the_place_of_another_is_followed_and_a_broken_one_is_not(tmp_path: Path) -> None:
    shelf = ModelShelf(tmp_path / "learned")
    first, second = (put(shelf, name) for name in ("first", "second"))
    shelf.promote(first)
    with served("--model", str(shelf.current), "--set", "follow_every_s=0.1") as (process, address):

        def wait_for(digest: str, failure: str = "None") -> None:
            while True:  # the timer of the process bounds it
                found = httpx2.get(f"{address}/v1/model").json()
                curves = {parts["curves"] for parts in found["models"].values()}
                if curves == {digest} and failure in str(found["failed_reload"]):
                    return
                assert process.poll() is None
                time.sleep(0.05)

        wait_for(first)
        shelf.promote(second)
        wait_for(second)
        (shelf.current / CURVES_FILE).write_bytes(b"torn")
        wait_for(second, "does not match its digest")
        assert httpx2.get(f"{address}/readyz").status_code == 200
        put(shelf, "second")
        wait_for(second)
        shelf.roll_back("worse in production")
        wait_for(first)


def put(shelf: ModelShelf, name: str) -> str:
    """Puts a model on the shelf; gives the digest of its curves."""
    digest = curves_named(name).digest
    shelf.put(digest, files_of(name))
    return digest


def test_listens_beyond_loopback_with_tokens_and_tls(
    tmp_path: Path, service_identity: Identity, request_values: dict[str, Any]
) -> None:
    tokens, token = tmp_path / "tokens", "asker-" + "a" * 40
    tokens.touch(0o600)
    tokens.write_text(f"predict {token}\n", encoding="ascii")
    certificate, key = map(str, service_identity)
    guarded = ("--token-file", str(tokens), "--tls-certificate", certificate, "--tls-key", key)
    with served("--host", "0.0.0.0", *guarded) as (_, address):
        assert address.startswith("https://0.0.0.0:")
        url = f"{address.replace('0.0.0.0', '127.0.0.1')}/v1/predict"
        with httpx2.Client(verify=trusting(service_identity.certificate)) as client:
            assert client.post(url, json=request_values).status_code == 401
            headers = {"Authorization": f"Bearer {token}"}
            assert client.post(url, json=request_values, headers=headers).status_code == 200


def test_a_client_cannot_say_which_address_it_is_held_to_a_rate_by(
    predictor: Any, request_values: dict[str, Any], serving: Callable[..., Any]
) -> None:
    service = serving(predictor, rate_per_s=0.001, rate_burst=1)
    statuses = [
        httpx2.post(f"{service.url}/v1/predict", json=request_values, headers={"X-Forwarded-For": f"192.0.2.{one}"})
        for one in range(3)
    ]
    assert [answer.status_code for answer in statuses] == [200, 429, 429]
