"""The parent's handle of one process that sends a load, or a part of one."""

import json
import select
import subprocess
import sys
import time
from typing import Any

from poolpilot.errors import LoadError

CHILD = [sys.executable, "-P", "-m", "poolpilot.native_pool.load_process"]


class LoadProcess:
    """A process that takes one command a line and answers each with a line.

    What it is asked goes out at once and its answer is read later, so that several of them work side by side. Not for
    several threads at a time.

    Args:
        name: What its errors call it.

    Raises:
        LoadError: It cannot be started.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._unread = b""
        try:
            # A group of its own: an interrupt typed at the terminal reaches the parent, which then stops the child.
            self._process = subprocess.Popen(
                CHILD, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, process_group=0
            )
        except OSError as error:
            raise LoadError(f"Cannot start {name}: {error.strerror}; check the host's limits.") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._commands, self._replies = self._process.stdin, self._process.stdout

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def replies(self) -> int:
        """Descriptor of its answers, which hangs up when it ends."""
        return self._replies.fileno()

    def ask(self, command: dict[str, Any]) -> None:
        """Sends a command, whose answer `answer` will read.

        Raises:
            LoadError: It has ended.
        """
        try:
            self._commands.write(f"{json.dumps(command)}\n".encode())
        except (BrokenPipeError, ValueError) as error:
            raise LoadError(f"The {self._name} has ended; start a new one.") from error

    def answer(self, deadline_s: float) -> dict[str, Any]:
        """Reads one answer.

        Args:
            deadline_s: Latest time, by the monotonic clock.

        Raises:
            LoadError: There is none in time, or it has ended.
        """
        reply: dict[str, Any] = json.loads(self._read_line(deadline_s))
        return reply

    def _read_line(self, deadline_s: float) -> bytes:
        # Not select(): beside a thousand connections of a server the descriptor may lie above its 1,024.
        readable = select.poll()
        readable.register(self._replies, select.POLLIN)
        while b"\n" not in self._unread:
            if not readable.poll(max(deadline_s - time.monotonic(), 0.0) * 1e3):
                raise LoadError(f"The {self._name} does not answer in time; is the host overloaded?")
            chunk = self._replies.read(65536)
            if not chunk:
                raise LoadError(f"The {self._name} ended unexpectedly, exit status {self._process.wait()}.")
            self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def kill(self) -> None:
        """Ends it by force."""
        self._process.kill()

    def hang_up(self) -> None:
        """Closes its commands, which asks it to stop."""
        self._commands.close()

    def end(self, timeout_s: float) -> None:
        """Hangs up, waits until it has ended, by force if need be, and closes what is left."""
        self.hang_up()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
        self._replies.close()
