"""Swept workloads that no choice can be judged on: their reference does not repeat, or nothing does."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from poolpilot.env.measurement.sweep import Core, WorkloadSweep
from poolpilot.errors import StoreError

LARGEST_GAP = 0.1
"""In ln J; a gap must also be beyond two standard errors."""

LARGEST_NOISE = 0.25
"""In ln J, of one window: beyond it a choice and its opposite look alike."""


def censored_sweeps(sweeps: Sequence[WorkloadSweep]) -> dict[str, str]:
    """Workloads that are left out, with the reason; what methods choose has no say in it."""
    return {sweep.workload_id: reason for sweep in sweeps if (reason := reason_to_censor(sweep)) is not None}


def reason_to_censor(sweep: WorkloadSweep) -> str | None:
    """Why a workload is left out; None where it is not.

    Raises:
        StoreError: Its reference was not measured again.
    """
    if (reason := unsteady(sweep.noise)) is not None:
        return reason
    reference = sweep.oracle_tuple.core
    again = Level(reference_value(sweep), len(sweep.again_values))
    before = Level(sweep.oracle_value, len(sweep.entries[reference].values))
    rivals = (
        (core, Level(float(np.mean(entry.values[1:])), len(entry.values) - 1))
        for core, entry in sweep.entries.items()
        if core != reference and len(entry.values) > 1 and entry.feasible
    )
    return unrepeated(sweep.noise, before, again, rivals)


class Level(NamedTuple):
    """A mean of J, and of how many windows it is."""

    mean: float
    windows: int


def unsteady(noise: float) -> str | None:
    """Why nothing can be told of windows with such a standard deviation of J; None where something can."""
    return f"windows of one configuration differ by {noise:.0%}" if noise > LARGEST_NOISE else None


def unrepeated(noise: float, before: Level, again: Level, rivals: Iterable[tuple[Core, Level]]) -> str | None:
    """Why no choice can be judged by a reference; None where one can.

    Args:
        noise: Standard deviation of J of one window.
        before: The reference by the windows it was found by.
        again: The same, measured afresh.
        rivals: Other tuples, by windows that they were not chosen by.
    """
    gap = before.mean - again.mean
    if _apart(gap, noise, before.windows, again.windows):
        return f"the reference differs from itself by {gap:+.0%} when measured afresh"
    for core, rival in rivals:
        gap = rival.mean - again.mean
        if gap > 0.0 and _apart(gap, noise, rival.windows, again.windows):
            return f"{core} is better than the reference by {gap:.0%} when both are measured again"
    return None


def reference_value(sweep: WorkloadSweep) -> float:
    """J of the oracle that regrets are taken against: as re-measured.

    Raises:
        StoreError: It was not measured again.
    """
    if sweep.oracle_again is None:
        raise StoreError(
            f"the best configuration of workload {sweep.workload_id!r} was not measured again; collect it again"
        )
    return sweep.oracle_again


def _apart(gap: float, noise: float, windows: int, again: int) -> bool:
    """Whether a gap between the means of so many windows and of so many measured afresh is no chance."""
    return abs(gap) > max(LARGEST_GAP, 2.0 * (noise * math.sqrt(1.0 / windows + 1.0 / again)))
