"""What the windows of a comparison say about each choice, and whether they say anything."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import Objective, regret
from poolpilot.env.tuning.loop import TuningStep, TuningTrace
from poolpilot.featurizer.window import Window
from poolpilot.pipelines.evaluate.live.judging.live_result import (
    AGAIN,
    DEFAULT,
    REFERENCE,
    LiveResult,
    MethodRun,
    SweptTuple,
)
from poolpilot.pipelines.evaluate.live.judging.long_classes import long_classes
from poolpilot.pipelines.evaluate.live.judging.paired_windows import error_of_difference, errors_of, round_values
from poolpilot.pipelines.evaluate.stage import Stage
from poolpilot.pipelines.evaluate.statistics.load_level import load_level

UNSAFE = 0.8
"""A window with less than this share of the first tuple's goodput is unsafe (DESIGN of OnlineTune's evaluation)."""

CLEARLY_WORSE = 0.05
"""A reference that is worse than another tuple of the sweep by more than this in J, and than `NO_CHANCE`, is none."""

NO_CHANCE = 0.995
"""Quantile of Student's t beyond which the best of many choices is no chance."""

FLOOR_QUANTILE = 0.975
"""Quantile of Student's t beyond which what is missing to a floor is no chance."""

FEWEST = 30
"""Requests of the reference that must end in time in the comparison: fewer tell no tuples apart."""


@dataclass(frozen=True)
class Choices:
    """What was chosen under one workload.

    Attributes:
        cores: Tuple that each method left in force; the sweep's best, the default and the default again among them.
        traces: Way of each method that had a server.
        swept: All configurations of the sweep.
    """

    cores: Mapping[str, Core]
    traces: Mapping[str, TuningTrace]
    swept: tuple[SweptTuple, ...]


def compared(stage: Stage, choices: Choices, windows: Mapping[str, Sequence[Window]]) -> LiveResult:
    """The result of a workload.

    Who sets what breaks a floor or a limit of the objective goes back: such a choice is worth no more than the default.

    Args:
        stage: The workload.
        choices: What was chosen.
        windows: Windows of each choice, those of the reference first.
    """
    objective = stage.objective
    broken = {name: broken_by(objective, each, windows[DEFAULT]) for name, each in windows.items()}
    pooled = {name: Window.pooled(each) for name, each in windows.items()}
    values = _kept({name: objective.value(each) for name, each in pooled.items()}, broken)
    goodputs = _kept({name: objective.goodput_per_s(each) for name, each in pooled.items()}, broken)
    errors = dict(zip(windows, errors_of(list(windows.values()), objective), strict=True))
    runs = [
        MethodRun(
            method=name,
            chosen=core,
            value=values[name],
            error=errors[name],
            goodput_share=goodputs[name] / goodputs[REFERENCE],
            p99_ms=p99_ms(pooled[name]),
            threads=windows[name][-1].threads,
            p99_ratio=_ratios(p99_ms(pooled[name]), p99_ms(pooled[REFERENCE])),
            class_share=_ratios(_throughputs(windows[name]), _throughputs(windows[DEFAULT])),
            in_time=objective.share_within_target(pooled[name]),
            broken=broken[name],
            **_way(choices.traces.get(name), goodputs[REFERENCE], values[REFERENCE]),
        )
        for name, core in choices.cores.items()
    ]
    again, default = (round_values(windows[name], objective) for name in (AGAIN, DEFAULT))
    return LiveResult(
        stage.name,
        stage.family,
        tuple(runs),
        long_classes(stage),
        objective.value(pooled[AGAIN]) - objective.value(pooled[DEFAULT]),
        error_of_difference(again, default),
        _too_few(pooled[REFERENCE], objective) or _censored(choices, values, errors, broken[REFERENCE], len(again)),
        choices.swept,
        load_level(windows[DEFAULT]),
    )


def broken_by(objective: Objective, windows: Sequence[Window], default: Sequence[Window]) -> tuple[str, ...]:
    """Classes of which a choice leaves less than it must, beyond chance, or that are later than they may be.

    A class that has a limit and is answered under the default alone is as late as can be.
    """
    late, answered = p99_ms(Window.pooled(windows)), p99_ms(Window.pooled(default))
    lacking = [name for name, share in objective.min_share.items() if _lacks(name, share, windows, default)]
    slow = [
        name
        for name, limit_ms in objective.max_p99_ms.items()
        if late.get(name, math.inf if name in answered else 0.0) > limit_ms
    ]
    return tuple(dict.fromkeys((*lacking, *slow)))


