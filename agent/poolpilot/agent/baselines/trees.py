"""Boosted trees: the gain of every tuple by regression on profile and tuple; the baseline on equal inputs."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from sklearn.ensemble import HistGradientBoostingRegressor

from poolpilot.agent.baselines.choice import advise, best_allowed
from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.observation import EncodedWindow, encode_window
from poolpilot.errors import SettingError
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.architecture import CONTEXT_MAP, COORDINATE_MAP, THROTTLED_FROM, grid_coordinates

Rows = NDArray[np.float32]


class TreesSettings(BaseModel):
    """Size and pace of the boosted trees."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    iterations: int = Field(default=300, ge=1, description="Trees.")
    learning_rate: float = Field(default=0.1, gt=0.0, description="Share of each tree's correction that is taken.")
    max_leaf_nodes: int = Field(default=31, ge=2, description="Leaves of a tree.")
    min_samples_leaf: int = Field(default=20, ge=1, description="Rows a leaf must hold.")
    l2_regularization: float = Field(default=0.0, ge=0.0, description="Penalty on the leaves' values.")
    max_rows: int = Field(
        default=150_000, ge=1, description="Pairs of window and candidate to train on, drawn at random beyond that."
    )
    seed: int = Field(default=0, ge=0, description="Seed of the draw.")


def regressor_of(settings: TreesSettings) -> HistGradientBoostingRegressor:
    """Trees that are not fitted yet."""
    return HistGradientBoostingRegressor(
        max_iter=settings.iterations,
        learning_rate=settings.learning_rate,
        max_leaf_nodes=settings.max_leaf_nodes,
        min_samples_leaf=settings.min_samples_leaf,
        l2_regularization=settings.l2_regularization,
        early_stopping=False,
        random_state=settings.seed,
    )


class BoostedTrees:
    """Names the tuple of the greatest predicted gain.

    Several windows are averaged: each predicts the J of every tuple as its own J plus the gain over its tuple.

    Args:
        grid: The grid of the tuples.
        known: Which features any training window had; the trees cannot split on the others, (F,).
        regressor: Fitted to `tree_inputs`.
    """

    def __init__(self, grid: ActionGrid, known: NDArray[np.bool_], regressor: HistGradientBoostingRegressor) -> None:
        self.grid = grid
        self._known = known
        self._regressor: Any = regressor
        self._candidates = grid_coordinates(grid)

    @classmethod
    def fit(
        cls, sweeps: Sequence[WorkloadSweep], settings: TreesSettings | None = None, grid: ActionGrid = DEFAULT_GRID
    ) -> Self:
        """Fits the trees to the gain of every measured tuple over every window's.

        Raises:
            StoreError: There is no sweep.
        """
        settings = settings or TreesSettings()
        encoded = EncodedSweeps.of(sweeps, grid)
        windows, actions = np.nonzero(encoded.measured[encoded.sweep_of])
        if len(windows) > settings.max_rows:
            rng = np.random.default_rng(settings.seed)
            kept = rng.choice(len(windows), size=settings.max_rows, replace=False)
            windows, actions = windows[kept], actions[kept]
        sweep_of = encoded.sweep_of[windows]
        known = encoded.feature_mask.max(axis=0) > 0.0
        regressor = regressor_of(settings)
        regressor.fit(
            _inputs_of(encoded, known, windows, grid_coordinates(grid)[actions]),
            encoded.outcome[sweep_of, actions] - encoded.reference[windows],
            sample_weight=np.sqrt(encoded.repeats[sweep_of, actions]),
        )
        return cls(grid, known, regressor)

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`."""
        if not windows:
            raise SettingError("a prediction needs at least one window; measure the configuration in force first")
        encoded = [encode_window(window, limits, objective) for window in windows]
        values = np.stack([self._values(window) for window in encoded]).mean(axis=0)
        best = best_allowed(values, self.grid, limits)
        gain = float(values[best]) - encoded[0].value
        pool_tuple = self.grid.tuples[best]
        reason = f"{pool_tuple} has the greatest gain by boosted trees: {gain:+.2f} in ln(goodput)"
        return advise(windows, pool_tuple.core, reason, "trees", gain)

    def _values(self, window: EncodedWindow) -> NDArray[np.float64]:
        """Predicted J of every tuple, (A,)."""
        count = len(self._candidates)
        context = np.tile(window.context, (count, 1))
        inputs = tree_inputs(
            np.tile(window.features[self._known], (count, 1)),
            np.tile(window.feature_mask[self._known], (count, 1)),
            on_server(np.tile(window.tuple_logs, (count, 1)), context),
            on_server(self._candidates, context),
        )
        gains: NDArray[np.float64] = self._regressor.predict(inputs)
        return gains + window.value


def tree_inputs(features: Rows, feature_mask: Rows, tuples: Rows, candidates: Rows) -> Rows:
    """Inputs of the trees, one row per pair of a window and a candidate tuple.

    Args:
        features: Scaled features of the window, (N, F).
        feature_mask: 1 where present, (N, F); what is missing becomes NaN, which the trees branch on.
        tuples: Tuple inputs of the window's tuple, (N, 7).
        candidates: Tuple inputs of the candidate, (N, 7).

    Returns:
        Rows of shape (N, F + 14).
    """
    return np.concatenate([np.where(feature_mask > 0.0, features, np.nan), tuples, candidates], axis=1)


def on_server(coordinates: Rows, context: Rows) -> Rows:
    """The inputs of `poolpilot.env.observation.tuple_inputs` for many tuples, (N, 3) and (N, 2) to (N, 7)."""
    throttled = (coordinates[:, 2:] >= THROTTLED_FROM).astype(np.float32)
    return np.concatenate([coordinates @ COORDINATE_MAP + context @ CONTEXT_MAP, throttled], axis=1)


def _inputs_of(encoded: EncodedSweeps, known: NDArray[np.bool_], windows: NDArray[np.int64], candidates: Rows) -> Rows:
    context = encoded.context[windows]
    return tree_inputs(
        encoded.features[windows][:, known],
        encoded.feature_mask[windows][:, known],
        on_server(encoded.tuples[windows], context),
        on_server(candidates, context),
    )
