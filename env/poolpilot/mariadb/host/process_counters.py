"""What this host counts of a server's process, beside what the server counts itself."""

import os

from poolpilot.env.measurement.steal import idle_us_so_far
from poolpilot.mariadb.host.cpu_quota import UsableCpus
from poolpilot.mariadb.host.process import ServerProcess
from poolpilot.mariadb.host.quota_periods import Throttling, ThrottlingOf, most_throttled
from poolpilot.mariadb.host.thread_schedule import ThreadSchedule


class ProcessCounters:
    """Counters of one process, whose sums never fall.

    Args:
        process: The process.
        most_threads: With more threads their schedule is not read; see `ThreadSchedule`.
        named_cpus: Processors of the server that somebody has named.

    Attributes:
        usable: The processors that it may use, as last read; None when it is gone.
    """

    def __init__(self, process: ServerProcess, most_threads: int, named_cpus: int | None = None) -> None:
        self.process = process
        self._named_cpus = named_cpus
        self.usable: UsableCpus | None = process.cpus()
        self._schedule = ThreadSchedule(process.pid, most_threads)
        self._seen: ThrottlingOf = {} if self.usable is None else self.usable.quota.throttling
        self._throttled = Throttling()

    def read(self) -> dict[str, float]:
        """What it has counted so far, by counter of a snapshot; reads anew what it may use."""
        self.usable = self.process.cpus()
        counters = self._throttling()
        if (cpu_us := self.process.cpu_us()) is not None:
            counters["process_cpu_us"] = cpu_us
        if (idle_us := idle_us_so_far()) is not None and self._has_machine:
            counters["machine_idle_us"] = idle_us
        if (scheduled := self._schedule.read()) is not None:
            counters["threads_run_delay_us"], counters["threads_scheduled"] = scheduled
        return counters

    def close(self) -> None:
        """Closes the files of the threads; a second call does nothing."""
        self._schedule.close()

    @property
    def _has_machine(self) -> bool:
        """Whether all processors are the server's: the idle time of others is none that it could use."""
        if self.usable is None:
            return False
        return {self.usable.cpus, self._named_cpus or self.usable.cpus} == {os.cpu_count()}

    def _throttling(self) -> dict[str, float]:
        if self.usable is None or not self.usable.quota.throttling:
            return {}
        now = self.usable.quota.throttling
        self._throttled = self._throttled.and_then(most_throttled(self._seen, now) or Throttling())
        self._seen = now
        periods, throttled, throttled_us = self._throttled
        return {"quota_periods": periods, "quota_periods_throttled": throttled, "quota_throttled_us": throttled_us}