def _lacks(name: str, share: float, windows: Sequence[Window], default: Sequence[Window]) -> bool:
    before = _by_round(name, default)
    missing = share * before - _by_round(name, windows)
    error = float(np.std(missing, ddof=1) / np.sqrt(len(missing))) if len(missing) > 1 else np.inf
    return bool(before.mean() > 0.0 and missing.mean() > beyond(FLOOR_QUANTILE, len(missing)) * error)


def beyond(quantile: float, rounds: int) -> float:
    """Standard errors of a mean of so many rounds that chance alone exceeds with the rest of this probability."""
    from scipy.special import stdtrit

    return float(stdtrit(rounds - 1, quantile)) if rounds > 1 else math.inf


def _by_round(name: str, windows: Sequence[Window]) -> NDArray[np.float64]:
    """Requests a second of a class in every round, (rounds,)."""
    found = np.array([window.classes[name].throughput_per_s if name in window.classes else 0.0 for window in windows])
    means: NDArray[np.float64] = found.reshape(-1, 2).mean(axis=1)
    return means


def _kept(found: Mapping[str, float], broken: Mapping[str, tuple[str, ...]]) -> dict[str, float]:
    """What each choice is worth; what breaks something no more than the default."""
    return {name: min(value, found[DEFAULT]) if broken[name] else value for name, value in found.items()}


def _too_few(reference: Window, objective: Objective) -> str | None:
    """Why nothing can be told of a workload of which next to nothing that counts ends in time."""
    weigh = {name: each for name, each in reference.classes.items() if objective.weights.get(name, 1.0) > 0.0}
    in_time = objective.in_time_per_s(replace(reference, classes=weigh)) * reference.duration_s
    if in_time >= FEWEST:
        return None
    return (
        f"of the reference {in_time:.0f} requests ended in time in {reference.duration_s:.0f} s of the comparison, and "
        f"fewer than {FEWEST} tell nothing: offer more, longer windows (files.run.paired.measurement.window_s, "
        "files.run.sweep.window_s), or a target that can be met"
    )


def _censored(
    choices: Choices, values: Mapping[str, float], errors: Mapping[str, float], broken: tuple[str, ...], rounds: int
) -> str | None:
    """Why the sweep's best is none: it breaks a floor, or a tuple that lost in the sweep beats it now.

    What the sweep has not measured may be better without a fault of the sweep.
    """
    cores, chosen = choices.cores, choices.cores[REFERENCE]
    if broken:
        return f"the reference {chosen}, best of the sweep, does not keep {' and '.join(broken)} measured afresh"
    swept = {one.core for one in choices.swept}
    best = max((name for name in values if cores[name] in swept), key=values.__getitem__)
    worse = values[best] - values[REFERENCE]
    if worse <= max(beyond(NO_CHANCE, rounds) * errors[best], CLEARLY_WORSE):
        return None
    return (
        f"the reference {chosen}, best of the sweep, does not repeat: measured afresh it loses "
        f"{regret(values[REFERENCE], values[best]):.0%} against {cores[best]} (standard error {errors[best]:.1%})"
    )


def _way(trace: TuningTrace | None, reference_per_s: float, reference_value: float) -> dict[str, Any]:
    if trace is None or not trace.steps:
        return {}
    first = trace.steps[0].goodput_per_s
    mean = sum(step.goodput_per_s * step.duration_s for step in trace.steps) / trace.duration_s
    trying = TuningTrace(_until_last_change(trace.steps))
    return {
        "tries": len({step.pool_tuple.core for step in trace.steps}) - 1,
        "on_the_way": mean / reference_per_s,
        "unsafe": sum(step.duration_s for step in trace.steps if step.goodput_per_s < UNSAFE * first)
        / trace.duration_s,
        "trying_s": trying.duration_s,
        "trying_regret": trying.mean_regret(reference_value) if trying.steps else None,
    }


def _until_last_change(steps: Sequence[TuningStep]) -> tuple[TuningStep, ...]:
    changes = [
        place for place in range(1, len(steps)) if steps[place].pool_tuple.core != steps[place - 1].pool_tuple.core
    ]
    return tuple(steps[: changes[-1]]) if changes else ()


def p99_ms(window: Window) -> dict[str, float]:
    """99th percentile of latency in milliseconds, by class; none of those that answered nothing."""
    return {
        name: of_class.latency.quantile(0.99) / 1000.0
        for name, of_class in window.classes.items()
        if of_class.latency.count
    }


def _throughputs(windows: Sequence[Window]) -> dict[str, float]:
    names = sorted({name for window in windows for name in window.classes})
    return {
        name: float(
            np.mean([window.classes[name].throughput_per_s if name in window.classes else 0.0 for window in windows])
        )
        for name in names
    }


def _ratios(values: Mapping[str, float], divisors: Mapping[str, float]) -> dict[str, float]:
    return {name: value / divisors[name] for name, value in values.items() if divisors.get(name, 0.0) > 0.0}
