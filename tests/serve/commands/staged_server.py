"""A server under load that is set and looked at while the user's commands run on it, each a process of its own."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.serve.commands.prepared_command import PreparedCommand

from poolpilot.errors import ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.instance import Lab
from poolpilot.lab.sql_workload import SqlClass, SqlWorkload
from poolpilot.mariadb.counters import read_tuple_values
from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE
from poolpilot.mariadb.session import Session
from poolpilot.mariadb.variables import tuple_of

POOLPILOT = [sys.executable, "-c", "from poolpilot.serve.commands.main import main; main()"]
PATIENCE_S = 120.0

Command = PreparedCommand | subprocess.Popen[str]


def with_own_interpreter(arguments: Sequence[str], environment: Mapping[str, str]) -> "subprocess.Popen[str]":
    """A command as a user starts it."""
    return subprocess.Popen(
        [*POOLPILOT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )


@dataclass
class StagedServer:
    """The server, the folder of the journals that commands on it write, and how those are started."""

    lab: Lab
    journals: Path
    start: Callable[[Sequence[str], Mapping[str, str]], Command] = field(default=PreparedCommand, kw_only=True)

    def set(self, pool_tuple: PoolTuple) -> None:
        size, oversubscribe, stall_limit = pool_tuple.core
        with Session(self.lab.root) as session:
            session.execute(f"SET GLOBAL thread_pool_size = {size}")
            session.execute(f"SET GLOBAL thread_pool_oversubscribe = {oversubscribe}")
            session.execute(f"SET GLOBAL thread_pool_stall_limit = {stall_limit}")

    def in_force(self) -> PoolTuple:
        with Session(self.lab.root) as session:
            return tuple_of(read_tuple_values(session))

    def connections(self) -> list[int]:
        """Numbers of the connections that commands have open."""
        with Session(self.lab.root) as session:
            rows = session.rows("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'poolpilot'")
            return [int(number) for (number,) in rows]

    def kill_connections(self) -> None:
        with Session(self.lab.root) as session:
            for number in self.connections():
                with suppress(ServerError):  # it has ended meanwhile
                    session.execute(f"KILL {number}")

    @contextmanager
    def running(self, command: str, *options: str) -> Iterator[Command]:
        """A command on the server, which ends with the block at the latest."""
        arguments = [*command.split(), f"F={self.lab.defaults_file}", *options]
        environment = {**os.environ, FOLDER_VARIABLE: str(self.journals)}
        with self.start(arguments, environment) as process:
            try:
                yield process
            finally:
                process.kill()


def said_until(process: Command, sentence: str) -> str:
    """Waits until a command has printed a sentence; all that it has said up to then.

    Raises:
        AssertionError: It has ended before, or was silent about it for too long.
    """
    assert process.stdout is not None
    said = ""
    with _ended_in_time(process):
        for line in process.stdout:
            said += line
            if sentence in said:
                return said
    raise AssertionError(f"{sentence!r} was never said: {said}")


def ended(process: Command, number: signal.Signals = signal.SIGTERM) -> str:
    """Ends a command by a signal; what it has still said, which is no traceback."""
    assert process.stdout is not None
    process.send_signal(number)
    with _ended_in_time(process):
        said = process.stdout.read()
        process.wait()
    assert "Traceback" not in said
    return said


@contextmanager
def _ended_in_time(process: Command) -> Iterator[None]:
    """Ends a command that has not done within a minute or two what the block waits for."""
    timer = threading.Timer(PATIENCE_S, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def selects(think_ms: float) -> SqlWorkload:
    """Reads of 16 connections, each of which rests in between."""
    reads = SqlClass("point_select", "oltp_point_select", 16, think_ms=think_ms)
    return SqlWorkload("selects", "point_select", (reads,), dataset="small", cpus=2)
