"""Predictors under which unsafe windows are counted: the one that ships, and a broken one."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.shipped_curves import load_curves


class RandomPredictor:
    """Names any configuration of the grid, and promises much: a model that is broken.

    Args:
        seed: Seed of what it names.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 99])

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        """See `Predictor.predict`."""
        tuples = MachineGrid().on(limits).tuples
        in_force = windows[-1].pool_tuple
        named = in_force.with_core(tuples[int(self._rng.integers(len(tuples)))].core)
        return Prediction(named, in_force, False, ("at random",), "", expected_gain=1.0)


def shipped(_seed: int) -> Predictor:
    """What ships for who measures what follows."""
    return Advisor(Model.of(load_curves()), Purpose.TRIAL)


PREDICTORS: Mapping[str, Callable[[int], Predictor]] = {"shipped": shipped, "at random": RandomPredictor}
