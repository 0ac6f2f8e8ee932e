"""Everything that goes wrong with a real server ends in one sentence, and nothing is set that nobody wanted."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from poolpilot.errors import LostServerError, ServerError, SettingError
from poolpilot.featurizer.window import Window
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.mariadb import session as session_module
from poolpilot.mariadb.login.dsn import Account, Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.session import Session

EMPTY = LabSettings(dataset="empty")


@pytest.fixture
def own_lab(mariadb_installed: None, tmp_path: Path) -> Iterator[Lab]:  # noqa: ARG001
    """A server of the test's own, to be killed."""
    with Lab(tmp_path, EMPTY) as running:
        yield running


def tuner(lab: Lab) -> Account:
    return Dsn(defaults_file=lab.defaults_file).account()


def test_killed_server_is_a_lost_one(own_lab: Lab) -> None:
    running = own_lab.running()
    assert running is not None
    with MariadbServer(tuner(own_lab)) as server:
        os.kill(running.pid, signal.SIGKILL)
        while running.alive:
            time.sleep(0.01)
        with pytest.raises(LostServerError, match="stopped, restarted"):
            server.snapshot()


def test_restart_brings_the_tuple_of_the_file_back_and_is_noticed(own_lab: Lab) -> None:
    with MariadbServer(tuner(own_lab)) as server:
        default = server.tuple_in_force()
        server.apply(default.with_core((32, 5, 20)))
        with Session(own_lab.root) as client:
            for _ in range(1000):
                client.rows("SELECT 1")
        before = server.snapshot()
    own_lab.down()
    own_lab.up()
    with MariadbServer(tuner(own_lab)) as server:
        assert server.tuple_in_force() == default
        after = server.snapshot()
        with pytest.raises(LostServerError, match="restarted"):
            Window.between(replace(before, tuple_epoch=after.tuple_epoch), after)


def test_lost_connection_is_said(lab: Lab) -> None:
    with MariadbServer(tuner(lab)) as server, Session(lab.root) as other:
        (number,) = server.session.row("SELECT CONNECTION_ID()")
        other.execute(f"KILL {number}")
        with pytest.raises(LostServerError, match="is lost"):
            server.snapshot()


@pytest.mark.parametrize("what", ["CONNECTION", "QUERY"])
def test_what_is_killed_at_work_is_lost(lab: Lab, what: str) -> None:
    """Such an answer has its number in the protocol as any other, and was taken for a refused statement."""
    with MariadbServer(tuner(lab)) as server, Session(lab.root) as other:
        (number,) = server.session.row("SELECT CONNECTION_ID()")
        killing = threading.Timer(0.3, lambda: other.execute(f"KILL {what} {number}"))
        killing.start()
        with pytest.raises(LostServerError, match="is lost"):
            server.session.rows(
                f"SELECT COUNT(*) FROM {', '.join(f'information_schema.COLLATIONS c{n}' for n in range(5))}"
            )
        killing.join()


def test_a_limit_on_statements_is_not_for_ours(lab: Lab) -> None:
    with Session(lab.root) as root:
        (before,) = root.row("SELECT @@GLOBAL.max_statement_time")
        root.execute("SET GLOBAL max_statement_time = 0.01")
        try:
            with Session(tuner(lab)) as ours:
                assert ours.row("SELECT @@max_statement_time") == (0,)
        finally:
            root.execute(f"SET GLOBAL max_statement_time = {before}")


def test_denied_access_names_the_account_and_the_file(lab: Lab) -> None:
    with pytest.raises(ServerError, match=r"denies access to 'poolpilot'.*\[client\]"):
        MariadbServer(replace(tuner(lab), password="wrong"))


def test_nobody_at_the_address_is_said(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="cannot reach a server"):
        Session(Account("root", "", socket=tmp_path / "none.sock"))


def test_thread_per_connection_is_refused_with_the_line_to_add(mariadb_installed: None, tmp_path: Path) -> None:  # noqa: ARG001
    lab = Lab(tmp_path, EMPTY, ["--thread-handling=one-thread-per-connection"])
    with lab, pytest.raises(ServerError, match="thread_handling=pool-of-threads under"):
        MariadbServer(lab.root)


def test_server_without_extra_port_is_tuned_with_a_warning(mariadb_installed: None, tmp_path: Path) -> None:  # noqa: ARG001
    with Lab(tmp_path, EMPTY, ["--extra-port=0"]) as lab, MariadbServer(lab.root) as server:
        assert any("extra_port" in warning and "my.cnf" in warning for warning in server.warnings)
        assert server.apply(server.tuple_in_force().with_core((4, 3, 500))).pool_size == 4


def test_exhausted_pool_leaves_the_extra_port(
    mariadb_installed: None,  # noqa: ARG001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small = ["--thread-pool-size=1", "--thread-pool-oversubscribe=1", "--thread-pool-max-threads=4"]
    with Lab(tmp_path, EMPTY, small) as lab:
        account = tuner(lab)
        sleepers = [Session(lab.root) for _ in range(8)]
        threads = [threading.Thread(target=_sleep, args=(sleeper,)) for sleeper in sleepers]
        for thread in threads:
            thread.start()
        with MariadbServer(account) as server:
            while server.snapshot().gauges["active_threads"] + server.population.waiting < 3:
                server.run_for(0.05)
            assert server.session.where.endswith(f":{account.extra_port}")
            monkeypatch.setattr(session_module, "ANSWER_WITHIN_S", 1.0)
            with pytest.raises(LostServerError, match="extra port"):
                Session(replace(account, extra_port=None))
            with pytest.raises(SettingError, match="thread_pool_max_threads is 4"):
                server.apply(server.tuple_in_force().with_core((2, 1, 500)))
            for sleeper in sleepers:
                server.session.execute(f"KILL {sleeper.connection_id}")
        for thread in threads:
            thread.join()


def _sleep(session: Session) -> None:
    with contextlib.suppress(ServerError):
        session.rows("SELECT SLEEP(9)")
    session.close()
