"""How the threads of a process get onto the processors: their run-queue delay, and how often they were put on one.

Linux counts both for each thread alone (/proc/PID/task/TID/schedstat) and forgets those that end. So the sums are kept
here, from one reading to the next; what a thread did between the last reading and its end is lost.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from poolpilot.env.mariadb.cpu_quota import PROC

LONGEST_LINE = 64


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
    file: int
    line: bytes
    run_delay_ns: int
    times: int


class ThreadSchedule:
    """The schedule of a process, with a file of each of its threads kept open.

    Args:
        pid: The process.
        most_threads: With more it is not read, since every one costs two microseconds and an open file.
        proc: Where /proc is.
    """

    def __init__(self, pid: int, most_threads: int, proc: Path = PROC) -> None:
        self._most_threads = most_threads
        self._folder = str(proc / str(pid) / "task")
        self._threads: dict[str, _Thread] = {}
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
        for number in alive:
            self._read_thread(number)
        self._has_begun = True
        is_counted = any(thread.times for thread in self._threads.values())
        return Scheduled(self._run_delay_ns / 1000.0, float(self._times)) if is_counted else None

    def close(self) -> None:
        """Closes the files; a later reading starts where it is then. A second call does nothing."""
        self._drop(list(self._threads))
        self._has_begun = False

    def _read_thread(self, number: str) -> None:
        """Adds what a thread has done since the last reading; all of it if it is new since then."""
        thread = self._threads.get(number)
        try:
            if thread is None:
                file = os.open(f"{self._folder}/{number}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
                thread = self._threads[number] = _Thread(file, b"", 0, 0)
                is_counted = self._has_begun
            else:
                is_counted = True
            if (line := os.pread(thread.file, LONGEST_LINE, 0)) == thread.line:
                return
            _, delay, times = map(int, line.split())
        except (OSError, ValueError):  # it has ended
            self._drop([number])
            return
        if is_counted:
            self._run_delay_ns += delay - thread.run_delay_ns
            self._times += times - thread.times
        thread.line, thread.run_delay_ns, thread.times = line, delay, times

    def _drop(self, numbers: Iterable[str]) -> None:
        for number in numbers:
            if (thread := self._threads.pop(number, None)) is not None:
                os.close(thread.file)
