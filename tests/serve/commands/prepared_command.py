"""The user's commands as processes of their own that need not import anything: one that has imported all is forked.

Starting an interpreter and importing takes most of a short command. What is started by this differs in nothing else: it
has its own process id, environment and output, takes signals, and ends as an interpreter does.
"""

import atexit
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from threading import Timer
from types import TracebackType
from typing import Self

MOST_BYTES = 1 << 17
PATIENCE_S = 120.0
NUMBER = struct.Struct("i")
FORKING = f"""
import json, os, signal, socket, struct, sys
from importlib import import_module
from poolpilot.serve.commands.command_line.uses import CATALOGUE
from poolpilot.serve.commands.main import main

for use in CATALOGUE.values():
    import_module("poolpilot.serve.commands." + use.work.partition(":")[0])
asked = socket.socket(fileno=int(sys.argv[1]))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    message, descriptors, _, _ = socket.recv_fds(asked, {MOST_BYTES}, 2)
    if not message:
        os._exit(0)
    output, told = descriptors
    if os.fork() == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        asked.close()
        pid = os.fork()
        if pid == 0:
            break
        os.close(output)
        os.write(told, struct.pack("i", pid))
        os.write(told, struct.pack("i", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))
        os._exit(0)
    os.close(output)
    os.close(told)

arguments, environment = json.loads(message)
os.close(told)
os.dup2(output, 1)
os.dup2(output, 2)
os.close(output)
os.environ.clear()
os.environ.update(environment)
sys.argv[1:] = arguments
main()
"""


@cache
def _forking() -> socket.socket:
    """Leads to the process that forks; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", FORKING, str(theirs.fileno())], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


class PreparedCommand:
    """A running `poolpilot`, of which one reads and which one ends as a `subprocess.Popen`; its errors are output too.

    Args:
        arguments: Those of `poolpilot`.
        environment: Its environment.
    """

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        read, write = os.pipe()
        self._told, telling = os.pipe()
        message = json.dumps([list(arguments), dict(environment)]).encode()
        socket.send_fds(_forking(), [message], [write, telling])
        os.close(write)
        os.close(telling)
        self.stdout = open(read, encoding="utf-8")  # noqa: SIM115, PTH123
        self.pid = self._number()
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Waits until it has ended; its exit code.

        Raises:
            subprocess.TimeoutExpired: It has not.
        """
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("poolpilot", timeout or 0.0)
            self.returncode = self._number()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends it a signal where it runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends it at once."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float = PATIENCE_S) -> tuple[str, None]:
        """What it still says until it has ended, and nothing of its errors.

        Raises:
            subprocess.TimeoutExpired: That took too long; it was killed.
        """
        late: list[bool] = []

        def kill() -> None:
            late.append(True)
            self.kill()

        killing = Timer(timeout, kill)
        killing.start()
        try:
            said = self.stdout.read()
            self.wait()
        finally:
            killing.cancel()
            killing.join()
        if late:
            raise subprocess.TimeoutExpired("poolpilot", timeout, said)
        return said, None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stdout.close()
        self.wait()
        os.close(self._told)

    def _number(self) -> int:
        return int(NUMBER.unpack(os.read(self._told, NUMBER.size))[0])
