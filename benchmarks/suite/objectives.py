"""What the suite decides by: the short classes above floors for the long ones, throughput alone, or p99 alone."""

import math
from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import Field

from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.lab.sql_workload import SqlWorkload

ObjectiveName = Literal["short", "throughput", "p99"]


class TailObjective(Objective):
    """J = -ln of the 99th percentile of latency in seconds, the mean over classes."""

    tails: tuple[str, ...] = Field(default=(), description="Classes whose latency counts.")

    def goodput_per_s(self, window: Window) -> float:
        """One over the 99th percentile in seconds; the floor where a class has answered nothing."""
        if not window.classes:
            return super().goodput_per_s(window)
        seconds = [
            window.classes[name].latency.quantile(0.99) / 1e6
            for name in self.tails
            if name in window.classes and window.classes[name].latency.count
        ]
        if len(seconds) < len(self.tails):
            return self.goodput_floor_per_s
        mean = math.exp(sum(-math.log(max(one, 1e-6)) for one in seconds) / len(seconds))
        return max(mean, self.goodput_floor_per_s)

    def worth_per_s(self, window: Window) -> float:
        """The same; there are no targets towards which it would slope."""
        return self.goodput_per_s(window)


def _short(workload: SqlWorkload) -> Objective:
    stated = workload.objective
    weights = {name: 0.0 if name in stated.min_share else weight for name, weight in stated.weights.items()}
    return Objective(weights=weights, min_share=stated.min_share)


def _throughput(workload: SqlWorkload) -> Objective:
    return Objective(weights={one.name: 1.0 for one in workload.classes})


def _p99(workload: SqlWorkload) -> Objective:
    long = workload.objective.min_share
    return TailObjective(tails=tuple(one.name for one in workload.classes if one.name not in long))


OBJECTIVES: Mapping[ObjectiveName, Callable[[SqlWorkload], Objective]] = {
    "short": _short,
    "throughput": _throughput,
    "p99": _p99,
}
"""What makes the objective of a workload; a class with a floor (`min_share`) is long."""


def judged(objective: Objective) -> Objective:
    """The objective by which choices are judged: advice pays for its threads, the judge asks what they brought."""
    return objective.model_copy(update={"price_of_thread": 0.0})
