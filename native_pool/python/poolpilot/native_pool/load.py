"""The parent's handle of the load generator, which runs in a process of its own."""

import json
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

from poolpilot.native_pool.load_report import LoadReport
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.workload import Workload

CHILD = [sys.executable, "-P", "-m", "poolpilot.native_pool.load_process"]


class LoadError(RuntimeError):
    """The load cannot be started, changed or measured; the text is one sentence fit to print."""


def started() -> subprocess.Popen[bytes]:
    """A load process that waits for its configuration."""
    try:
        # A group of its own: an interrupt typed at the terminal reaches the parent, which then stops the child.
        return subprocess.Popen(CHILD, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, process_group=0)
    except OSError as error:
        raise LoadError(f"Cannot start the load process: {error.strerror}; check the host's limits.") from error


class LoadProcess:
    """A running load generator; also a context manager that stops it.

    Args:
        address: "tcp:127.x.x.x:PORT" or "unix:/path"; load never leaves this host.
        workload: What to send.
        cpus: Processors the process is pinned to; None leaves it free.
        settings: How to put the load on.

    Raises:
        LoadError: If it cannot start, connect, or the workload is out of range.
    """

    def __init__(
        self,
        address: str,
        workload: Workload,
        *,
        cpus: Iterable[int] | None = None,
        settings: LoadSettings | None = None,
    ) -> None:
        self._settings = settings or LoadSettings()
        self._lock = threading.Lock()
        self._unread = b""
        self._final: LoadReport | None = None
        self._process = started()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._commands, self._replies = self._process.stdin, self._process.stdout
        config = {
            "address": address,
            "workload": workload.as_dict(),
            "cpus": None if cpus is None else sorted(cpus),
            "settings": self._settings.of_child(),
        }
        try:
            self._exchange(config, self._settings.start_timeout_s)
        except LoadError:
            self._end()
            raise

    @property
    def pid(self) -> int:
        """Process id of the load generator."""
        return self._process.pid

    def report(self) -> LoadReport:
        """Everything counted so far; after a stop, the final report.

        Raises:
            LoadError: If the process has died or does not answer.
        """
        if self._final is not None:
            return self._final
        reply = self._exchange({"command": "report"}, self._settings.reply_timeout_s)
        return LoadReport.from_dict(reply["report"])

    def set_rate(self, rate_per_s: float) -> None:
        """Changes the arrival rate of an open loop.

        Raises:
            LoadError: If the loop is closed, the rate out of range or the process dead.
        """
        self._exchange({"command": "rate", "rate_per_s": rate_per_s}, self._settings.reply_timeout_s)

    def stop(self) -> LoadReport:
        """Stops sending, waits for the last responses, ends the process and returns the final report.

        Raises:
            LoadError: If the process has died before or does not answer.
        """
        if self._final is None:
            patience_s = self._settings.drain_timeout_s + self._settings.reply_timeout_s
            try:
                reply = self._exchange({"command": "stop"}, patience_s)
                self._final = LoadReport.from_dict(reply["report"])
            finally:
                self._end()
        return self._final

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._commands.closed:
            self.stop()

    def _exchange(self, command: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Sends one line and returns the reply; any failure but a refusal ends the process."""
        with self._lock:
            try:
                reply = self._ask(command, timeout_s)
            except BaseException:
                self._process.kill()
                self._end()
                raise
        if "error" in reply:
            raise LoadError(reply["error"])
        return reply

    def _ask(self, command: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        try:
            self._commands.write(f"{json.dumps(command)}\n".encode())
        except (BrokenPipeError, ValueError) as error:
            raise LoadError("The load process has ended; start a new one.") from error
        reply: dict[str, Any] = json.loads(self._read_line(time.monotonic() + timeout_s))
        return reply

    def _read_line(self, deadline_s: float) -> bytes:
        # Not select(): beside a thousand connections of a server the descriptor may lie above its 1,024.
        readable = select.poll()
        readable.register(self._replies, select.POLLIN)
        while b"\n" not in self._unread:
            if not readable.poll(max(deadline_s - time.monotonic(), 0.0) * 1e3):
                raise LoadError("The load process does not answer in time; is the host overloaded?")
            chunk = self._replies.read(65536)
            if not chunk:
                raise LoadError(f"The load process ended unexpectedly, exit status {self._process.wait()}.")
            self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _end(self) -> None:
        """Ends the process, if need be by force, and closes its pipes."""
        self._commands.close()
        try:
            self._process.wait(self._settings.reply_timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._replies.close()
