"""Statistics of an evaluation: what each method lost, and how sure its difference to the baselines is."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.measurement.sweep import Core
from poolpilot.pipelines.evaluate.statistics.family_intervals import (
    FEWEST_FAMILIES,
    MANY_FAMILIES,
    bootstrap_interval,
    t_interval,
)
from poolpilot.pipelines.evaluate.statistics.outcomes import Headroom, Outcome

WITHIN = 0.05
"""A regret up to this counts as "within 5 %"."""

FEWEST_WORKLOADS = 3
"""Held-out workloads by which something can be judged at all."""

METHOD_NAMES = {"predicted": "one_shot", "refined": "refiner"}
"""What reports call two methods, and what everybody else does."""

LIVE_METHOD_NAMES = {"predicted": "one_shot", "refined": "warm_start"}
"""The same where a server is live: what is refined there is the warm start."""

TAIL = 0.10
"""Share of the worst cases whose mean is CVaR10."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean of a method's regret minus a baseline's on the same windows; negative is better than the baseline.

    Attributes:
        mean_difference: The mean over workloads and starting tuples.
        low: Lower bound of its 95 % interval; None with fewer than three families.
        high: Upper bound.
    """

    mean_difference: float
    low: float | None
    high: float | None


def summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Regret of one method: median, 90th percentile, mean of the worst tenth, share within 5 %, abstentions."""
    regrets = np.array([outcome.regret for outcome in outcomes])
    worst = np.sort(regrets)[-max(1, round(TAIL * len(regrets))) :]
    return {
        "regret_median": float(np.median(regrets)),
        "regret_p90": float(np.quantile(regrets, 0.9)),
        "within_5pct": float(np.mean(regrets <= WITHIN)),
        "regret_mean": float(regrets.mean()),
        "cvar10": float(worst.mean()),
        "abstained": float(np.mean([outcome.abstained for outcome in outcomes])),
    }


def paired(first: Sequence[Outcome], second: Sequence[Outcome], resamples: int, seed: int) -> PairedDifference:
    """Compares two methods case by case, with an interval by families.

    Workloads of one family resemble each other; an interval by workloads would count the same evidence many times.

    Args:
        first: Outcomes of the method.
        second: Outcomes of the baseline for the same workloads, starting tuples and replays.
        resamples: Number of bootstrap samples.
        seed: Seed of the resampling.
    """
    baseline = {outcome.case: outcome.regret for outcome in second}
    by_family: dict[str, list[float]] = defaultdict(list)
    for outcome in first:
        by_family[outcome.family].append(outcome.regret - baseline[outcome.case])
    sums, counts = _sums_and_counts(by_family)
    low, high = clustered_interval(by_family, resamples, seed)
    return PairedDifference(float(sums.sum() / counts.sum()), low, high)


def clustered_interval(
    by_family: Mapping[str, Sequence[float]], resamples: int, seed: int
) -> tuple[float | None, float | None]:
    """The 95 % interval of the mean over all cases; see `family_intervals.py`.

    By Student's t below `MANY_FAMILIES`, by a bootstrap from there on, none below `FEWEST_FAMILIES`.
    """
    sums, counts = _sums_and_counts(by_family)
    if len(sums) < FEWEST_FAMILIES:
        return None, None
    return t_interval(sums, counts) if len(sums) < MANY_FAMILIES else bootstrap_interval(sums, counts, resamples, seed)


def interval_by_family(
    values: Iterable[tuple[str, float]], resamples: int, seed: int
) -> tuple[float | None, float | None]:
    """As `clustered_interval`, of values each with its family."""
    by_family: dict[str, list[float]] = defaultdict(list)
    for family, value in values:
        by_family[family].append(float(value))
    return clustered_interval(by_family, resamples, seed)


def _sums_and_counts(by_family: Mapping[str, Sequence[float]]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    sums = np.array([sum(values) for values in by_family.values()])
    return sums, np.array([len(values) for values in by_family.values()])


def gap_closed(outcomes: Iterable[Outcome], headrooms: Mapping[str, Headroom]) -> float | None:
    """Median of (J - SBS) / (oracle - SBS) where there is something to gain; None where nowhere is."""
    shares = [
        (outcome.value - headroom.sbs_value) / (headroom.oracle_value - headroom.sbs_value)
        for outcome, headroom in _with_headroom(outcomes, headrooms, lambda one: one.exceeds_noise)
    ]
    return float(np.median(shares)) if shares else None


def harm(outcomes: Iterable[Outcome], headrooms: Mapping[str, Headroom]) -> float | None:
    """Mean share lost against SBS where nothing is to be gained; None where there is no such workload."""
    losses = [
        1.0 - float(np.exp(outcome.value - headroom.sbs_value))
        for outcome, headroom in _with_headroom(outcomes, headrooms, lambda one: not one.exceeds_noise)
    ]
    return float(np.mean(losses)) if losses else None


def _with_headroom(
    outcomes: Iterable[Outcome], headrooms: Mapping[str, Headroom], wanted: Callable[[Headroom], bool]
) -> Iterable[tuple[Outcome, Headroom]]:
    pairs = ((outcome, headrooms[outcome.workload_id]) for outcome in outcomes)
    return (pair for pair in pairs if wanted(pair[1]))


def same_advice(outcomes: Iterable[Outcome]) -> float:
    """Share of the replayed workloads for which a method chose one and the same tuple from every start."""
    chosen: dict[tuple[str, int], set[Core]] = defaultdict(set)
    for outcome in outcomes:
        chosen[outcome.workload_id, outcome.replay].add(outcome.chosen)
    return float(np.mean([len(tuples) == 1 for tuples in chosen.values()]))


def judged_by_seen(outcomes: Iterable[Outcome]) -> float:
    """Share of a method's choices that are valued by the window it had seen of them, and so may look too good."""
    return float(np.mean([outcome.judged_by_seen for outcome in outcomes]))


def risk_coverage(outcomes: Sequence[Outcome]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean regret of the advice kept when the most doubtful is left out.

    Args:
        outcomes: Those of one method that states its doubt and does not abstain.

    Returns:
        Coverage (share of the advice kept, rising) and the mean regret at it, both of shape (n,).
    """
    stated = sorted((outcome.doubt, outcome.regret) for outcome in outcomes if outcome.doubt is not None)
    kept = np.arange(1, len(stated) + 1)
    return kept / max(len(outcomes), 1), np.cumsum([regret for _, regret in stated]) / kept
