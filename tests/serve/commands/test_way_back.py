"""Whatever ends a climb, a sweep or a search, the initial tuple is in force, or the message names what is.

POOLPILOT_WAY_BACK_RUNS sets how often each is tried at a random moment. If it is not set, every fault ends one command,
in turn, and the two that end most commands in practice, Ctrl-C and a kill, end each: the way back of the three is one.
A Ctrl-C comes once something is set then.
"""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import cycle, product
from pathlib import Path

import pytest
from tests.serve.commands.staged_server import PATIENCE_S, Command, StagedServer, selects

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.instance import Lab
from poolpilot.lab.sysbench_load import SqlLoad

RUNS = int(os.environ.get("POOLPILOT_WAY_BACK_RUNS", "0"))
LATEST_S = 6.0 if RUNS > 0 else 3.0
"""After so many seconds of a command its end comes at the latest."""

COMMANDS = {
    "climb": ["--seconds", "60", "--period", "0.25"],
    "climb --sweep": ["--period", "0.2"],
    "climb --search": ["--rounds", "100", "--period", "0.1", "--set", "method=random"],
}
LOAD = selects(think_ms=100.0)
"""Leaves time to the commands, of which several may be tried side by side."""

FIRST = PoolTuple(3, 4, 400, idle_timeout_s=1.0)
"""Not what a restart brings back."""


@dataclass
class Stage(StagedServer):
    """A server on which commands that set something are ended."""

    load: ExitStack = field(default_factory=ExitStack)

    def begin(self) -> None:
        """The load runs and the initial tuple is in force."""
        self.lab.up()
        self.load.close()
        self.load.enter_context(SqlLoad(LOAD, self.lab.load_file, self.lab.dataset))
        self.set(FIRST)
        assert not list(self.journals.glob("*.jsonl"))

    def run(self, command: str, *options: str) -> str:
        with self.running(command, "--execute", *options) as process:
            return process.communicate(timeout=PATIENCE_S)[0]

    def until_connected(self, process: Command) -> None:
        """Waits until the command has connected."""
        while not self.connections() and process.poll() is None:
            time.sleep(0.02)

    def until_set(self, process: Command) -> None:
        """Waits until the command has set something."""
        while self.in_force() == FIRST and process.poll() is None:
            time.sleep(0.02)


@pytest.fixture
def stage(restartable_lab: Lab, tmp_path: Path) -> Iterator[Stage]:
    with ExitStack() as load:
        yield Stage(restartable_lab, tmp_path / "journals", load)


def interrupted(number: int) -> Callable[[Stage, Command], None]:
    return lambda _stage, process: process.send_signal(number)


def connection_killed(stage: Stage, _process: Command) -> None:
    stage.kill_connections()


def server_paused(stage: Stage, _process: Command) -> None:
    running = stage.lab.running()
    assert running is not None
    os.kill(running.pid, signal.SIGSTOP)
    time.sleep(13.0)
    os.kill(running.pid, signal.SIGCONT)


def server_restarted(stage: Stage, _process: Command) -> None:
    stage.lab.down()
    stage.lab.up()


FAULTS = {
    "INT": interrupted(signal.SIGINT),
    "TERM": interrupted(signal.SIGTERM),
    "HUP": interrupted(signal.SIGHUP),
    "connection killed": connection_killed,
    "server paused": server_paused,
    "server restarted": server_restarted,
    "kill -9": interrupted(signal.SIGKILL),
}

OF_EACH = ("INT", "kill -9")
AT_RANDOM = ("kill -9",)
"""Of these what comes at a random moment where the number of runs is not set."""


def cases() -> list[tuple[str, str, int]]:
    """Command, fault and number of each trial."""
    if RUNS > 0:
        return list(product(COMMANDS, FAULTS, range(RUNS)))
    in_turn = zip(cycle(COMMANDS), (fault for fault in FAULTS if fault not in OF_EACH), strict=False)
    return [(command, fault, 0) for command, fault in (*product(COMMANDS, AT_RANDOM), *in_turn)]


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_restores_the_tuple_found_at_the_start(stage: Stage, command: str) -> None:
    stage.begin()
    with stage.running(command, "--execute", *COMMANDS[command]) as process:
        stage.until_set(process)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=PATIENCE_S)[0]
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert stage.in_force() == FIRST
    assert not list(stage.journals.glob("*.jsonl"))


@pytest.mark.parametrize(("command", "fault", "number"), cases())
def test_first_tuple_is_in_force_or_the_message_names_what_is(
    stage: Stage, command: str, fault: str, number: int
) -> None:
    moment_s = random.Random(f"{command} {fault} {number}").uniform(0.0, LATEST_S)
    stage.begin()
    with stage.running(command, "--execute", *COMMANDS[command]) as process:
        stage.until_connected(process)
        time.sleep(moment_s)
        FAULTS[fault](stage, process)
        said = process.communicate(timeout=PATIENCE_S)[0]
    assert "Traceback" not in said
    if fault == "kill -9":
        said += stage.run(command, *COMMANDS[command][:1], "1") if command == "climb" else stage.run("restore")
    in_force = stage.in_force()
    assert in_force == FIRST or f"In force now: {in_force}" in said, f"{in_force} after {moment_s:.2f} s: {said}"
    assert not list(stage.journals.glob("*.jsonl"))
