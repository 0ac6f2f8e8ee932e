"""What a reason says, by which it is told whether a decision says something new."""

import re

_RUNNING = re.compile(r"[0-9][0-9.]* s\b")


def gist(reason: str, *, hindered: bool) -> str:
    """A reason to be compared with others.

    Args:
        reason: The reason.
        hindered: Whether something goes on beside the pool: seconds then run on though nothing new goes on, and are
            left out.
    """
    return _RUNNING.sub("", reason) if hindered else reason
