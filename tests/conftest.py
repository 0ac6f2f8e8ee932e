"""What tests of several folders share: the command, its curve, a valid request, what is left open, private MariaDBs."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import structlog
from tests.lab_data import LabData

from poolpilot.env.controller import Controller
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning import backends
from poolpilot.featurizer.catalogue import FEATURES
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.featurizer.window import Window
from poolpilot.lab.host import programs
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.serve.commands.main import TRACEBACK, main

# Tests run beside each other: more threads of torch and of BLAS only spin until others end, in
# this process, whose torch is not loaded yet, and in those that it starts.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

PASSING_S = 3.0
"""So long a socket may be open that a library's thread has opened meanwhile."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts files that ask what is left open first, then those that run a MariaDB.

    Threads that Ray leaves in a process open sockets as long as it lives, which cannot be told from sockets of ours,
    so that nothing may have started a Ray before. A MariaDB takes longest: a worker that began one last would end
    alone.
    """
    asking = {item.path for item in items if "left_open" in getattr(item, "fixturenames", ())}
    live = {item.path for item in items if "mariadb_installed" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: (item.path not in asking, item.path not in live))


@pytest.fixture(scope="session", autouse=True)
def _interrupts_reach_python() -> Iterator[None]:
    """Tests in the background ignore Ctrl-C, those under nohup SIGHUP, and so would what they start; some test both."""
    before = {
        number: signal.signal(number, handler)
        for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL))
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def _defects_show_their_traceback() -> Iterator[None]:
    """Of commands in this process and in those that tests start: many a test asks that there is none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(TRACEBACK, "1")
        yield


def answer_of(controller: Controller, window: Window) -> PoolTuple:
    """What a controller suggests once it has seen a window; the tuple in force where it leaves that alone."""
    controller.observe(window)
    return controller.suggest().pool_tuple or window.pool_tuple


@pytest.fixture(autouse=True)
def _log_goes_where_it_went() -> Iterator[None]:
    """A command that a test runs in this process logs to that test's standard error, which is closed after it."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def base_python() -> Path:
    """Interpreter of an installation without the extra, as on a production host."""
    root = Path(__file__).parent.parent
    path = Path(os.environ.get("POOLPILOT_BASE_PYTHON", root / ".venv/base/bin/python"))
    assert path.exists(), f"there is no base installation at {path}: run `make test`, which prepares it"
    return path


class EndingCurve(CurveServer):
    """Ends with an error after 20 windows of a climb or a search; `last` is the one made last."""

    error: BaseException = KeyboardInterrupt()
    runs = 20 + 4  # rest, twice to settle, and the window before
    last: "EndingCurve"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        EndingCurve.last = self
        self.first = self.tuple_in_force()

    def run_for(self, seconds: float) -> None:
        self.runs -= 1
        if self.runs < 0:
            raise self.error
        super().run_for(seconds)


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> type[EndingCurve]:
    """The curve of a command ends with an error in its middle."""
    monkeypatch.setattr(backends, "CurveServer", EndingCurve)
    return EndingCurve


class Invocation(NamedTuple):
    """What a run of the command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Invocation]:
    """Runs `poolpilot` in this process with the given arguments."""

    def run(*arguments: object) -> Invocation:
        monkeypatch.setattr(sys, "argv", ["poolpilot", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        code = ended.value.code
        return Invocation(code if isinstance(code, int) else 0, out, err)

    return run


@pytest.fixture
def left_open() -> Callable[[], set[str]]:
    """Gives the descriptors and threads of this process that were not there when the test began.

    Counting would not do: threads of libraries that other tests used may end at any time, and try to reach a server
    that is gone. A socket of theirs passes, one of ours that is left stays.
    """
    before = _open_now()

    def left() -> set[str]:
        opened, deadline_s = _open_now() - before, time.monotonic() + PASSING_S
        while any("socket:[" in one for one in opened) and time.monotonic() < deadline_s:
            time.sleep(0.05)
            opened = {one for one in opened if "socket:[" not in one} | (opened & _open_now())
        return {_told(one) for one in opened}

    return left


def _open_now() -> set[str]:
    opened = {f"thread {path.name}" for path in Path("/proc/self/task").iterdir()}
    for path in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the descriptor that lists the folder is gone by now
            opened.add(f"descriptor {path.name}: {path.readlink()}")
    return opened


def _told(left: str) -> str:
    """A descriptor of a socket with the kernel's line of it, or with a word that it has none."""
    if "socket:[" not in left:
        return left
    inode = left.rpartition("[")[2].rstrip("]")
    tables = [Path("/proc/self/net") / name for name in ("tcp", "tcp6", "udp", "udp6", "unix", "netlink")]
    lines = [line for table in tables for line in table.read_text().splitlines() if inode in line.split()]
    threads = sorted({(path / "comm").read_text().strip() for path in Path("/proc/self/task").iterdir()})
    return f"{left} {lines or 'closed meanwhile or never connected'}; threads of this process: {threads}"


@pytest.fixture
def window_values() -> dict[str, Any]:
    """A valid window as the JSON of a request; every feature lies a tenth into its range."""
    return {
        "schema_version": SCHEMA_VERSION,
        "server_kind": "native",
        "pool_tuple": {
            "pool_size": 2,
            "oversubscribe": 3,
            "timer_interval_ms": 500,
            "create_thread_on_wait": True,
            "idle_timeout_s": 60.0,
        },
        "duration_s": 1.5,
        "features": {feature.name: feature.low + 0.1 * (feature.high - feature.low) for feature in FEATURES},
        "classes": {"read": {"throughput_per_s": 120.0, "latency": [[40, 100], [44, 80]]}},
        "in_system": None,
    }


@pytest.fixture
def request_values(window_values: dict[str, Any]) -> dict[str, Any]:
    """A valid body of POST /v1/predict."""
    return {
        "windows": [window_values],
        "limits": KnobSpace.stock(cpus=2).as_dict(),
        "objective": {"targets_ms": {"read": 50.0}},
    }


@pytest.fixture(scope="session")
def mariadb_installed() -> None:
    """Skips what needs MariaDB and sysbench where they are missing; fails instead where they must be there."""
    absent = programs.missing()
    if absent and os.environ.get("POOLPILOT_REQUIRE_MARIADB"):
        pytest.fail(f"MariaDB's tests must run here, but {', '.join(absent)} is missing: run `make test` as root")
    if absent:
        pytest.skip(f"MARIADB IS NOT TESTED: install {' '.join(absent)}")


@pytest.fixture(scope="session", autouse=True)
def lab_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabData]:
    """Servers of this session get copies of data that one of them has installed; `installed_anew` leaves that out."""
    folder = tmp_path_factory.getbasetemp()
    data = LabData((folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "lab-data")
    with data.laid_before_every_start():
        yield data


@pytest.fixture
def installed_anew(lab_data: LabData) -> Iterator[None]:
    """Servers of this test install their data themselves."""
    with lab_data.left_out():
        yield


@pytest.fixture(scope="session")
def lab(mariadb_installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:  # noqa: ARG001
    """A running MariaDB without tables, with extra port, that tests leave as they found it."""
    with Lab(short_folder(tmp_path_factory), LabSettings(dataset="empty")) as running:
        yield running


@pytest.fixture(scope="session")
def loaded_lab(mariadb_installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:  # noqa: ARG001
    """A running MariaDB with the small data set."""
    with Lab(short_folder(tmp_path_factory), LabSettings(dataset="small")) as running:
        yield running


def short_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose path leaves room for a socket's address."""
    return tmp_path_factory.mktemp("lab")
