"""Paired windows: configurations measured there and back again until their differences are known well enough."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.measurement.protocol import MeasurementSettings, measure
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.featurizer.window import Window


class PairedSettings(BaseModel):
    """How long configurations are compared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    measurement: MeasurementSettings = Field(
        default=MeasurementSettings(settle_s=1.0, window_s=1.0),
        description="What is dropped, and how long a window is.",
    )
    wanted_error: float = Field(
        default=0.025, gt=0.0, description="Standard error of a difference in ln J under which no more is measured."
    )
    wanted_share: float = Field(
        default=0.0,
        ge=0.0,
        description="Share of a difference that its standard error may be too: a large gain needs less precision.",
    )
    least_rounds: int = Field(default=4, ge=2, description="Rounds there and back at least.")
    most_rounds: int = Field(default=6, ge=2, description="Rounds there and back at most.")


def paired_windows(
    server: PoolServer,
    cores: Sequence[Core],
    objective: Objective,
    settings: PairedSettings,
    rng: np.random.Generator,
) -> list[list[Window]]:
    """Measures every configuration twice a round, in a random order and then in that order reversed (ABBA).

    What drifts evenly through a round so strikes all of them alike. A configuration that is there twice is measured
    as two: how far they differ says what a difference is worth.

    Args:
        server: The server under load.
        cores: The configurations; the first is the reference of the differences.
        objective: What the windows are evaluated by.
        settings: When it is enough.
        rng: Source of the order.

    Returns:
        The windows of each configuration, in the order of `cores`.

    Raises:
        ServerError: The server stopped.
    """
    windows: list[list[Window]] = [[] for _ in cores]
    for done in range(1, settings.most_rounds + 1):
        order = rng.permutation(len(cores))
        for place in (*order, *order[::-1]):
            wanted = server.tuple_in_force().with_core(cores[place])
            windows[place].append(measure(server, wanted, settings.measurement, load_anew=True).window)
        if done >= settings.least_rounds and _known_well(windows, objective, settings):
            break
    return windows


def _known_well(windows: Sequence[Sequence[Window]], objective: Objective, settings: PairedSettings) -> bool:
    """Whether every difference to the first configuration is known as well as is wanted.

    One that is there twice differs from itself by noise alone, however large that is; nobody waits for it.
    """
    first, reference = windows[0][0].pool_tuple.core, round_values(windows[0], objective)
    others = [round_values(each, objective) for each in windows if each[0].pool_tuple.core != first]
    return all(
        error_of_difference(each, reference)
        <= max(settings.wanted_error, settings.wanted_share * abs(float(np.mean(each - reference))))
        for each in others
    )


def errors_of(windows: Sequence[Sequence[Window]], objective: Objective) -> list[float]:
    """Standard error of each configuration's mean difference in J to the first one; that of the first is 0.

    Differences are taken round by round, two windows of each to a round.
    """
    reference = round_values(windows[0], objective)
    return [error_of_difference(round_values(each, objective), reference) for each in windows]


def error_of_difference(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Standard error of the mean difference of two series of rounds; infinite where there is one round alone."""
    return float(np.std(first - second, ddof=1) / math.sqrt(len(first))) if len(first) > 1 else math.inf


def round_values(windows: Sequence[Window], objective: Objective) -> NDArray[np.float64]:
    """J of the two windows of every round, taken as one, (rounds,): the logarithm of few completions is of no use."""
    rounds = [Window.pooled(windows[place : place + 2]) for place in range(0, len(windows), 2)]
    return np.array([objective.value(both) for both in rounds])
