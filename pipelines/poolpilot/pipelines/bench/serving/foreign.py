"""Servers of others, each with the load its own project brings: Redis under redis-benchmark, MariaDB under sysbench."""

import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from poolpilot.errors import ServerError
from poolpilot.lab.host.ports import free_or_checked
from poolpilot.lab.host.programs import program
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.mariadb.session import Session

START_WITHIN_S = 10.0
POLL_S = 0.05
ENDLESS = 2_000_000_000
ANYONES = "information_schema"
"""A database that every server has and every account may use."""

DO_NOTHING = """
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("DO 1") end
"""


class Foreign(Protocol):
    """A server of others under its load."""

    @property
    def pid(self) -> int:
        """Its process."""

    @property
    def load(self) -> "subprocess.Popen[bytes]":
        """Who asks it."""

    def completed(self) -> int:
        """Requests it has answered since its start.

        Raises:
            ServerError: Its load has ended.
        """


@dataclass(frozen=True)
class Redis:
    """A Redis.

    Attributes:
        pid: Its process.
        port: Where it listens.
        load: Who asks it.
    """

    pid: int
    port: int
    load: "subprocess.Popen[bytes]"

    def completed(self) -> int:
        """Commands since its start."""
        _check_running(self.load)
        with socket.create_connection(("127.0.0.1", self.port), START_WITHIN_S) as client:
            client.sendall(b"INFO stats\r\n")
            told = client.recv(65_536).decode()
        return int(told.partition("total_commands_processed:")[2].split()[0])


@dataclass(frozen=True)
class Mariadb:
    """A private MariaDB.

    Attributes:
        pid: Its process.
        session: The administrator's connection.
        load: Who asks it.
    """

    pid: int
    session: Session
    load: "subprocess.Popen[bytes]"

    def completed(self) -> int:
        """Statements `DO` since its start; what the session asks is none."""
        _check_running(self.load)
        return int(self.session.row("SHOW GLOBAL STATUS LIKE 'Com_do'")[1])


@contextmanager
def redis(connections: int, server_cpus: Sequence[int], load_cpus: Sequence[int]) -> Iterator[Redis]:
    """A Redis that clients PING.

    Raises:
        ServerError: It is not installed, or does not come up.
    """
    port = free_or_checked(None)
    options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"]
    ping = ["-p", str(port), "-c", str(connections), "-n", str(ENDLESS), "-t", "ping_mbulk", "-q"]
    with ExitStack() as opened:
        folder = opened.enter_context(TemporaryDirectory(prefix="poolpilot-redis-"))
        command = [program("redis-server"), *options, "--dir", folder]
        server = opened.enter_context(_running(command, server_cpus))
        _await_port(port)
        load = opened.enter_context(_running([program("redis-benchmark"), *ping], load_cpus))
        yield Redis(server.pid, port, load)


@contextmanager
def mariadb(connections: int, server_cpus: Sequence[int], load_cpus: Sequence[int], folder: Path) -> Iterator[Mariadb]:
    """A private MariaDB with a pool of threads, which clients send `DO 1`.

    Raises:
        ServerError: A program is missing, or it does not come up.
    """
    options = ("--thread-handling=pool-of-threads", f"--thread-pool-size={len(server_cpus)}")
    lab = Lab(folder / "empty", LabSettings(dataset="empty"), options)
    script = lab.folder / "do_nothing.lua"
    with lab.restarted(server_cpus) as running:
        script.write_text(DO_NOTHING)
        command = [
            program("sysbench"),
            f"--config-file={lab.load_file}",
            f"--threads={connections}",
            *(f"--mysql-db={ANYONES}", "--time=0", "--events=0", str(script), "run"),
        ]
        session = Session(lab.root)
        try:
            with _running(command, load_cpus) as load:
                yield Mariadb(running.pid, session, load)
        finally:
            session.close()


@contextmanager
def _running(command: Sequence[str], cpus: Sequence[int]) -> Iterator["subprocess.Popen[bytes]"]:
    """A program pinned to processors, ended by its id."""
    pinned = ["taskset", "--cpu-list", ",".join(map(str, cpus)), *command]
    process = subprocess.Popen(pinned, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(START_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _check_running(load: "subprocess.Popen[bytes]") -> None:
    status = load.poll()
    if status is not None:
        raise ServerError(f"the load of a server of others, {load.args!r}, has ended with status {status}")


def _await_port(port: int) -> None:
    deadline_s = time.monotonic() + START_WITHIN_S
    while time.monotonic() < deadline_s:
        try:
            socket.create_connection(("127.0.0.1", port), START_WITHIN_S).close()
        except ConnectionRefusedError:
            time.sleep(POLL_S)
        else:
            return
    raise ServerError(f"redis-server does not listen on port {port} after {START_WITHIN_S:g} s")
