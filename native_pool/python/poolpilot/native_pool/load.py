"""A running load on a server: one process or several, which send the parts of one workload."""

import os
import select
import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from poolpilot.errors import LoadError
from poolpilot.native_pool.load_handle import LoadProcess
from poolpilot.native_pool.load_report import LoadReport
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.load_warning import warning_of
from poolpilot.native_pool.workload import Workload

CONNECTIONS_A_PROCESS = 4096
"""So many connections, where nobody says how many processes: a wait of the loop then hands over few at a time."""


class Load:
    """A running load; also a context manager that stops it. What it does stands in native_pool/load/generator.hpp.

    All its processes connect before any of them sends. When one of them fails the others are ended too.

    Args:
        address: "tcp:127.x.x.x:PORT" or "unix:/path"; load never leaves this host.
        workload: What to send.
        cpus: Processors the processes are pinned to; None leaves them free.
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
        self._final: LoadReport | None = None
        pinned = None if cpus is None else sorted(cpus)
        parts = number_of_processes(self._settings.processes, workload.connections, pinned)
        self._processes = started(parts)
        self._pids = tuple(one.pid for one in self._processes)
        config = {
            "address": address,
            "workload": workload.as_dict(),
            "cpus": pinned,
            "settings": self._settings.of_child(),
            "parts": parts,
        }
        try:
            self._exchange([{**config, "part": part} for part in range(parts)], self._settings.start_timeout_s)
            self._tell({"command": "begin"})
        except LoadError:
            self._end()
            raise

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the generators."""
        return self._pids

    def report(self) -> LoadReport:
        """Everything counted so far by all processes; after a stop, the final report.

        Raises:
            LoadError: If a process has died or does not answer.
        """
        if self._final is not None:
            return self._final
        return self._merged(self._tell({"command": "report"}))

    def set_rate(self, rate_per_s: float) -> None:
        """Changes the arrival rate of an open loop.

        Raises:
            LoadError: If the loop is closed, the rate out of range or a process dead.
        """
        self._tell({"command": "rate", "rate_per_s": rate_per_s})

    def run_for(self, seconds: float) -> None:
        """Sleeps while the load runs.

        Raises:
            LoadError: As soon as a process dies.
        """
        hung_up = select.poll()
        for one in self._processes:
            hung_up.register(one.replies, 0)  # hanging up is always told
        hung_up.poll(seconds * 1e3)
        self.report()

    def stop(self) -> LoadReport:
        """Stops sending, waits for the last responses, ends the processes and returns the final report.

        Raises:
            LoadError: If a process has died before or does not answer.
        """
        if self._final is None:
            patience_s = self._settings.drain_timeout_s + self._settings.reply_timeout_s
            try:
                self._final = self._merged(self._tell({"command": "stop"}, patience_s))
            finally:
                self._end()
        return self._final

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._processes:
            self.stop()

    def _tell(self, command: dict[str, Any], timeout_s: float | None = None) -> list[dict[str, Any]]:
        """The same command for all."""
        patience_s = self._settings.reply_timeout_s if timeout_s is None else timeout_s
        return self._exchange([command] * len(self._processes), patience_s)

    def _exchange(self, commands: list[dict[str, Any]], timeout_s: float) -> list[dict[str, Any]]:
        """Sends each process its line and returns their answers; any failure but a refusal ends them all."""
        with self._lock:
            if not self._processes:
                raise LoadError("The load has ended; start a new one.")
            deadline_s = time.monotonic() + timeout_s
            try:
                for one, command in zip(self._processes, commands, strict=True):
                    one.ask(command)
                answers = [one.answer(deadline_s) for one in self._processes]
            except BaseException:
                self._kill()
                raise
        for answer in answers:
            if "error" in answer:
                raise LoadError(answer["error"])
        return answers

    def _merged(self, answers: list[dict[str, Any]]) -> LoadReport:
        """The report of the whole load."""
        whole = LoadReport.merged([LoadReport.from_dict(answer["report"]) for answer in answers])
        return replace(whole, warning=warning_of(whole, self._settings))

    def _kill(self) -> None:
        for one in self._processes:
            one.kill()
        self._end()

    def _end(self) -> None:
        """Ends the processes side by side, if need be by force, and closes their pipes."""
        ended, self._processes = self._processes, []
        for one in ended:
            one.hang_up()
        for one in ended:
            one.end(self._settings.reply_timeout_s)


def started(parts: int) -> list[LoadProcess]:
    """Processes that wait for their configuration; none is left when one cannot be started."""
    with ExitStack() as on_failure:
        processes = []
        for part in range(parts):
            one = LoadProcess("load process" if parts == 1 else f"load process {part + 1} of {parts}")
            on_failure.callback(one.end, 0.0)
            processes.append(one)
        on_failure.pop_all()
    return processes


def number_of_processes(wanted: int | None, connections: int, cpus: list[int] | None) -> int:
    """As many as asked for, else one for some thousand connections, but no more than there are processors for them.

    Raises:
        LoadError: There are more processes than connections.
    """
    if wanted is None:
        processors = len(os.sched_getaffinity(0) if cpus is None else cpus)
        return max(min(-(-connections // CONNECTIONS_A_PROCESS), processors), 1)
    if wanted > max(connections, 1):
        raise LoadError(f"processes is {wanted}, but must be in 1..{connections}, the number of connections.")
    return wanted
