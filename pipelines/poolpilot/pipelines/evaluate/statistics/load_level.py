"""How much a server has been asked for under a workload: light, half or full, by what a window of the default shows."""

from collections.abc import Sequence
from typing import Literal

from poolpilot.featurizer.window import Window

LoadLevel = Literal["light", "half", "full"]

LEVELS: tuple[LoadLevel, ...] = ("light", "half", "full")

HALF, FULL = 0.35, 0.65
"""Utilisation of the processors from which on a load is half, and full."""

WAITING_PER_CPU = 1.0
"""Requests that wait for the pool, queued or not yet read, for each processor: from so many on the pool is full."""

ALL_INSIDE = 0.95
"""Requests asked and not answered for each connection from which on nobody pauses."""


def load_level(windows: Sequence[Window]) -> LoadLevel | None:
    """The level of windows of one workload under one tuple; None where no window shows how busy the processors are.

    A load is full where requests wait for the pool or all connections for an answer, idle as the processors may be.
    """
    if not windows:
        return None
    pooled = Window.pooled(windows)
    features = pooled.profile.features
    busy, cpus, connections = features.get("utilisation"), features.get("cpus") or 1.0, features.get("connections")
    if busy is None:
        return None
    inside = features.get("in_system") or 0.0
    asked = max(inside, _asked(pooled))
    waiting = (features.get("queue_length_mean") or 0.0) + asked - inside
    nobody_pauses = connections is not None and asked >= ALL_INSIDE * connections
    if busy >= FULL or waiting >= WAITING_PER_CPU * cpus or nobody_pauses:
        return "full"
    return "half" if busy >= HALF else "light"


def _asked(window: Window) -> float:
    """Requests that clients wait for, by Little's law: a busy group reads late, and counts what it has read alone."""
    return sum(one.throughput_per_s * one.latency.mean / 1e6 for one in window.classes.values())
