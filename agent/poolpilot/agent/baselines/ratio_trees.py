"""Boosted trees on ratios: the gain of every configuration by regression, on any machine."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from poolpilot.agent.baselines.choice import advise
from poolpilot.agent.baselines.trees import TreesSettings, regressor_of
from poolpilot.env.action_grid import log_core
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.ratios import ratios_of
from poolpilot.models.latent.response_curves import ResponseCurves

Floats = NDArray[np.float64]

LARGEST_LOSS = 3.0
"""Losses in ln J beyond this are learned as this: e^-3 is 5 % of the best, and how much worse decides nothing."""


class RatioTrees:
    """Names the configuration of the greatest predicted J that was not tried yet.

    It predicts how far J of a configuration lies below the best of its workload, from the ratios of the window of the
    first tuple and the configuration: its size in groups, for each processor and for each connection.

    Args:
        grid: The configurations, stated for any machine.
        known: Which ratios any workload had; the trees cannot split on the others, (R,).
        regressor: Fitted to `ratio_tree_inputs`.
    """

    def __init__(self, grid: MachineGrid, known: NDArray[np.bool_], regressor: HistGradientBoostingRegressor) -> None:
        self.grid = grid
        self._known = known
        self._regressor: Any = regressor

    @classmethod
    def fit(cls, curves: ResponseCurves, settings: TreesSettings | None = None) -> Self:
        """Fits the trees to every configuration of every curve of which ratios were kept; every family weighs the same.

        Raises:
            SettingError: No curve has ratios.
        """
        learned = [place for place, curve in enumerate(curves.curves) if curve.ratios]
        if not learned:
            raise SettingError(
                "the response curves hold no ratios of windows to learn from; make them anew: poolpilot learn curves"
            )
        firsts = np.stack([curves.ratios[place, _default_place(curves, place)] for place in learned])
        known: NDArray[np.bool_] = np.isfinite(firsts).sum(axis=0) > 0
        rows = [_rows_of(curves, place, first[known]) for place, first in zip(learned, firsts, strict=True)]
        worths = curves.log_worth[learned]
        lost = np.maximum(worths - worths.max(axis=1, keepdims=True), -LARGEST_LOSS)
        weights = np.repeat(curves.prior[learned], lost.shape[1])
        regressor = regressor_of(settings or TreesSettings())
        regressor.fit(np.concatenate(rows), lost.ravel(), sample_weight=weights / weights.mean())
        return cls(curves.grid, known, regressor)

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`.

        Raises:
            SettingError: There is no window, or the server allows no configuration of the grid.
        """
        if not windows:
            raise SettingError("a prediction needs at least one window; measure the configuration in force first")
        first, tuples = windows[0], self.grid.on(limits).tuples
        connections = first.profile.features.get("connections") or 1.0
        inputs = ratio_tree_inputs(ratios_of(first.profile.features)[self._known], tuples, limits.cpus, connections)
        sizes = np.array([pool_tuple.pool_size for pool_tuple in tuples])
        values = self._regressor.predict(inputs) - objective.price_of_thread * np.log(sizes)
        measured = {window.pool_tuple.core for window in windows}
        done = np.array([pool_tuple.core in measured for pool_tuple in tuples])
        if done.all():
            best = objective.best(windows).pool_tuple
            return advise(windows, best.core, f"{best} is the best measured, and there is no other", "ratio_trees")
        named = tuples[int(np.argmax(np.where(done, -np.inf, values)))]
        return advise(
            windows, named.core, f"{named} has the greatest J of those untried by boosted trees", "ratio_trees"
        )


def ratio_tree_inputs(ratios: Floats, tuples: Sequence[PoolTuple], cpus: int, connections: float) -> Floats:
    """Inputs of the trees: a row for each tuple, which the ratios of the window begin, (U, R + 5).

    Args:
        ratios: Known ratios of the first window, NaN where one is not, (R,).
        tuples: The candidates, U of them.
        cpus: Processors of the server.
        connections: Connections of the workload.
    """
    logs = log_core(np.array([pool_tuple.core for pool_tuple in tuples]))
    per_cpu, per_connection = logs[:, :1] - np.log2(cpus), logs[:, :1] - np.log2(max(connections, 1.0))
    return np.concatenate([np.tile(ratios, (len(tuples), 1)), logs, per_cpu, per_connection], axis=1)


def _default_place(curves: ResponseCurves, place: int) -> int:
    """Which of the reference columns is nearest to the default of the curve's machine."""
    limits = KnobSpace.stock(curves.curves[place].cpus)
    return curves.grid.nearest_reference(limits, limits.default_tuple())


def _rows_of(curves: ResponseCurves, place: int, ratios: Floats) -> Floats:
    curve = curves.curves[place]
    columns = curves.grid.columns_on(KnobSpace.stock(curve.cpus))
    return ratio_tree_inputs(ratios, columns, curve.cpus, float(curve.connections))
