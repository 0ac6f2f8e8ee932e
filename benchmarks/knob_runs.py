"""What the comparison of many knobs with the size alone does on every pool: climb, search, compare with the best."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median
from typing import Any

import numpy as np

from poolpilot.agent.search.bayesian import BayesianOptimisation
from poolpilot.agent.search.bayesian_settings import BayesianSettings
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.knob_climb import KnobClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.tuning.loop import TuningStep, tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool import KnobClimber, SpectralClimber
from poolpilot.serve.commands.search.knob_option import KnobOption, space_of

SEARCHED = ("pool_size", "oversubscribe=1..32", "timer_interval_ms=1..1000")
"""What the search varies: the ranges that a climb of the three keeps to."""

ROUNDS = 30
"""Tuples that the search tries, each for a window to settle and two to evaluate."""

JUDGED_SAMPLES = 40
"""A climb has held a tuple once it has not left it for so long: a false optimum is left earlier."""


@dataclass(frozen=True)
class Climbed:
    """What a climb reached.

    Attributes:
        samples: Samples until it held for good; the longest allowed if it never did.
        end: Tuple it held; if it never did, the one that its waves stand on.
    """

    samples: int
    end: PoolTuple


def climb(
    server: PoolServer, objective: Objective, settings: ClimbSettings, most_samples: int, *, all_knobs: bool
) -> Climbed:
    """Climbs from the tuple in force for so many samples, and says what it held."""
    start = server.tuple_in_force()
    modes: list[str] = []
    controller: KnobClimbController | ClimbController
    climber: KnobClimber | SpectralClimber
    if all_knobs:
        controller = KnobClimbController(settings, server.knobs, start, objective)
        climber = controller.climber
    else:
        climber = spectral_climber(settings, server.knobs, start.pool_size)
        controller = ClimbController(climber, start, objective)

    def note(_: TuningStep) -> None:
        modes.append(climber.mode)

    horizon_s = most_samples * settings.period_s
    trace = tune(server, controller, objective, period_s=settings.period_s, horizon_s=horizon_s, on_step=note)
    holds = (at for at, mode in enumerate(modes) if mode == "OPTIMIZED")
    held = next((at for at in holds if set(modes[at : at + JUDGED_SAMPLES]) == {"OPTIMIZED"}), None)
    if held is None:
        return Climbed(most_samples, start.with_core(stands_on(climber, trace.final_tuple)))
    return Climbed(held + 1, trace.steps[min(held + 2, len(trace.steps) - 1)].pool_tuple)


def stands_on(climber: SpectralClimber | KnobClimber, swinging: PoolTuple) -> tuple[int, int, int]:
    """The core tuple that the waves of a climb stand on: the low size, or the middle of every knob."""
    if isinstance(climber, SpectralClimber):
        return (climber.latest["wave_low"], *swinging.core[1:])
    size, oversubscribe, timer_ms = (state["middle"] for state in climber.latest["knobs"])
    return size, oversubscribe, timer_ms


def search(server: PoolServer, objective: Objective, settings: ClimbSettings) -> Climbed:
    """Searches by a Gaussian process from the tuple in force for so many rounds, and says what it holds then."""
    space = space_of([KnobOption.parse(text) for text in SEARCHED], server.knobs, server.tuple_in_force())
    rounds = BayesianSettings(rounds=ROUNDS, samples_per_round=2, settle_windows=1, seed=1, threads=1)
    controller = BayesianOptimisation(space, objective, rounds)
    most = 3 * ROUNDS + 1
    trace = tune(server, controller, objective, period_s=settings.period_s, horizon_s=most * settings.period_s)
    return Climbed(len(trace.steps), server.tuple_in_force())


CONTENDERS: Mapping[str, Callable[[PoolServer, Objective, ClimbSettings, int], Climbed]] = {
    "one": partial(climb, all_knobs=False),
    "many": partial(climb, all_knobs=True),
    "search": lambda server, objective, settings, _: search(server, objective, settings),
}
"""The climb of the size alone, that of all knobs, and the search."""


def row_of(workload: str, oracle: PoolTuple, ends: Mapping[str, Climbed], values: Sequence[float]) -> dict[str, Any]:
    """One workload of the table.

    Args:
        workload: Its name.
        oracle: The best tuple of the grid.
        ends: Where each contender ended.
        values: J of the oracle, of the default tuple and of every end.
    """
    best, default_value, *reached = values
    row: dict[str, Any] = {"workload": workload, "oracle": oracle.core}
    row["default_regret"] = float(1 - np.exp(default_value - best))
    for (name, climbed), value in zip(ends.items(), reached, strict=True):
        row[f"{name}_end"] = climbed.end.core
        row[f"{name}_regret"] = float(1 - np.exp(value - best))
        row[f"{name}_samples"] = climbed.samples
    return row


def line_of(row: dict[str, Any]) -> str:
    """A row as people read it."""
    return f"{row['workload']:24s} oracle {row['oracle']!s:16s} default {row['default_regret']:6.1%} " + " ".join(
        f"{name} {row[f'{name}_regret']:6.1%} in {row[f'{name}_samples']:3d} {row[f'{name}_end']!s:16s}"
        for name in CONTENDERS
    )


def summary_of(rows: Sequence[dict[str, Any]]) -> str:
    """All rows in a sentence."""
    ratio = [row["many_samples"] / row["one_samples"] for row in rows]
    within = {name: fmean(row[f"{name}_regret"] <= 0.05 for row in rows) for name in CONTENDERS}
    shares = ", ".join(f"{name} {share:.0%}" for name, share in within.items())
    return f"within 5 %: {shares}; samples of many over those of one: median {median(ratio):.1f}"
