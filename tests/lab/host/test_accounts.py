"""Nobody logs in to a test server over TCP without a password, whoever started it; files stay in its folder."""

import os
import pwd
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pymysql
import pytest
from pymysql.constants import ER

from poolpilot.errors import ServerError
from poolpilot.lab.host.mariadbd import Running
from poolpilot.lab.host.programs import program
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.session import Session

EMPTY = LabSettings(dataset="empty")
IS_ROOT = os.geteuid() == 0
ACCESS_DENIED_NO_PASSWORD, ACCOUNT_LOCKED = 1698, 4151
REFUSALS = (ER.ACCESS_DENIED_ERROR, ER.HOST_NOT_PRIVILEGED, ACCESS_DENIED_NO_PASSWORD, ACCOUNT_LOCKED)
NAMES = ("root", "", "mysql", "mariadb.sys", "poolpilot", "poolpilot_load", "nobody", "sbtest")
PORTS = ("port", "extra_port")
OPEN_DOORS = (
    "CREATE OR REPLACE USER root@'127.0.0.1', root@'::1', root@'%', ''@'127.0.0.1', ''@localhost, ''@'%'",
    "GRANT ALL ON *.* TO root@'127.0.0.1', root@'::1', root@'%' WITH GRANT OPTION",
)
"""What an earlier version left in its data, and worse."""


class EmptyName(bytes):
    """A user name that the driver sends although it is empty."""

    def __bool__(self) -> bool:
        return True


@contextmanager
def acting_as(name: str) -> Iterator[None]:
    """Makes this process, and what it starts, an account without privileges; root alone can."""
    account, groups = pwd.getpwnam(name), os.getgroups()
    os.setgroups([])
    os.setresgid(account.pw_gid, account.pw_gid, 0)
    os.setresuid(account.pw_uid, account.pw_uid, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups(groups)


@pytest.fixture(params=["root", "user"], scope="module")
def starter(request: pytest.FixtureRequest, mariadb_installed: None) -> str:  # noqa: ARG001
    """Who starts the server: root, or an account without privileges."""
    if request.param == "root" and not IS_ROOT:
        pytest.skip("only root can start a server as root")
    return str(request.param)


@contextmanager
def place_for(starter: str) -> Iterator[tuple[Path, ExitStack]]:
    """A folder that other accounts may pass, and this process as its owner."""
    with tempfile.TemporaryDirectory(prefix="poolpilot-lab-") as made, ExitStack() as acting:
        folder = Path(made)
        folder.chmod(0o755)
        if starter == "user" and IS_ROOT:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            acting.enter_context(acting_as("nobody"))
        yield folder, acting


@pytest.fixture(scope="module")
def started(starter: str) -> Iterator[Lab]:
    with place_for(starter) as (folder, acting):
        lab = Lab(folder / "lab", EMPTY)
        with lab:
            acting.close()
            yield lab


def port_of(lab: Lab, which: str) -> int:
    running = lab.running()
    assert running is not None
    return int(getattr(running, which))


def log_in(port: int, user: str) -> None:
    """Logs in over TCP without a password."""
    connection = pymysql.Connection(host="127.0.0.1", port=port, user=user, password="", defer_connect=True)
    connection.user = connection.user if user else EmptyName()
    connection.connect()
    connection.close()


def assert_closed(lab: Lab) -> None:
    for which in PORTS:
        for name in NAMES:
            with pytest.raises(pymysql.OperationalError) as refused:
                log_in(port_of(lab, which), name)
            assert refused.value.args[0] in REFUSALS, (which, name)


@pytest.mark.parametrize("which", PORTS)
@pytest.mark.parametrize("name", NAMES)
def test_login_without_a_password_is_refused(started: Lab, which: str, name: str) -> None:
    with pytest.raises(pymysql.OperationalError) as refused:
        log_in(port_of(started, which), name)
    assert refused.value.args[0] in REFUSALS


@pytest.mark.parametrize("which", PORTS)
def test_tuner_logs_in_with_its_password(started: Lab, which: str) -> None:
    with Session(Dsn(defaults_file=started.defaults_file).account(), port_of(started, which)) as session:
        assert session.row("SELECT CURRENT_USER()") == ("poolpilot@127.0.0.1",)


def test_every_account_has_a_password_or_is_locked(started: Lab) -> None:
    with Session(started.root) as session:
        rows = session.rows(
            "SELECT User, Host, JSON_VALUE(Priv, '$.authentication_string'), JSON_VALUE(Priv, '$.account_locked') "
            "FROM mysql.global_priv"
        )
    assert {row[:2] for row in rows} == {
        ("root", "localhost"),
        ("poolpilot", "localhost"),
        ("poolpilot", "127.0.0.1"),
        ("poolpilot_load", "localhost"),
        ("mariadb.sys", "localhost"),
    }
    assert all(hashed or locked == "1" for _, _, hashed, locked in rows)


def test_load_may_touch_its_database_alone(started: Lab) -> None:
    with Session(started.root) as session:
        shown = [row[0] for row in session.rows("SHOW GRANTS FOR poolpilot_load@localhost")]
    assert [line.partition(" ON ")[2].split()[0] for line in shown] == ["*.*", "`sbtest`.*"]
    assert shown[0].startswith("GRANT USAGE ")


def test_root_of_the_socket_needs_its_password(started: Lab) -> None:
    with pytest.raises(ServerError, match="denies access to 'root'"):
        Session(replace(started.root, password=""))


def test_server_has_no_privileges(started: Lab) -> None:
    running = started.running()
    assert running is not None
    status = Path(f"/proc/{running.pid}/status").read_text().splitlines()
    uids = next(line.split()[1:] for line in status if line.startswith("Uid:"))
    assert set(uids) == {str(pwd.getpwnam(running.account).pw_uid)}
    assert "0" not in uids


def test_folder_is_closed_and_its_passwords_are_for_its_owner_alone(started: Lab) -> None:
    assert started.folder.stat().st_mode & 0o067 == 0
    files = (started.defaults_file, started.root_file, started.load_file)
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600] * 3
    assert started.folder.stat().st_uid == files[0].stat().st_uid
    passwords = [Dsn(defaults_file=file).account().password for file in files[:2]]
    left = [
        path for path in started.folder.rglob("*.sql") if any(password in path.read_text() for password in passwords)
    ]
    assert left == []


