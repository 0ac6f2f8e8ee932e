"""Whole cycles of a load that repeats itself: a window of a part of one shows its phase, not what a tuple is worth."""

import math

ROUNDING = 1e-9
"""Part of a cycle by which a time may be over it and still count as that cycle."""


def whole_cycles_s(seconds: float, cycle_s: float) -> float:
    """Seconds of the fewest whole cycles that last so long, at least one."""
    return cycle_s * max(math.ceil(seconds / cycle_s - ROUNDING), 1)
