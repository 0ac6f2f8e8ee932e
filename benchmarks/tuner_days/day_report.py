"""What methods made of days: requests completed beside the untouched default, regret, and unsafe half-minutes."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tuner_days.day_server import BIN_S, Day
from tuner_days.lives import DayResult

UNSAFE, SLOW, CHANCE = 0.95, 1.2, 3.0
"""Less than this share of what the default completes in a phase, or more than that of its latency, and so many
deviations of its bins there beyond."""


def row_of(day: Day, best: Sequence[float], of_default: DayResult, result: DayResult) -> dict[str, float]:
    """How a method did on a day.

    `completed` is the logarithm of all that it completed over all that the default did. `slow` are bins by latency, as
    `unsafe` are by what is completed.
    """
    steady = steady_bins(day, len(of_default.bins) - 1)
    rates, untouched = _rates(result)[steady], _rates(of_default)[steady]
    late_ms, untouched_ms = _latencies_ms(result)[steady], _latencies_ms(of_default)[steady]
    phases = np.array([day.phase_at(number * BIN_S) for number in np.flatnonzero(steady)])
    unsafe, slow, regrets = 0, 0, list[float]()
    for phase in np.unique(phases):
        here = phases == phase
        usual, scatter = untouched[here].mean(), untouched[here].std()
        unsafe += int((rates[here] < UNSAFE * usual - CHANCE * scatter).sum())
        usual_ms, scatter_ms = untouched_ms[here].mean(), untouched_ms[here].std()
        slow += int((late_ms[here] > SLOW * usual_ms + CHANCE * scatter_ms).sum())
        regrets += list(1.0 - rates[here] / max(best[phase], usual))
    return {
        "completed": math.log(_rates(result).sum() / _rates(of_default).sum()),
        "regret": float(np.mean(regrets)),
        "unsafe": unsafe,
        "slow": slow,
        "bins": len(rates),
        "changes": result.changes,
        "roll_backs": result.roll_backs,
    }


def steady_bins(day: Day, bins: int) -> NDArray[np.bool_]:
    """Which bins lie within one phase."""
    edges = [(number * BIN_S, (number + 1) * BIN_S - 0.1) for number in range(bins)]
    return np.array([day.phase_at(begin) == day.phase_at(end) for begin, end in edges])


def _rates(result: DayResult) -> NDArray[np.float64]:
    """Requests a second of each bin; the last one, which a method may run into by its last window, is left out."""
    return np.array(result.bins[:-1]) / BIN_S


def _latencies_ms(result: DayResult) -> NDArray[np.float64]:
    """The latency of each bin but the last."""
    return np.array(result.latency_ms[:-1])


def summary(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means over days; of what was completed the standard error and the worst day too, in logarithms."""
    found = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    completed = [row["completed"] for row in rows]
    error = float(np.std(completed, ddof=1) / math.sqrt(len(rows))) if len(rows) > 1 else math.nan
    return found | {"completed_error": error, "worst_completed": min(completed), "days": len(rows)}
