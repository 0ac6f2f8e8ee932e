"""`poolpilot tune` on a real MariaDB: whatever befalls the tuner or the server, the incumbent is in force."""

import signal
import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.serve.commands.staged_server import PATIENCE_S, Command, StagedServer, ended, said_until, selects

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.instance import Lab
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.mariadb.session import Session
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog

LOAD = selects(think_ms=50.0)
"""Half idle, so that every size does and a trial goes on until somebody ends it."""

FIRST = PoolTuple(4, 4, 400, idle_timeout_s=1.0)
QUICK = (
    *("--window", "0.3", "--set=settle=0.05", "--set=pace.observe_for_s=0.5", "--set=pace.baseline_windows=2"),
    *("--set=guard.most_drop=0.9999", "--set=guard.most_latency_rise=1e6", "--set=pace.shift=3"),
    *("--set=guard.min_gain=0", "--set=pace.least_requests=0", "--set=pace.wanted_error=1"),
)
"""A quiet server is tuned all the same, and no trial ends for what it does: of a window of a third of a second a busy
machine may take nearly all."""

ENDLESS = (*QUICK, "--set=pace.least_pairs=100", "--set=pace.most_pairs=200", "--set=pace.verify_windows=1000")
"""A trial that does not end by itself, and is not verified where chance calls it clearly better."""


class Stage(StagedServer):
    """A server on which tuners run."""

    def until(self, pool_tuple: PoolTuple, process: Command) -> None:
        """Waits until a tuple is in force.

        Raises:
            AssertionError: It has not come to be before the tuner ended, or within a minute or two.
        """
        ends_s = time.monotonic() + PATIENCE_S
        while self.in_force() != pool_tuple:
            late = time.monotonic() > ends_s
            if late or process.poll() is not None:
                raise AssertionError(f"{pool_tuple} was never in force; {self.in_force()} is: {ended(process)}")
            time.sleep(0.02)

    def tuner(self, *options: str) -> AbstractContextManager[Command]:
        return self.running("tune", *options)

    def applying(self, *options: str) -> AbstractContextManager[Command]:
        return self.tuner("--mode", "apply", "--propose", "8,4,400", *options)


STEP = FIRST.with_core((8, 4, 400))


@pytest.fixture
def stage(restartable_lab: Lab, tmp_path: Path) -> Iterator[Stage]:
    restartable_lab.up()
    with SqlLoad(LOAD, restartable_lab.load_file, restartable_lab.dataset):
        with Session(restartable_lab.root) as session:
            session.execute("SET GLOBAL thread_pool_idle_timeout = 1")
        one = Stage(restartable_lab, tmp_path / "journals")
        one.set(FIRST)
        yield one


UNTIRING = (
    *QUICK,
    *("--set=pace.least_pairs=1", "--set=pace.most_pairs=1", "--set=pace.verify_windows=1", "--set=pace.ask_every_s=0"),
    *("--set=guard.cool_down_s=0", "--set=guard.retry_after_s=0", "--set=guard.breaker_roll_backs=99"),
    "--set=guard.trials_per_hour=99",
)
"""Chance calls one trial in twenty worse; here the next one follows at once."""


def test_step_is_verified_and_stays(stage: Stage) -> None:
    with stage.applying(*UNTIRING) as process:
        said_until(process, f"{STEP} is verified")
        assert f"In force now: {STEP}." in ended(process)
    assert stage.in_force() == STEP
    assert not list(stage.journals.glob("*.jsonl"))


@pytest.mark.fault
@pytest.mark.parametrize("by", ["keeper", "next start"])
def test_killed_tuner_leaves_what_was_verified(stage: Stage, by: str) -> None:
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    if by == "keeper":
        with stage.tuner("--keeper") as keeper:
            said_until(keeper, "has ended without a restore")
    else:
        with stage.applying(*QUICK, "--seconds", "1") as process:
            said, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, said
        assert "has ended without a restore" in said
    assert stage.in_force() == FIRST
    assert not list(stage.journals.glob("*.jsonl"))


