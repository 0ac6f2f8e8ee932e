"""What a reason says, by which it is told whether a decision says something new."""

import re

ROUTINE = ("watching:",)
"""Beginnings of reasons that every window repeats with other numbers."""

HINDERED = "nothing is changed now:"
"""Begins a reason that tells what goes on beside the pool, with how long it has, or how far behind a replica is."""

_RUNNING = re.compile(r"[0-9][0-9.]* s\b")


def gist(reason: str) -> str:
    """A reason to be compared with others: without the seconds where they run on though nothing new goes on."""
    return _RUNNING.sub("", reason) if reason.startswith(HINDERED) else reason
