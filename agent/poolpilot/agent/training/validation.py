"""Which weights are kept: those whose decisions cost least on validation sweeps, the initial ones included."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.baselines.choice import advise
from poolpilot.agent.controllers.refiner import Refiner, RefinerSettings, refine_recorded
from poolpilot.agent.training.network_metrics import regret_metrics
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.observation import ENTRIES, encode
from poolpilot.errors import StoreError
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.forward import forward


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
        pool_tuple = self.grid.tuples[action]
        return advise(windows, pool_tuple.core, f"{pool_tuple} has the highest logit of the policy", "policy", gain)


Weights = Mapping[str, NDArray[np.float32]]
"""Arrays of the score network by name, as `ScoreNetwork.state_to_numpy` gives them."""


class ValidationSettings(BaseModel):
    """What weights are put through."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    starts: int = Field(default=4, ge=1, description="Initial configurations of every sweep.")
    decisions: int = Field(default=3, ge=1, le=ENTRIES - 1, description="Decisions of the refiner.")
    seed: int = Field(default=0, ge=0, description="Seed of the starts and of the replay.")


@dataclass(frozen=True)
class ValidationResult:
    """Regrets on validation sweeps, one per sweep and starting tuple.

    Attributes:
        one_shot: Of the first decision, (N,).
        refined: Of the tuple the refiner ends on, (N,).
    """

    one_shot: NDArray[np.float64]
    refined: NDArray[np.float64]

    @property
    def score(self) -> float:
        """What the kept weights minimise; neither the first decision nor the last may pay for the other."""
        return float(self.one_shot.mean() + self.refined.mean()) / 2.0

    def metrics(self) -> dict[str, float]:
        """Median, 90th percentile and mean of both."""
        return {
            **regret_metrics("validation_one_shot", self.one_shot),
            **regret_metrics("validation_refined", self.refined),
            "validation_score": self.score,
        }


def evaluate_weights(
    weights: Weights,
    sweeps: Sequence[WorkloadSweep],
    settings: ValidationSettings | None = None,
    grid: ActionGrid = DEFAULT_GRID,
) -> ValidationResult:
    """Plays the greedy policy on replayed sweeps; starts and replays are the same for all weights."""
    settings = settings or ValidationSettings()
    refiner = Refiner(GreedyPolicy(weights, grid), RefinerSettings(decisions=settings.decisions))
    one_shot, refined = [], []
    for index, sweep in enumerate(sweeps):
        measured = [
            pool_tuple
            for pool_tuple in grid.tuples
            if pool_tuple.core in sweep.entries and sweep.limits.allows(pool_tuple)
        ]
        rng = np.random.default_rng((settings.seed, index))
        for start in rng.choice(len(measured), size=min(settings.starts, len(measured)), replace=False):
            done = refine_recorded(refiner, sweep, measured[int(start)], int(rng.integers(2**31)))
            one_shot.append(sweep.regret_within_floors(done.one_shot))
            refined.append(sweep.regret_within_floors(done.pool_tuple))
    return ValidationResult(np.array(one_shot), np.array(refined))


class BestWeights:
    """Keeps the best of the weights offered; the initial ones are the first offer.

    Where training gains nothing the initial weights stay the best, and `gain_over_initial` stays 0.

    Args:
        initial: Weights that training starts from.
        sweeps: Validation sweeps.
        settings: What weights are put through.
        grid: The grid of the actions.

    Raises:
        StoreError: There is no validation sweep.
    """

    def __init__(
        self, initial: Weights, sweeps: Sequence[WorkloadSweep], settings: ValidationSettings, grid: ActionGrid
    ) -> None:
        if not sweeps:
            raise StoreError("there is no validation workload to choose weights by; collect some first")
        self._sweeps, self._settings, self._grid = sweeps, settings, grid
        judged = evaluate_weights(initial, sweeps, settings, grid)
        self.best = initial
        self._initial = self._lowest = judged.score
        self.initial_metrics = {**judged.metrics(), "gain_over_initial": 0.0}

    def offer(self, weights: Weights) -> dict[str, float]:
        """Judges weights, keeps them if they are the best so far, and returns the metrics."""
        judged = evaluate_weights(weights, self._sweeps, self._settings, self._grid)
        if judged.score < self._lowest:
            self.best, self._lowest = weights, judged.score
        return {**judged.metrics(), "gain_over_initial": self._initial - self._lowest}
