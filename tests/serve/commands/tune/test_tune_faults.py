"""What befalls a tuner on a real MariaDB: what was verified is in force, nothing is lost, nobody sees a traceback.

With those of `test_tune_mariadb.py` and `test_lease.py` these are the faults that `make faults` plants twenty times.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.mariadb.diagnosis.conftest import Clients, until
from tests.serve.commands.prepared_command import PreparedCommand
from tests.serve.commands.staged_server import PATIENCE_S, Command, ended, said_until, with_own_interpreter
from tests.serve.commands.tune.test_tune_mariadb import ENDLESS, FIRST, LOAD, QUICK, STEP, UNTIRING, Stage
from tests.serve.raw_server import Raw, http_answer
from tests.tls_identity import make_identity

from poolpilot.errors import ServerError
from poolpilot.lab.host.ports import free_or_checked
from poolpilot.lab.instance import Lab
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.mariadb.counters import read_population
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.session import Session
from poolpilot.serve.tuner.decision_log import NAME, read_log

pytestmark = pytest.mark.fault

ASKING = (*QUICK, "--set", "pace.ask_every_s=0")
DAY_S = 86_400.0
MOST_THREADS, SURPLUS = 60, 20
"""Threads of a pool that sleepers fill: what a tuple may ask for, and some to spare; and how many sleepers are left."""


@pytest.fixture
def load(restartable_lab: Lab) -> Iterator[SqlLoad]:
    restartable_lab.up()
    with SqlLoad(LOAD, restartable_lab.load_file, restartable_lab.dataset) as running:
        yield running


@pytest.fixture
def stage(restartable_lab: Lab, load: SqlLoad, tmp_path: Path) -> Stage:  # noqa: ARG001
    with Session(restartable_lab.root) as session:
        session.execute("SET GLOBAL thread_pool_idle_timeout = 1")
    one = Stage(restartable_lab, tmp_path / "journals")
    one.set(FIRST)
    return one


def reasons(log: Path) -> list[str]:
    """Why the predictor's answers were what they were, in the order of a log."""
    proposals = [line.observation.proposal for line in read_log(log / NAME)]
    return [each.reason for each in proposals if each is not None]


def until_reason(log: Path, process: Command, wanted: str, *, holds: bool = True) -> None:
    """Waits until the latest answer of the predictor has a reason with these words, or without them."""
    ends_s = time.monotonic() + PATIENCE_S
    while True:
        assert process.poll() is None, process.communicate()[0]
        found = reasons(log) if (log / NAME).is_file() and (log / NAME).stat().st_size else []
        if found and (wanted in found[-1]) == holds:
            return
        assert time.monotonic() < ends_s, found
        time.sleep(0.1)


def test_a_keeper_that_is_killed_is_followed_by_another(stage: Stage) -> None:
    with stage.applying(*ENDLESS) as process, stage.tuner("--keeper") as keeper:
        stage.until(STEP, process)
        for each in (keeper, process):
            each.send_signal(signal.SIGKILL)
            each.wait()
    with stage.tuner("--keeper") as keeper:
        said_until(keeper, "has ended without a restore")
    assert stage.in_force() == FIRST
    assert not list(stage.journals.glob("*.jsonl"))


def test_a_database_that_is_killed_comes_back_with_its_file(stage: Stage) -> None:
    running = stage.lab.running()
    assert running is not None
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP, process)
        os.kill(running.pid, signal.SIGKILL)
        until(lambda: is_up_again(stage.lab, running.pid))
        of_file = stage.in_force()
        said_until(process, "the server was restarted")
        assert f"In force now: {of_file}." in ended(process)
    assert stage.in_force() == of_file


def is_up_again(lab: Lab, killed: int) -> bool:
    """Whether a server that was killed runs again; until it is gone it passes for running, and its ports are in use."""
    with suppress(ServerError):
        return lab.up().pid != killed
    return False


def test_a_load_that_is_killed_in_a_try_takes_it_back(stage: Stage, load: SqlLoad) -> None:
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP, process)
        for sender in load.senders:
            sender.process.kill()
        stage.until(FIRST, process)
        ended(process)
    assert stage.in_force() == FIRST


@pytest.fixture
def broken(request: pytest.FixtureRequest, raw: Raw, tmp_path: Path) -> tuple[str, ...]:
    """Options of a tuner that asks a service which is broken in some way."""
    if request.param == "down":
        return ("--remote", f"http://127.0.0.1:{free_or_checked(None)}")
    if request.param == "expired certificate":
        identity = make_identity(tmp_path, "service", days=-1)
        serving, predictor = request.getfixturevalue("serving"), request.getfixturevalue("predictor")
        service = serving(predictor, tls_certificate=identity.certificate, tls_key=identity.key)
        return ("--remote", service.url, "--set", f"remote_authority={identity.certificate}")
    if request.param == "wrong digest":
        serving, predictor = request.getfixturevalue("serving"), request.getfixturevalue("predictor")
        return ("--remote", serving(predictor).url, "--set", f"remote_digest={'cd' * 32}")
    if request.param == "slow":
        url = raw(http_answer(b"{}"), 60.0).url
        return ("--remote", url, "--set", "remote_deadline_s=0.5")
    return ("--remote", raw(b"\x00\xff" * 100).url)


