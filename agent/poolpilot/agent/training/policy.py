"""The bare policy of a score network: the tuple it likes best, without the doubts that production adds."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from poolpilot.agent.baselines.choice import advise
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.observation import encode
from poolpilot.featurizer.window import Window
from poolpilot.models.forward import forward
from poolpilot.models.predictor import Prediction


class GreedyPolicy:
    """Names the tuple of the highest logit; it never abstains, so training sees what the weights themselves are worth.

    Args:
        weights: Arrays by name, as `ScoreNetwork.state_to_numpy` gives them.
        grid: The grid of the actions.
    """

    def __init__(self, weights: Mapping[str, NDArray[np.float32]], grid: ActionGrid = DEFAULT_GRID) -> None:
        self.weights = weights
        self.grid = grid

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`."""
        observation = encode(windows, limits, objective, self.grid)
        scores = forward(self.weights, {name: array[None] for name, array in observation.items()})
        action = int(scores.logits[0].argmax())
        gain = float(scores.gain[0, action])
        chosen = self.grid.tuples[action]
        return advise(windows, chosen.core, f"{chosen} has the highest logit of the policy", "policy", gain)
