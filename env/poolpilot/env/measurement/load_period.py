"""Whether a load repeats itself, such as bursts of two seconds in ten or a job each minute, by what its windows show.

A window of a part of a cycle shows the cycle's phase, not what a tuple is worth. The period is read from the
autocorrelation of the rates. Its error is Bartlett's, which grows where neighbouring windows hang together: M. S.
Bartlett, "On the theoretical specification and sampling properties of autocorrelated time-series", 1946.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from poolpilot.featurizer.pool_tuple import PoolTuple

Floats = NDArray[np.float64]

LEAST_CYCLES = 5
"""Cycles that must have been seen: what repeats itself twice may be chance."""

LEAST_WINDOWS = 3
"""Windows of a cycle at least; a longer window averages over the cycle anyway."""

LEAST_OF_A_TUPLE = 3
"""Windows under one tuple that tell what is usual under it."""

FALSE_ALARMS = 0.01
"""Share of steady loads that may be said to repeat themselves."""

LEAST_CORRELATION = 0.2
"""Correlation of a cycle with the next from which it matters."""

UNEQUAL = 0.2
"""Part of the usual length by which windows may differ."""


class RatedWindow(Protocol):
    """What is read of a window, such as `featurizer.window.Window`."""

    @property
    def duration_s(self) -> float:
        """Its length in seconds."""

    @property
    def throughput_per_s(self) -> float:
        """Requests completed per second."""

    @property
    def pool_tuple(self) -> PoolTuple:
        """The tuple it was measured under."""


def load_period_s(windows: Sequence[RatedWindow]) -> float | None:
    """The period of the load in seconds; None where none is seen, or windows are too few or of unequal length.

    Args:
        windows: What followed one another, under any tuples: what is usual under each is taken off.
    """
    if len(windows) < LEAST_CYCLES * LEAST_WINDOWS:
        return None
    lengths = np.array([window.duration_s for window in windows])
    usual_s = float(np.median(lengths))
    if np.mean(np.abs(lengths / usual_s - 1.0) > UNEQUAL) > UNEQUAL:
        return None
    lag = _repeating_lag(_deviations(windows))
    return None if lag is None else lag * usual_s


def _deviations(windows: Sequence[RatedWindow]) -> Floats:
    """Relative deviation of each rate from the mean under its tuple, without trend; no number where none is known."""
    rates = np.array([window.throughput_per_s for window in windows])
    tuples = [window.pool_tuple.core for window in windows]
    found = np.full(len(rates), np.nan)
    for one in set(tuples):
        under = np.array([other == one for other in tuples])
        if under.sum() >= LEAST_OF_A_TUPLE and (mean := rates[under].mean()) > 0.0:
            found[under] = rates[under] / mean - 1.0
    known = np.flatnonzero(~np.isnan(found))
    if len(known) > LEAST_WINDOWS:
        found[known] -= np.polyval(np.polyfit(known, found[known], 1), known)
    return found


def _repeating_lag(deviations: Floats) -> int | None:
    """The shortest lag in windows after which the rates are seen to be alike again, twice over."""
    most = len(deviations) // LEAST_CYCLES
    correlations, pairs = _autocorrelation(deviations, 2 * most)
    if most < LEAST_WINDOWS or pairs[1:].min() < LEAST_CYCLES:
        return None
    nearer = np.concatenate([[0.0, 0.0], np.cumsum(correlations[1:-1] ** 2)])  # squares of all shorter lags
    errors = np.sqrt((1.0 + 2.0 * nearer) / pairs)
    needed = NormalDist().inv_cdf(1.0 - FALSE_ALARMS / most)
    for lag in range(LEAST_WINDOWS, most + 1):
        again = min(correlations[lag], correlations[2 * lag])
        rises = correlations[lag] - correlations[1:lag].min()
        at_top = correlations[lag] >= correlations[lag - 1 : lag + 2].max()
        if at_top and again > LEAST_CORRELATION and min(again, rises) > needed * errors[lag]:
            return lag
    return None


def _autocorrelation(deviations: Floats, most: int) -> tuple[Floats, Floats]:
    """Correlation with what came so many windows later, from 0 on, and of how many pairs."""
    known = ~np.isnan(deviations)
    filled = np.where(known, deviations, 0.0)
    variance = (filled**2).sum() / max(known.sum(), 1)
    lags = range(most + 1)
    pairs = np.array([(known[: len(known) - lag] & known[lag:]).sum() for lag in lags], dtype=np.float64)
    products = np.array([(filled[: len(filled) - lag] * filled[lag:]).sum() for lag in lags])
    return products / np.maximum(pairs * variance, 1e-300), pairs