@pytest.mark.parametrize(
    "broken", ["slow", "down", "garbage", "wrong digest", "expired certificate"], indirect=True, ids=str
)
def test_a_service_that_is_broken_changes_nothing(stage: Stage, broken: tuple[str, ...], tmp_path: Path) -> None:
    log = tmp_path / "log"
    with stage.tuner("--mode", "apply", *broken, *ASKING, "--log", str(log)) as process:
        until_reason(log, process, "the predictor fails")
        assert stage.in_force() == FIRST
        assert f"In force now: {FIRST}." in ended(process)
    assert stage.in_force() == FIRST


def test_a_service_that_is_killed_is_asked_again_once_it_is_back(stage: Stage, tmp_path: Path) -> None:
    log, port = tmp_path / "log", free_or_checked(None)
    remote = ("--remote", f"http://127.0.0.1:{port}", "--set", "remote_deadline_s=30")
    with stage.tuner("--mode", "advise", *remote, *ASKING, "--log", str(log)) as process:
        for _ in range(2):
            with PreparedCommand(["serve", "--port", str(port)], os.environ) as service:
                until_reason(log, process, "the predictor fails", holds=False)
                service.kill()
            until_reason(log, process, "the predictor fails")
        ended(process)
    assert stage.in_force() == FIRST


def test_a_full_disk_under_the_log_costs_lines_alone(stage: Stage, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir()
    (log / NAME).symlink_to("/dev/full")
    with stage.applying(*UNTIRING, "--log", str(log)) as process:
        said_until(process, f"{STEP} is verified")
        ended(process)
    assert stage.in_force() == STEP


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def fill(folder: Path) -> None:
    """Leaves no space on a disk."""
    with suppress(OSError):
        while True:
            with (folder / "filler").open("ab") as filler:
                filler.write(bytes(4096))


def test_a_full_disk_under_the_journal_ends_it_where_it_began(stage: Stage, small_disk: Path, tmp_path: Path) -> None:
    stage.journals = small_disk
    # It is verified in the end, and that a further step is must be noted first.
    with stage.applying(*UNTIRING, "--set", "pace.verify_windows=10", "--log", str(tmp_path / "log")) as process:
        stage.until(STEP, process)
        fill(small_disk)
        said = said_until(process, "nothing more is set")
        process.wait()
    assert "Traceback" not in said
    assert process.returncode == 1
    (small_disk / "filler").unlink()
    assert stage.in_force() == FIRST


def test_a_clock_that_jumps_changes_no_decision(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wall clock of the tuner goes a day ahead and a day back, each for a second."""
    jump = f"import time\nreal = time.time\ntime.time = lambda: real() + {DAY_S} * (int(real()) % 3 - 1)\n"
    (tmp_path / "sitecustomize.py").write_text(jump)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    stage.start, log = with_own_interpreter, tmp_path / "log"
    with stage.applying(*UNTIRING, "--log", str(log)) as process:
        said_until(process, f"{STEP} is verified")
        ended(process)
    assert stage.in_force() == STEP
    walls = [line.observation.unix_s for line in read_log(log / NAME)]
    assert max(walls) - min(walls) > DAY_S
    at_s = [line.observation.at_s for line in read_log(log / NAME)]
    assert at_s == sorted(at_s)


def test_a_pool_so_full_that_logins_hang_takes_a_try_back(stage: Stage) -> None:
    with Clients(stage.lab) as clients:
        sleepers = [clients.session() for _ in range(MOST_THREADS + SURPLUS)]
        account = Dsn(defaults_file=stage.lab.defaults_file).account()
        with stage.applying(*ENDLESS) as process, MariadbServer(account) as seen:
            until(lambda: seen.tuple_in_force() == STEP)
            clients.seen_by.execute(f"SET GLOBAL thread_pool_max_threads = {MOST_THREADS}")
            try:
                for each in sleepers:
                    clients.send(each, "SELECT SLEEP(300)")
                until(lambda: read_population(seen.session).threads >= MOST_THREADS)
                until(lambda: seen.tuple_in_force() == FIRST)
                assert f"In force now: {FIRST}." in ended(process)
            finally:
                clients.seen_by.execute("SET GLOBAL thread_pool_max_threads = 65536")
    assert stage.in_force() == FIRST
