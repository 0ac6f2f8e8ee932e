"""What a run cost on the way: time to 95 % of the oracle, and goodput lost."""

from collections.abc import Sequence

from poolpilot.env.tuning.loop import TuningStep

SMOOTHING_S = 1.0
"""A single window of a live server is noise; arrival is evaluated by the mean over this long."""


def mean_goodput(steps: Sequence[TuningStep], span_s: float = float("inf")) -> float:
    """Mean goodput over the first `span_s` seconds of some windows."""
    completed = seconds = 0.0
    for step in steps:
        completed += step.goodput_per_s * step.duration_s
        seconds += step.duration_s
        if seconds >= span_s:
            break
    return completed / seconds


def time_to_share(steps: Sequence[TuningStep], oracle_per_s: float, share: float = 0.95) -> float | None:
    """Seconds from the workload's start until goodput reaches a share of the oracle's and stays.

    It has arrived at the first window from which both the next second and all the rest of the run reach the share
    on average.

    Args:
        steps: All windows of the run.
        oracle_per_s: Goodput of the oracle.
        share: The share to reach.

    Returns:
        The seconds, or None if it does not arrive within the run.
    """
    for place, step in enumerate(steps):
        rest = steps[place:]
        if sum(one.duration_s for one in rest) < SMOOTHING_S:
            return None
        if min(mean_goodput(rest, SMOOTHING_S), mean_goodput(rest)) >= share * oracle_per_s:
            return step.end_s - step.duration_s
    return None


def lost_goodput(steps: Sequence[TuningStep], oracle_per_s: float) -> float:
    """Requests that the oracle would have completed in time during the run and this run did not; at least 0."""
    return max(sum((oracle_per_s - step.goodput_per_s) * step.duration_s for step in steps), 0.0)
