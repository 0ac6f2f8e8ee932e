"""Processor time that nobody used, and steal: the share of it that a hypervisor gave to others."""

import os
from pathlib import Path

STAT = Path("/proc/stat")
"""The kernel's counters; the first line sums all processors in ticks."""

IDLE_FIELDS, STEAL_FIELD = (3, 4), 7
"""Positions of idle, iowait and steal among user, nice, system, idle, iowait, irq, softirq, steal."""


def ticks_so_far(stat: Path = STAT) -> list[int] | None:
    """Ticks of all processors by use, up to steal; None where the kernel does not tell."""
    try:
        with stat.open() as lines:
            ticks = [int(field) for field in lines.readline().split()[1 : STEAL_FIELD + 2]]
    except (OSError, ValueError):
        return None
    return ticks if len(ticks) > STEAL_FIELD else None


def idle_us_so_far(stat: Path = STAT) -> float | None:
    """Time that all processors of this machine have idled so far, in microseconds; None where nobody can tell."""
    ticks = ticks_so_far(stat)
    return None if ticks is None else sum(ticks[place] for place in IDLE_FIELDS) * 1e6 / os.sysconf("SC_CLK_TCK")


class StealMeter:
    """Measures the steal between two readings.

    Args:
        stat: File to read, in the format of /proc/stat.
    """

    def __init__(self, stat: Path = STAT) -> None:
        self._stat = stat
        self._before = ticks_so_far(stat)

    def share(self) -> float | None:
        """Share of all processors' time stolen since construction, 0..1; 0 if no tick passed, None if unknown."""
        after = ticks_so_far(self._stat)
        if self._before is None or after is None:
            return None
        passed = [late - early for early, late in zip(self._before, after, strict=True)]
        return passed[STEAL_FIELD] / sum(passed) if sum(passed) > 0 else 0.0
