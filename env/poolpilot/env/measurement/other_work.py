"""Other work: the share of the processors that programs of others use, measured before anything is measured."""

import time
from pathlib import Path

from poolpilot.env.measurement.steal import IDLE_FIELDS, STAT, ticks_so_far

BUSY = 0.15
"""Share from which on what is measured is of the other work too."""

LOOK_S = 1.0


def busy_share(seconds: float = LOOK_S, stat: Path = STAT) -> float | None:
    """Share of all processors' time that is used while this program sleeps, 0..1; None where nobody can tell.

    Args:
        seconds: How long to measure.
        stat: File to read, in the format of /proc/stat.
    """
    before = ticks_so_far(stat)
    time.sleep(seconds)
    after = ticks_so_far(stat)
    if before is None or after is None:
        return None
    passed = [late - early for early, late in zip(before, after, strict=True)]
    idle = sum(passed[place] for place in IDLE_FIELDS)
    return 1.0 - idle / sum(passed) if sum(passed) > 0 else 0.0


def other_work(seconds: float = LOOK_S, stat: Path = STAT) -> list[str]:
    """What to say before measuring on a machine that is not quiet, as sentences; nothing where it is.

    Args:
        seconds: How long to measure.
        stat: File to read, in the format of /proc/stat.
    """
    share = busy_share(seconds, stat)
    if share is None or share < BUSY:
        return []
    return [
        f"other programs use {share:.0%} of the processors, and what is measured live meanwhile is of them too: end "
        "them, or wait (their nice values do not help where kernel.sched_autogroup_enabled is 1: they count within one "
        "login only)"
    ]
