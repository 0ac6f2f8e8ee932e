"""Boosted trees on ratios find good configurations of workloads they have never seen, on any machine."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.agent.conftest import curves_of

from poolpilot.agent.baselines.ratio_trees import RatioTrees
from poolpilot.agent.baselines.trees import TreesSettings
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.errors import SettingError
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.machine_grid import MachineGrid

GRID = MachineGrid(sizes=(1, 2, 4, 8, 16, 32), multiples=(1.0, 8.0), oversubscribes=(3,), timer_intervals_ms=(10, 500))
QUICK = TreesSettings(iterations=60, min_samples_leaf=5)


def first_window(sweep: WorkloadSweep) -> Window:
    return sweep.entries[sweep.limits.default_tuple().core].windows[0]


@pytest.fixture(scope="module")
def trees(training: Sequence[WorkloadSweep]) -> RatioTrees:
    return RatioTrees.fit(curves_of(training, GRID), QUICK)


def test_what_is_named_is_better_than_the_default(trees: RatioTrees, held_out: Sequence[WorkloadSweep]) -> None:
    named = [trees.predict([first_window(sweep)], sweep.limits, sweep.objective).pool_tuple for sweep in held_out]
    lost = np.mean([sweep.regret(pool_tuple) for sweep, pool_tuple in zip(held_out, named, strict=True)])
    assert lost < 0.5 * np.mean([sweep.regret(sweep.limits.default_tuple()) for sweep in held_out])


def test_only_allowed_and_untried_configurations_are_named(trees: RatioTrees, waiting_sweep: WorkloadSweep) -> None:
    small, windows = KnobSpace.stock(3, max_pool_size=5), [first_window(waiting_sweep)]
    tried = []
    for _ in range(6):
        prediction = trees.predict(windows, small, waiting_sweep.objective)
        assert small.allows(prediction.pool_tuple)
        tried.append(prediction.pool_tuple)
        windows.append(replace(windows[0], pool_tuple=prediction.pool_tuple))
    assert len(set(tried)) == 6


def test_same_data_give_the_same_trees(
    trees: RatioTrees, training: Sequence[WorkloadSweep], held_out: Sequence[WorkloadSweep]
) -> None:
    again = RatioTrees.fit(curves_of(training, GRID), QUICK)
    for sweep in held_out:
        first = [first_window(sweep)]
        assert again.predict(first, sweep.limits, sweep.objective) == trees.predict(
            first, sweep.limits, sweep.objective
        )


def test_curves_without_ratios_are_refused(training: Sequence[WorkloadSweep]) -> None:
    curves = curves_of(training[:2], GRID)
    blind = tuple(curve.model_copy(update={"ratios": ()}) for curve in curves.curves)
    with pytest.raises(SettingError, match="no ratios"):
        RatioTrees.fit(curves.model_copy(update={"curves": blind}), QUICK)


def test_no_window_is_refused(trees: RatioTrees, waiting_sweep: WorkloadSweep) -> None:
    with pytest.raises(SettingError, match="at least one window"):
        trees.predict([], waiting_sweep.limits, waiting_sweep.objective)
