"""Numbers as a row of little bars, for the screens of the commands."""

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"

ASCII_LEVELS = "_.-=+*#@"
"""For terminals without Unicode."""


def sparkline(values: Sequence[float], levels: str = BLOCKS) -> str:
    """One character for every value, the lowest of `levels` for the smallest and the highest for the greatest.

    Args:
        values: Finite numbers, oldest first; equal ones all get the lowest level.
        levels: The characters, lowest first.
    """
    if not values:
        return ""
    low, span = min(values), max(values) - min(values)
    top = len(levels) - 1
    return "".join(levels[round((value - low) / span * top) if span > 0.0 else 0] for value in values)