@pytest.mark.fault
@pytest.mark.parametrize("lacks", ["model", "port", "folder of outcomes"])
def test_start_that_cannot_go_on_brings_back_what_was_verified(stage: Stage, lacks: str, tmp_path: Path) -> None:
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with socket.create_server(("127.0.0.1", 0)) as taken, OutcomeLog(tmp_path / "outcomes", 2**20):
        (tmp_path / "curves.json").write_text("no curves")
        options = {
            "model": ("--model", str(tmp_path)),
            "port": ("--propose", "8,4,400", "--page", str(taken.getsockname()[1])),
            "folder of outcomes": ("--propose", "8,4,400", "--outcomes", str(tmp_path / "outcomes")),
        }
        with stage.tuner("--mode", "apply", *QUICK, *options[lacks]) as process:
            said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, said
    assert "has ended without a restore" in said
    assert stage.in_force() == FIRST
    assert not list(stage.journals.glob("*.jsonl"))


@pytest.mark.fault
def test_tuple_whose_try_has_ended_the_tuner_is_not_tried_again_at_once(stage: Stage) -> None:
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with stage.applying(*QUICK) as process:
        said_until(process, f"{STEP}, the step towards {STEP}, was rolled back not long ago")
        ended(process)
    assert stage.in_force() == FIRST


def test_keeper_leaves_a_living_tuner_alone(stage: Stage) -> None:
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP, process)
        with stage.tuner("--keeper", "--seconds", "3") as keeper:
            said, _ = keeper.communicate(timeout=PATIENCE_S)
        assert "without a restore" not in said
        stage.until(STEP, process)
        ended(process)
    assert stage.in_force() == FIRST


@pytest.mark.fault
def test_person_who_sets_the_pool_is_left_alone(stage: Stage) -> None:
    theirs = FIRST.with_core((13, 4, 400))
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP, process)
        with Session(stage.lab.root) as session:
            session.execute("SET GLOBAL thread_pool_size = 13")
        said_until(process, f"a person has set {theirs}")
        assert stage.in_force() == theirs
        said = ended(process)
    assert f"In force now: {theirs}." in said
    assert "set by a person" in said
    assert stage.in_force() == theirs


@pytest.mark.fault
def test_lost_connection_takes_the_try_back_and_goes_on(stage: Stage) -> None:
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP, process)
        stage.kill_connections()
        said_until(process, "cannot be reached")
        stage.until(FIRST, process)
        assert process.poll() is None
        assert f"In force now: {FIRST}." in ended(process)
    assert stage.in_force() == FIRST


@pytest.mark.fault
def test_restarted_server_begins_anew(stage: Stage) -> None:
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP, process)
        stage.lab.down()
        stage.lab.up()
        of_file = stage.in_force()
        said_until(process, "the server was restarted")
        assert f"In force now: {of_file}." in ended(process)
    assert stage.in_force() == of_file


@pytest.mark.fault
def test_restarted_server_is_held_to_its_limits_of_now(stage: Stage) -> None:
    stage.lab.extra_options = ("--thread-pool-max-threads=32",)
    try:
        with stage.tuner("--mode", "apply", "--propose", "4,60,400", *UNTIRING) as process:
            said_until(process, "watching")
            stage.lab.down()
            stage.lab.up()
            said_until(process, "the server was restarted")
            with SqlLoad(LOAD, stage.lab.load_file, stage.lab.dataset):
                said_until(process, "no step from (2, 3, 500) towards (4, 60, 400) is within what is allowed")
            ended(process)
    finally:
        stage.lab.extra_options = ()
        stage.lab.down()


@pytest.mark.fault
def test_limit_of_threads_that_is_lowered_meanwhile_ends_a_try_beyond_it(stage: Stage) -> None:
    with stage.applying(*ENDLESS) as process, Session(stage.lab.root) as session:
        stage.until(STEP, process)
        (limit,) = session.row("SELECT @@GLOBAL.thread_pool_max_threads")
        session.execute("SET GLOBAL thread_pool_max_threads = 50")
        try:
            said_until(
                process, f"{STEP} may ask for 40 threads, and no more than 34 are allowed by now: back to {FIRST}"
            )
            stage.until(FIRST, process)
            ended(process)
        finally:
            session.execute(f"SET GLOBAL thread_pool_max_threads = {limit}")
    assert stage.in_force() == FIRST


