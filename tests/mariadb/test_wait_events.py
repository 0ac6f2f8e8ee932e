"""Wait events are read where performance_schema is on and the account may, and missing everywhere else."""

from collections.abc import Iterator

import pytest
from tests.conftest import short_folder

from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.server.watch_settings import LONG_WATCH
from poolpilot.mariadb.session import Session
from poolpilot.mariadb.wait_events import WAIT_EVENTS_TABLE, sees_wait_events


@pytest.fixture(scope="module")
def instrumented(mariadb_installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:  # noqa: ARG001
    """A running MariaDB whose performance_schema is on."""
    settings = LabSettings(dataset="empty")
    with Lab(short_folder(tmp_path_factory), settings, extra_options=["--performance-schema=ON"]) as running:
        yield running


def test_the_account_needs_a_grant_and_then_sees_the_waits_for_files(instrumented: Lab) -> None:
    account = Dsn(defaults_file=instrumented.defaults_file).account()
    with Session(instrumented.root) as root:
        with MariadbServer(account, watch=LONG_WATCH) as opened:
            assert not sees_wait_events(opened.session)
            assert "events_file" not in opened.snapshot().counters
        root.execute(f"GRANT SELECT ON {WAIT_EVENTS_TABLE} TO '{account.user}'@'127.0.0.1'")
        with MariadbServer(account, watch=LONG_WATCH) as opened:
            before = opened.snapshot()
            root.execute("CREATE DATABASE made")
            root.execute("CREATE TABLE made.written (id INT) ENGINE=InnoDB")
            root.execute("INSERT INTO made.written VALUES (1)")
            after = opened.snapshot()
            root.execute("DROP DATABASE made")
        with MariadbServer(account) as plain:
            assert "events_file" not in plain.snapshot().counters
    assert after.counters["events_file"] > before.counters["events_file"]
    assert after.counters["events_file_us"] > before.counters["events_file_us"]
    assert "events_synch" not in after.counters  # its instruments are off by default
