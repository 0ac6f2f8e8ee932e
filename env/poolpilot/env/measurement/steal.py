"""CPU steal: the share of processor time that a hypervisor gave to others."""

from pathlib import Path

STAT = Path("/proc/stat")
"""The kernel's counters; the first line sums all processors in ticks."""

STEAL_FIELD = 7
"""Position of steal among user, nice, system, idle, iowait, irq, softirq, steal."""


class StealMeter:
    """Measures the steal between two readings.

    Args:
        stat: File to read, in the format of /proc/stat.
    """

    def __init__(self, stat: Path = STAT) -> None:
        self._stat = stat
        self._before = self._read()

    def share(self) -> float | None:
        """Share of all processors' time stolen since construction, 0..1; 0 if no tick passed, None if unknown."""
        after = self._read()
        if self._before is None or after is None:
            return None
        steal, total = (late - early for early, late in zip(self._before, after, strict=True))
        return steal / total if total > 0 else 0.0

    def _read(self) -> tuple[int, int] | None:
        try:
            with self._stat.open() as lines:
                ticks = [int(field) for field in lines.readline().split()[1 : STEAL_FIELD + 2]]
            return ticks[STEAL_FIELD], sum(ticks)
        except (OSError, IndexError):
            return None