@pytest.mark.fault
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ended_tuner_brings_back_what_was_verified(stage: Stage, number: signal.Signals) -> None:
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP, process)
        assert f"In force now: {FIRST}." in ended(process, number)
    assert stage.in_force() == FIRST


def test_what_was_found_comes_back_where_that_is_asked_for(stage: Stage) -> None:
    with stage.applying("--at-end", "initial", *UNTIRING) as process:
        said_until(process, f"{STEP} is verified")
        assert f"In force now: {FIRST}." in ended(process)
    assert stage.in_force() == FIRST
    assert not list(stage.journals.glob("*.jsonl"))


def test_what_was_found_comes_back_from_the_middle_of_a_try_too(stage: Stage) -> None:
    with stage.applying("--at-end", "initial", *ENDLESS) as process:
        stage.until(STEP, process)
        assert f"In force now: {FIRST}." in ended(process)
    assert stage.in_force() == FIRST


def test_what_a_person_has_set_stays_whatever_is_to_come_back(stage: Stage) -> None:
    theirs = FIRST.with_core((13, 4, 400))
    with stage.applying("--at-end", "initial", *ENDLESS) as process:
        stage.until(STEP, process)
        with Session(stage.lab.root) as session:
            session.execute("SET GLOBAL thread_pool_size = 13")
        said_until(process, f"a person has set {theirs}")
        assert f"In force now: {theirs}." in ended(process)
    assert stage.in_force() == theirs


@pytest.mark.fault
def test_second_tuner_is_told_of_the_first(stage: Stage) -> None:
    with stage.applying(*ENDLESS) as first:
        stage.until(STEP, first)
        with stage.applying(*QUICK, "--seconds", "2") as second:
            said, _ = second.communicate(timeout=PATIENCE_S)
        assert second.returncode == 1
        assert "another tuner is at work" in said
        assert f"In force now: {FIRST}." in ended(first)
    assert stage.in_force() == FIRST


@pytest.mark.fault
def test_switchover_takes_a_try_back(stage: Stage) -> None:
    with stage.applying(*ENDLESS) as process, Session(stage.lab.root) as session:
        stage.until(STEP, process)
        session.execute("SET GLOBAL read_only = 1")
        try:
            said_until(process, "nothing is changed now: read_only has just been switched on")
            stage.until(FIRST, process)
            ended(process)
        finally:
            session.execute("SET GLOBAL read_only = 0")
    assert stage.in_force() == FIRST


def test_it_sets_nothing_where_it_advises(stage: Stage) -> None:
    with stage.tuner("--propose", "8,4,400", *QUICK) as process:
        said_until(process, f"would try {STEP}, but the mode is advise")
        ended(process)
    assert stage.in_force() == FIRST
    assert not list(stage.journals.glob("*.jsonl"))


@pytest.mark.fault
@pytest.mark.parametrize("mode", ["advise", "observe"])
def test_tuner_that_sets_nothing_outlives_a_person_a_lost_connection_and_a_restart(stage: Stage, mode: str) -> None:
    theirs, later = FIRST.with_core((8, 4, 400)), FIRST.with_core((8, 5, 400))
    with stage.tuner("--mode", mode, "--propose", "16,4,400", *QUICK) as process:
        said_until(process, "watching")
        stage.set(theirs)
        said_until(process, f"somebody has set {theirs}")
        stage.kill_connections()
        said_until(process, "cannot be reached")
        stage.set(later)
        said_until(process, f"somebody has set {later}")
        stage.lab.down()
        stage.lab.up()
        of_file = stage.in_force()
        said_until(process, f"the server was restarted: {of_file} is in force")
        assert process.poll() is None
        ended(process)
    assert stage.in_force() == of_file
    assert not list(stage.journals.glob("*.jsonl"))
