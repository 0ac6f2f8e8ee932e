"""What the comparison of many knobs with the size alone does on every pool: climb, and put the ends beside the best."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

import numpy as np

from poolpilot.env.climb import ClimbController, ClimbStep, run_climb
from poolpilot.env.knob_climb import KnobClimbController
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.spectral import ClimbSettings, spectral_climber
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool import KnobClimber, SpectralClimber


@dataclass(frozen=True)
class Climbed:
    """What a climb reached.

    Attributes:
        samples: Samples until it held; the longest allowed if it never did.
        end: Tuple it held; if it never did, the one that its waves stand on.
    """

    samples: int
    end: PoolTuple


def climb(
    server: PoolServer, objective: Objective, settings: ClimbSettings, most_samples: int, *, all_knobs: bool
) -> Climbed:
    """Climbs from the tuple in force for so many samples, and says where it first held."""
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

    def note(_: ClimbStep) -> None:
        modes.append(climber.mode)

    trace = run_climb(server, controller, settings.period_s, most_samples * settings.period_s, objective, note)
    if "OPTIMIZED" not in modes:
        return Climbed(most_samples, start.with_core(stands_on(climber, trace.final_tuple)))
    last = modes.index("OPTIMIZED") + 1
    return Climbed(last, trace.steps[min(last + 1, len(trace.steps) - 1)].pool_tuple)


def stands_on(climber: SpectralClimber | KnobClimber, swinging: PoolTuple) -> tuple[int, int, int]:
    """The core tuple that the waves of a climb stand on: the low size, or the middle of every knob."""
    if isinstance(climber, SpectralClimber):
        return (climber.latest["wave_low"], *swinging.core[1:])
    size, oversubscribe, timer_ms = (state["middle"] for state in climber.latest["knobs"])
    return size, oversubscribe, timer_ms


def row_of(workload: str, oracle: PoolTuple, ends: tuple[Climbed, Climbed], values: Sequence[float]) -> dict[str, Any]:
    """One workload of the table.

    Args:
        workload: Its name.
        oracle: The best tuple of the grid.
        ends: Where the climb of the size alone ended, and that of all knobs.
        values: J of the oracle, of the default tuple and of both ends.
    """
    one, many = ends
    best, default_value, one_value, many_value = values
    return {
        "workload": workload,
        "oracle": oracle.core,
        "one_end": one.end.core,
        "many_end": many.end.core,
        "default_regret": float(1 - np.exp(default_value - best)),
        "one_regret": float(1 - np.exp(one_value - best)),
        "many_regret": float(1 - np.exp(many_value - best)),
        "one_samples": one.samples,
        "many_samples": many.samples,
    }


def line_of(row: dict[str, Any]) -> str:
    """A row as people read it."""
    return (
        f"{row['workload']:20s} oracle {row['oracle']!s:16s} default {row['default_regret']:6.1%} "
        f"size alone {row['one_regret']:6.1%} in {row['one_samples']:3d} {row['one_end']!s:16s} "
        f"all {row['many_regret']:6.1%} in {row['many_samples']:3d} {row['many_end']}"
    )


def summary_of(rows: Sequence[dict[str, Any]]) -> str:
    """All rows in a sentence."""
    ratio = [row["many_samples"] / row["one_samples"] for row in rows]
    within = fmean(row["many_regret"] <= 0.05 for row in rows)
    return f"all knobs within 5 %: {within:.0%}; samples over those of the size alone: median {median(ratio):.1f}"
