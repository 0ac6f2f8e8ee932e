"""Recorded workloads that no choice can be judged on: their reference does not repeat, or nothing does."""

import math
from collections.abc import Sequence

from recorded_cases import RecordedCase, mean_value

LARGEST_GAP = 0.1
"""In ln J; a gap must also be beyond two standard errors."""

LARGEST_NOISE = 0.25
"""In ln J, of one window: beyond it a choice and its opposite look alike."""


def censored_cases(cases: Sequence[RecordedCase]) -> dict[tuple[str, str], str]:
    """Workloads that are left out, by kind and name, with the reason; what methods choose has no say in it."""
    return {(case.kind, case.name): reason for case in cases if (reason := reason_of(case)) is not None}


def reason_of(case: RecordedCase) -> str | None:
    """Why a workload is left out; None where it is not."""
    if case.sweep.noise > LARGEST_NOISE:
        return f"windows of one configuration differ by {case.sweep.noise:.0%}"
    before, afresh = case.sweep.oracle_value, mean_value(case.objective, case.again)
    if _apart(case, before - afresh, len(case.sweep.entries[case.reference].windows)):
        return f"the reference differs from itself by {before - afresh:+.0%} when measured afresh"
    for core, entry in case.sweep.entries.items():
        if core == case.reference or len(entry.windows) == 1 or not entry.feasible:
            continue
        gap = mean_value(case.objective, case.judged(core)) - afresh
        if gap > 0.0 and _apart(case, gap, len(entry.windows) - 1):
            return f"{core} is better than the reference by {gap:.0%} when both are measured again"
    return None


def _apart(case: RecordedCase, gap: float, windows: int) -> bool:
    """Whether a gap between the mean of so many windows and the reference measured afresh is no chance."""
    error = case.sweep.noise * math.sqrt(1.0 / windows + 1.0 / len(case.again))
    return abs(gap) > max(LARGEST_GAP, 2.0 * error)
