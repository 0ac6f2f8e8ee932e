"""`poolpilot tune --lease event` on a real server: a tuner that is killed, with no keeper to see it."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.serve.commands.staged_server import PATIENCE_S
from tests.serve.commands.tune.test_tune_mariadb import ENDLESS, FIRST, LOAD, STEP, Stage

from poolpilot.lab.instance import Lab
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.mariadb.session import Session

LEASED = ("--mode", "apply", "--propose", "8,4,400", "--lease", "event", "--set", "lease_s=5", *ENDLESS)


@pytest.fixture
def stage(restartable_lab: Lab, tmp_path: Path) -> Iterator[Stage]:
    one = Stage(restartable_lab, tmp_path / "journals")
    with Session(restartable_lab.root) as session:
        session.execute("CREATE DATABASE IF NOT EXISTS poolpilot")
        session.execute("GRANT EVENT ON poolpilot.* TO poolpilot@'127.0.0.1'")
        session.execute("SET GLOBAL event_scheduler = ON")
    one.set(FIRST)
    with SqlLoad(LOAD, restartable_lab.load_file, restartable_lab.dataset):
        yield one


def events(stage: Stage) -> int:
    with Session(stage.lab.root) as session:
        return int(session.row("SELECT COUNT(*) FROM information_schema.EVENTS")[0])


def until_given_back(stage: Stage) -> None:
    """Waits until the database has brought the incumbent back and has dropped the event."""
    ends_s = time.monotonic() + PATIENCE_S
    while (stage.in_force(), events(stage)) != (FIRST, 0):
        assert time.monotonic() < ends_s, f"{stage.in_force()} is in force, and there are {events(stage)} events"
        time.sleep(0.05)


@pytest.mark.fault
def test_killed_tuner_without_a_keeper_leaves_what_was_verified(stage: Stage) -> None:
    with stage.running("tune", *LEASED) as process:
        stage.until(STEP, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        until_given_back(stage)
    assert list(stage.journals.glob("*.jsonl"))  # this host knows nothing of it yet


@pytest.mark.fault
def test_stopped_tuner_loses_its_lease_and_goes_on_once_it_wakes(stage: Stage) -> None:
    with stage.running("tune", *LEASED) as process:
        stage.until(STEP, process)
        process.send_signal(signal.SIGSTOP)
        try:
            until_given_back(stage)
        finally:
            process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in said
    assert (stage.in_force(), events(stage)) == (FIRST, 0)


def test_orderly_end_leaves_no_event(stage: Stage) -> None:
    with stage.running("tune", *LEASED, "--set", "lease_s=60") as process:  # no busy machine is silent for so long
        stage.until(STEP, process)
        assert events(stage) == 1
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=PATIENCE_S)
    assert "the database restores the incumbent within 60 s" in said
    assert (stage.in_force(), events(stage)) == (FIRST, 0)


def test_scheduler_that_is_off_ends_it_before_it_sets_anything(stage: Stage) -> None:
    with Session(stage.lab.root) as session:
        session.execute("SET GLOBAL event_scheduler = OFF")
    with stage.running("tune", *LEASED, "--seconds", "5") as process:
        said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert "SET GLOBAL event_scheduler = ON" in said
    assert "Traceback" not in said
    assert stage.in_force() == FIRST
