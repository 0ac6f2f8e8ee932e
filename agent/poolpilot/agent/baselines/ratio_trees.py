"""Boosted trees on ratios: the gain of every configuration by regression, on any machine."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from poolpilot.agent.baselines.choice import advise, best_measured
from poolpilot.agent.baselines.ratio_library import RatioLibrary
from poolpilot.agent.baselines.ratios import ratios_of
from poolpilot.agent.baselines.trees import TreesSettings, regressor_of
from poolpilot.env.action_grid import log_core
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.predictor import Prediction

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
    def fit(cls, library: RatioLibrary, settings: TreesSettings | None = None) -> Self:
        """Fits the trees to every configuration of every known workload; every family weighs the same."""
        known: NDArray[np.bool_] = np.isfinite(library.ratios).sum(axis=0) > 0
        rows, targets, weights = [], [], []
        for place, family in enumerate(library.families):
            cpus = int(library.cpus[place])
            columns = library.grid.columns_on(KnobSpace.stock(cpus))
            worth = library.log_worth[place]
            rows.append(
                ratio_tree_inputs(library.ratios[place, known], columns, cpus, float(library.connections[place]))
            )
            targets.append(np.maximum(worth - worth.max(), -LARGEST_LOSS))
            weights.append(np.full(len(columns), 1.0 / library.families.count(family)))
        regressor = regressor_of(settings or TreesSettings())
        regressor.fit(np.concatenate(rows), np.concatenate(targets), sample_weight=np.concatenate(weights))
        return cls(library.grid, known, regressor)

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`.

        Raises:
            SettingError: There is no window, or the server allows no configuration of the grid.
        """
        if not windows:
            raise SettingError("a prediction needs at least one window; measure the tuple in force first")
        first, tuples = windows[0], self.grid.on(limits).tuples
        connections = first.profile.features.get("connections") or 1.0
        inputs = ratio_tree_inputs(ratios_of(first, objective)[self._known], tuples, limits.cpus, connections)
        sizes = np.array([pool_tuple.pool_size for pool_tuple in tuples])
        values = self._regressor.predict(inputs) - objective.price_of_thread * np.log(sizes)
        measured = {window.pool_tuple.core for window in windows}
        done = np.array([pool_tuple.core in measured for pool_tuple in tuples])
        if done.all():
            best = best_measured(windows, objective).pool_tuple
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
