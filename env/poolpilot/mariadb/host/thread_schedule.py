"""How the threads of a process get onto the processors: their run-queue delay, and how often they were put on one.

Linux counts both for each thread alone (/proc/PID/task/TID/schedstat) and forgets those that end. So the sums are kept
here, from one reading to the next; what a thread did between the last reading and its end is lost.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from poolpilot.mariadb.host.control_group import PROC

LONGEST_LINE = 64
KEPT_OPEN = 256
"""Files that are kept open, which reads them three times as fast; far fewer than a process may open."""


class Scheduled(NamedTuple):
    """Sums over all threads since the first reading.

    Attributes:
        run_delay_us: Time that they could have run and had to wait for a processor, in microseconds.
        times: How often one was put on a processor.
    """

    run_delay_us: float
    times: float


@dataclass(slots=True)
class _Thread:
    line: bytes = b""
    run_delay_ns: int = 0
    times: int = 0


class ThreadSchedule:
    """The schedule of a process.

    Args:
        pid: The process.
        most_threads: With more it is not read, since every one costs 2 us, or 6 us where there are many.
        proc: Where /proc is.
    """

    def __init__(self, pid: int, most_threads: int, proc: Path = PROC) -> None:
        self._most_threads = most_threads
        self._folder = str(proc / str(pid) / "task")
        self._threads: dict[str, _Thread] = {}
        self._files: dict[str, int] = {}
        self._run_delay_ns = 0
        self._times = 0
        self._has_begun = False

    def read(self) -> Scheduled | None:
        """The sums of now; None where the process is gone, has too many threads, or the kernel does not count."""
        try:
            alive = os.listdir(self._folder)  # noqa: PTH208  # three times as fast
        except OSError:
            alive = []
        if not 0 < len(alive) <= self._most_threads:
            self.close()
            return None
        self._drop(self._threads.keys() - set(alive))
        try:
            for number in alive:
                self._read_thread(number)
        except OSError:  # it may not be read, or no file can be opened
            self.close()
            return None
        self._has_begun = True
        is_counted = any(thread.times for thread in self._threads.values())
        return Scheduled(self._run_delay_ns / 1000.0, float(self._times)) if is_counted else None

    def close(self) -> None:
        """Closes the files; a later reading starts where it is then. A second call does nothing."""
        self._drop(list(self._threads))
        self._has_begun = False

    def _read_thread(self, number: str) -> None:
        """Adds what a thread has done since the last reading; all of it if it is new since then."""
        known = self._threads.get(number)
        thread = known or self._threads.setdefault(number, _Thread())
        try:
            if (line := self._line(number)) == thread.line:
                return
            _, delay, times = map(int, line.split())
        except (ProcessLookupError, FileNotFoundError, ValueError):  # it has ended
            self._drop([number])
            return
        if known is not None or self._has_begun:
            self._run_delay_ns += delay - thread.run_delay_ns
            self._times += times - thread.times
        thread.line, thread.run_delay_ns, thread.times = line, delay, times

    def _line(self, number: str) -> bytes:
        if (kept := self._files.get(number)) is not None:
            return os.pread(kept, LONGEST_LINE, 0)
        file = os.open(f"{self._folder}/{number}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        if len(self._files) < KEPT_OPEN:
            self._files[number] = file
            return os.pread(file, LONGEST_LINE, 0)
        try:
            return os.pread(file, LONGEST_LINE, 0)
        finally:
            os.close(file)

    def _drop(self, numbers: Iterable[str]) -> None:
        for number in numbers:
            self._threads.pop(number, None)
            if (file := self._files.pop(number, None)) is not None:
                os.close(file)
