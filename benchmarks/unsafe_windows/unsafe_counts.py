"""Unsafe windows counted: of a run beside the untouched server, and of many runs, guarded and unguarded."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

Seen = tuple[bool, float, float | None]
"""A window: whether another configuration than the first is in force, its throughput, its latency."""

Run = Mapping[str, Any]
"""Both arms on one workload, from one start, under one predictor."""

ARMS = ("guarded", "unguarded")
LEAST_SHARE, MOST_RISE, CHANCE = 0.95, 1.2, 3.0
RESAMPLES = 10_000


def counts_of(found: Sequence[Seen], usual: Sequence[Seen]) -> dict[str, float]:
    """Windows, those of another configuration, unsafe ones, and the longest row of these."""
    rates = np.array([rate for _, rate, _ in usual])
    tails = np.array([tail for _, _, tail in usual if tail is not None])
    least = float(min(LEAST_SHARE * rates.mean(), rates.mean() - CHANCE * rates.std()))
    most = float(max(MOST_RISE * tails.mean(), tails.mean() + CHANCE * tails.std()) if len(tails) else np.inf)
    unsafe = [changed and (rate < least or (tail or 0.0) > most) for changed, rate, tail in found]
    rows = [sum(1 for _ in group) for bad, group in groupby(unsafe) if bad]
    return {
        "windows": len(found),
        "changed": sum(changed for changed, _, _ in found),
        "unsafe": sum(unsafe),
        "in_a_row": max(rows, default=0),
    }


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """Counts of some runs, and the share of unsafe windows that the guard keeps away with its lower 95 % bound."""
    unsafe = by_family(runs, "unsafe")
    sums = resampled(unsafe)
    avoided = 1.0 - sums[:, 0] / np.maximum(sums[:, 1], 1.0)
    return {
        "runs": len(runs),
        **{f"{arm}_{name}": sum(run[arm][name] for run in runs) for name in ("windows", "changed") for arm in ARMS},
        **{f"{arm}_unsafe": int(unsafe[:, place].sum()) for place, arm in enumerate(ARMS)},
        **{f"{arm}_in_a_row": max(run[arm]["in_a_row"] for run in runs) for arm in ARMS},
        "avoided": float(1.0 - unsafe[:, 0].sum() / max(unsafe[:, 1].sum(), 1.0)),
        "avoided_low": float(np.quantile(avoided, 0.05)),
    }


def by_family(runs: Sequence[Run], name: str) -> NDArray[np.float64]:
    """Sums of a count over the runs of each family, (families, arms): draws of one family resemble each other."""
    families = sorted({run["family"] for run in runs})
    return np.array(
        [[sum(run[arm][name] for run in runs if run["family"] == each) for arm in ARMS] for each in families]
    )


def resampled(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over families drawn with replacement, (resamples, arms)."""
    drawn = np.random.default_rng(0).integers(len(sums), size=(RESAMPLES, len(sums)))
    found: NDArray[np.float64] = sums[drawn].sum(axis=1)
    return found