def test_statements_read_and_write_files_of_the_folder_alone(started: Lab) -> None:
    with Session(started.root) as session:
        session.execute("CREATE OR REPLACE TABLE mysql.lines (line TEXT)")
        for outside in (started.folder.parent / "outfile", started.socket.parent / "outfile"):
            with pytest.raises(ServerError, match="secure-file-priv"):
                session.execute(f"SELECT 1 INTO OUTFILE '{outside}'")
            assert not outside.exists()
        with pytest.raises(ServerError, match="secure-file-priv"):
            session.execute("LOAD DATA INFILE '/etc/passwd' INTO TABLE mysql.lines")
        session.execute(f"SELECT 7 INTO OUTFILE '{started.folder}/files/seven'")
        session.execute(f"LOAD DATA INFILE '{started.folder}/files/seven' INTO TABLE mysql.lines")
        assert session.row("SELECT line FROM mysql.lines") == ("7",)
        session.execute("DROP TABLE mysql.lines")
        assert session.row("SELECT @@local_infile, LOAD_FILE('/etc/passwd')") == (0, None)


def test_door_that_an_earlier_version_left_open_is_closed(starter: str) -> None:
    with place_for(starter) as (folder, _):
        lab = Lab(folder / "lab", EMPTY)
        with lab, Session(lab.root) as session:
            for statement in OPEN_DOORS:
                session.execute(statement)
            log_in(port_of(lab, "port"), "root")
        with lab:
            assert_closed(lab)
        lab.remove()


def test_passwords_survive_a_restart_and_not_a_removal(mariadb_installed: None, tmp_path: Path) -> None:  # noqa: ARG001
    lab = Lab(tmp_path / "lab", EMPTY)
    with lab:
        first = (lab.root, Dsn(defaults_file=lab.defaults_file).account().password, lab.load_file.read_text())
    with lab:
        assert first == (lab.root, Dsn(defaults_file=lab.defaults_file).account().password, lab.load_file.read_text())
    lab.remove()
    with lab:
        assert lab.root.password != first[0].password
    assert len({lab.root.password, Dsn(defaults_file=lab.defaults_file).account().password, ""}) == 3


def test_server_of_an_earlier_version_is_not_taken_for_a_closed_one(tmp_path: Path) -> None:
    lab = Lab(tmp_path, EMPTY)
    with subprocess.Popen(["sleep", "600"]) as process, ExitStack() as ending:
        ending.callback(process.kill)
        ticks = int(Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19])
        Running(process.pid, ticks, 1, 2).write(tmp_path / "lab.json")
        with pytest.raises(ServerError, match=r"earlier version .* poolpilot lab down --folder"):
            lab.up()
        assert lab.down()


@pytest.mark.skipif(not IS_ROOT, reason="only root can start a server as root")
def test_data_that_root_owned_are_handed_over(mariadb_installed: None) -> None:  # noqa: ARG001
    with place_for("root") as (folder, _):
        lab = Lab(folder / "lab", EMPTY)
        folder.chmod(0o700)
        with lab, Session(lab.root) as session:
            running = lab.running()
            assert running is not None
            assert running.account == "root"
            session.execute("CREATE DATABASE kept")
        folder.chmod(0o755)
        with lab, Session(lab.root) as session:
            again = lab.running()
            assert again is not None
            assert again.account != "root"
            assert ("kept",) in session.rows("SHOW DATABASES")
            session.execute("CREATE TABLE kept.more (id INT)")
        lab.remove()


@pytest.mark.skipif(not IS_ROOT, reason="only root can start a server as root")
def test_folder_of_another_account_is_said(mariadb_installed: None) -> None:  # noqa: ARG001
    with place_for("root") as (folder, _):
        lab = Lab(folder / "lab", EMPTY)
        (folder / "lab").mkdir()
        with acting_as("nobody"), pytest.raises(ServerError, match="belongs to another account"):
            lab.up()


@pytest.mark.skipif(not IS_ROOT, reason="only root's server may be another account's")
def test_slow_disk_is_under_a_server_of_another_account(mariadb_installed: None) -> None:  # noqa: ARG001
    with place_for("root") as (folder, _), Lab(folder / "lab", EMPTY.model_copy(update={"slow_disk": True})) as lab:
        running = lab.running()
        assert running is not None
        assert running.account != "root"
        assert f"{lab.folder}/slow-disk" in Path(f"/proc/{running.pid}/maps").read_text()


def test_ordinary_client_reads_the_files_without_a_word(started: Lab) -> None:
    for file in (started.defaults_file, started.root_file):
        done = subprocess.run(
            [program("mariadb"), f"--defaults-file={file}", "--batch", "--skip-column-names"],
            input="SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)",
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.strip() == Dsn(defaults_file=file).account().user
