"""A server that was restarted is met anew: its process, its limits, and nothing of what the one before could take."""

import time
from collections.abc import Iterator

import pytest
from tests.conftest import short_folder

from poolpilot.env.tuning.identity import ROUNDING_S
from poolpilot.errors import LostServerError, SettingError
from poolpilot.lab.host.ports import free_or_checked
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.session import Session

FEW_THREADS = ("--thread-pool-max-threads=60",)
LARGE = (32, 3, 10)


@pytest.fixture
def restartable(
    mariadb_installed: None,  # noqa: ARG001
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Lab]:
    """One without tables that keeps its ports when it is started anew."""
    settings = LabSettings(dataset="empty", port=free_or_checked(None), extra_port=free_or_checked(None))
    with Lab(short_folder(tmp_path_factory), settings) as lab:
        yield lab


def opened(lab: Lab) -> MariadbServer:
    return MariadbServer(Dsn(defaults_file=lab.defaults_file).account())


def restart(lab: Lab, *options: str) -> None:
    time.sleep(2.0 * ROUNDING_S)  # two servers that start within the same second look alike
    lab.down()
    lab.extra_options = options
    lab.up()


def test_restarted_server_is_looked_at_and_held_to_its_limits_of_now(restartable: Lab) -> None:
    with opened(restartable) as server:
        assert server.process is not None
        before, first = server.process.pid, server.tuple_in_force()
        large = server.apply(first.with_core(LARGE))
        restart(restartable, *FEW_THREADS)
        with pytest.raises(LostServerError):
            server.tuple_in_force()
        server.reopen()
        running = restartable.running()
        assert running is not None
        assert server.process.pid == running.pid != before
        assert "process_cpu_us" in server.snapshot().counters
        assert "threads_scheduled" in server.snapshot().counters
        assert server.knobs.knobs["pool_size"].high < LARGE[0]
        with pytest.raises(SettingError, match="thread_pool_max_threads is 60"):
            server.apply(large)
        assert server.apply(first) == first


def test_lost_connection_leaves_what_was_found_as_it_is(restartable: Lab) -> None:
    with opened(restartable) as server:
        knobs, identity = server.knobs, server.identity
        with Session(restartable.root) as human:
            human.execute(f"KILL {server.session.connection_id}")
        with pytest.raises(LostServerError):
            server.tuple_in_force()
        server.reopen()
        assert server.knobs is knobs
        assert not server.identity.restarted_since(identity)
        assert "process_cpu_us" in server.snapshot().counters
