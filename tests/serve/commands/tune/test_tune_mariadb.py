"""`poolpilot tune` on a real MariaDB: whatever befalls the tuner or the server, what is verified is in force."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.conftest import short_folder

from poolpilot.env.lab.host.ports import free_or_checked
from poolpilot.env.lab.instance import Lab, LabSettings
from poolpilot.env.lab.sql_workload import SqlClass, SqlWorkload
from poolpilot.env.lab.sysbench_load import SqlLoad
from poolpilot.env.mariadb.counters import read_tuple_values
from poolpilot.env.mariadb.session import Session
from poolpilot.env.mariadb.variables import tuple_of
from poolpilot.env.tuning.journal import FOLDER_VARIABLE
from poolpilot.featurizer.pool_tuple import PoolTuple

POOLPILOT = [sys.executable, "-c", "from poolpilot.serve.commands.main import main; main()"]
SELECTS = SqlClass("point_select", "oltp_point_select", 16, think_ms=50.0)
LOAD = SqlWorkload("selects", "point_select", (SELECTS,), dataset="small", cpus=2)
"""Half idle, so that every size does and a try goes on until somebody ends it."""

FIRST = PoolTuple(4, 4, 400, idle_timeout_s=1.0)
QUICK = (
    *("--window", "0.3", "--settle", "0.05", "--pace.observe-for-s", "0.5", "--pace.baseline-windows", "2"),
    *("--guard.most-drop", "0.9", "--guard.most-latency-rise", "9", "--pace.shift", "3"),
)
ENDLESS = (*QUICK, "--pace.least-pairs", "100", "--pace.most-pairs", "200")
"""A try that does not end by itself."""


@dataclass
class Stage:
    """A server under load with a folder for journals."""

    lab: Lab
    journals: Path

    def set(self, pool_tuple: PoolTuple) -> None:
        size, oversubscribe, stall_limit = pool_tuple.core
        with Session(self.lab.root) as session:
            session.execute(f"SET GLOBAL thread_pool_size = {size}")
            session.execute(f"SET GLOBAL thread_pool_oversubscribe = {oversubscribe}")
            session.execute(f"SET GLOBAL thread_pool_stall_limit = {stall_limit}")

    def in_force(self) -> PoolTuple:
        with Session(self.lab.root) as session:
            return tuple_of(read_tuple_values(session))

    def until(self, pool_tuple: PoolTuple, seconds: float = 30.0) -> None:
        """Waits until a tuple is in force.

        Raises:
            AssertionError: It never is.
        """
        ends_s = time.monotonic() + seconds
        while time.monotonic() < ends_s:
            if self.in_force() == pool_tuple:
                return
            time.sleep(0.02)
        raise AssertionError(f"{pool_tuple} was never in force; {self.in_force()} is")

    @contextmanager
    def tuner(self, *options: str) -> Iterator["subprocess.Popen[str]"]:
        arguments = [*POOLPILOT, "tune", f"F={self.lab.defaults_file}", *options]
        environment = {**os.environ, FOLDER_VARIABLE: str(self.journals)}
        with subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def applying(self, *options: str) -> "AbstractContextManager[subprocess.Popen[str]]":
        return self.tuner("--mode", "apply", "--propose", "8,4,400", *options)


STEP = FIRST.with_core((8, 4, 400))


@pytest.fixture(scope="module")
def server(
    mariadb_installed: None,  # noqa: ARG001
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Lab]:
    settings = LabSettings(dataset="small", port=free_or_checked(None), extra_port=free_or_checked(None))
    with Lab(short_folder(tmp_path_factory), settings) as lab:
        yield lab


@pytest.fixture
def stage(server: Lab, tmp_path: Path) -> Iterator[Stage]:
    server.up()
    with ExitStack() as load:
        load.enter_context(SqlLoad(LOAD, server.load_file, server.dataset))
        with Session(server.root) as session:
            session.execute("SET GLOBAL thread_pool_idle_timeout = 1")
        one = Stage(server, tmp_path / "journals")
        one.set(FIRST)
        yield one


UNTIRING = (
    *QUICK,
    *("--pace.least-pairs", "1", "--pace.most-pairs", "1", "--pace.verify-windows", "1", "--pace.ask-every-s", "0"),
    *("--guard.cool-down-s", "0", "--guard.retry-after-s", "0", "--guard.breaker-roll-backs", "99"),
    *("--guard.tries-per-hour", "99"),
)
"""Chance calls one try in twenty worse; here the next one follows at once."""


def test_step_is_verified_and_stays(stage: Stage) -> None:
    with stage.applying(*UNTIRING, "--seconds", "20") as process:
        said, _ = process.communicate(timeout=90)
    assert process.returncode == 0, said
    assert f"{STEP} is verified" in said
    assert not list(stage.journals.glob("*.jsonl"))


@pytest.mark.parametrize("by", ["keeper", "next start"])
def test_killed_tuner_leaves_what_was_verified(stage: Stage, by: str) -> None:
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP)
        process.send_signal(signal.SIGKILL)
        process.wait()
    if by == "keeper":
        with stage.tuner("--keeper", "--seconds", "6") as keeper:
            said, _ = keeper.communicate(timeout=60)
    else:
        with stage.applying(*QUICK, "--seconds", "1") as process:
            said, _ = process.communicate(timeout=60)
    assert "has ended without its way back" in said
    assert stage.in_force() == FIRST
    assert not list(stage.journals.glob("*.jsonl"))


def test_keeper_leaves_a_living_tuner_alone(stage: Stage) -> None:
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP)
        with stage.tuner("--keeper", "--seconds", "3") as keeper:
            said, _ = keeper.communicate(timeout=60)
        assert "way back" not in said
        stage.until(STEP)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert stage.in_force() == FIRST


def test_person_who_sets_the_pool_is_left_alone(stage: Stage) -> None:
    theirs = FIRST.with_core((13, 4, 400))
    with stage.applying(*ENDLESS, "--seconds", "15") as process:
        stage.until(STEP)
        with Session(stage.lab.root) as session:
            session.execute("SET GLOBAL thread_pool_size = 13")
        said, _ = process.communicate(timeout=60)
    assert f"a person has set {theirs}" in said
    assert "Traceback" not in said
    assert stage.in_force() == theirs


def connections_killed(stage: Stage) -> None:
    with Session(stage.lab.root) as session:
        for (number,) in session.rows("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'poolpilot'"):
            session.execute(f"KILL {number}")


def test_lost_connection_takes_the_try_back_and_goes_on(stage: Stage) -> None:
    with stage.applying(*ENDLESS, "--seconds", "20") as process:
        stage.until(STEP)
        connections_killed(stage)
        said, _ = process.communicate(timeout=90)
    assert "cannot be reached" in said
    assert "Traceback" not in said
    assert stage.in_force() == FIRST


def test_restarted_server_begins_anew(stage: Stage) -> None:
    with stage.applying(*ENDLESS, "--seconds", "30") as process:
        stage.until(STEP)
        stage.lab.down()
        stage.lab.up()
        of_file = stage.in_force()
        said, _ = process.communicate(timeout=120)
    assert "the server was restarted" in said
    assert "Traceback" not in said
    assert stage.in_force() == of_file


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ended_tuner_brings_back_what_was_verified(stage: Stage, number: signal.Signals) -> None:
    with stage.applying(*ENDLESS) as process:
        stage.until(STEP)
        process.send_signal(number)
        said, _ = process.communicate(timeout=60)
    assert f"In force now: {FIRST}." in said
    assert stage.in_force() == FIRST


def test_second_tuner_is_told_of_the_first(stage: Stage) -> None:
    with stage.applying(*ENDLESS) as first:
        stage.until(STEP)
        with stage.applying(*QUICK, "--seconds", "2") as second:
            said, _ = second.communicate(timeout=60)
        assert second.returncode == 1
        assert "another tuner is at work" in said
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=60)
    assert stage.in_force() == FIRST


def test_switchover_takes_a_try_back(stage: Stage) -> None:
    with stage.applying(*ENDLESS, "--seconds", "15") as process:
        stage.until(STEP)
        with Session(stage.lab.root) as session:
            session.execute("SET GLOBAL read_only = 1")
            try:
                said, _ = process.communicate(timeout=60)
            finally:
                session.execute("SET GLOBAL read_only = 0")
    assert "nothing is changed now: read_only has just been switched on" in said
    assert stage.in_force() == FIRST


def test_it_sets_nothing_where_it_advises(stage: Stage) -> None:
    with stage.tuner("--propose", "8,4,400", *QUICK, "--seconds", "5") as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert f"would try {STEP}, but the mode is advise" in said
    assert not list(stage.journals.glob("*.jsonl"))
