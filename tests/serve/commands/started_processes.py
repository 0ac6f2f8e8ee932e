"""The processes that a command has started, which must end with it."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

PATIENCE_S = 60.0


def descendants(pid: int) -> Iterator[int]:
    """The processes that a process has started, and those that they have."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text(encoding="utf-8").split()):
            yield child
            yield from descendants(child)


def runs(pid: int) -> bool:
    """Whether a process has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def program_of(pid: int) -> str:
    """What a process runs; empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def await_ends(started: Sequence[int]) -> None:
    """Waits until processes have ended.

    Raises:
        AssertionError: Some have not.
    """
    ends_s = time.monotonic() + PATIENCE_S
    while alive := [pid for pid in started if runs(pid)]:
        assert time.monotonic() < ends_s, f"{alive} still run"
        time.sleep(0.1)
