"""How often a process has used up the CPU quota of its control groups, and what that means."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

USED_UP = 0.1
"""Share of the periods in which a server was throttled from which on its quota, and not its pool, holds it back."""

RAISE_QUOTA = "raise it (docker --cpus, limits.cpu in Kubernetes, CPUQuota= of systemd); more threads use it up sooner"


class Throttling(NamedTuple):
    """Counts of a control group (`cpu.stat`) since it was made, or of what has come between two readings.

    Attributes:
        periods: Periods of the quota, as a rule of 100 ms each, in which something was to run.
        throttled: Those in which the quota was used up before the end, so that all threads had to stop.
        throttled_us: For how long, in microseconds, each processor's share counted by itself.
    """

    periods: float = 0.0
    throttled: float = 0.0
    throttled_us: float = 0.0

    @property
    def share(self) -> float:
        """Throttled periods over all; 0 where there was none."""
        return self.throttled / self.periods if self.periods > 0.0 else 0.0

    def after(self, before: "Throttling") -> "Throttling":
        """What has come since an earlier reading of the same group."""
        return Throttling(*(late - early for late, early in zip(self, before, strict=True)))

    def and_then(self, further: "Throttling") -> "Throttling":
        """With what has come since."""
        return Throttling(*(one + two for one, two in zip(self, further, strict=True)))


ThrottlingOf = Mapping[Path, Throttling]
"""What the groups of a process have counted, by their folders."""


def most_throttled(before: ThrottlingOf, after: ThrottlingOf) -> Throttling | None:
    """What has come between two readings in the group that was throttled most: limits of several groups hold at once.

    Args:
        before: The earlier reading.
        after: The later one; a group that is not in both tells nothing, nor does one that was made anew in between.
    """
    rises = [later.after(before[group]) for group, later in after.items() if group in before]
    counted = [rise for rise in rises if min(rise) >= 0.0]
    return max(counted, key=lambda rise: (rise.share, rise.throttled, rise.periods), default=None)


def used_up_in_words(cpus: float | None, share: float) -> str | None:
    """That a CPU quota is used up, and what helps, as a sentence that stays the same meanwhile; None where it is not.

    Args:
        cpus: Processors that the server may use; None where they are not known.
        share: Throttled periods over all.
    """
    if share < USED_UP:
        return None
    return f"the CPU quota{'' if cpus is None else f' of {cpus_in_words(cpus)}'} is used up: {RAISE_QUOTA}"


def cpus_in_words(cpus: float) -> str:
    """A number of processors, which may be a fraction."""
    if cpus == 1:
        return "1 processor"
    return f"{cpus:.3g} processors" if cpus < 1000.0 else f"{cpus:.0f} processors"
