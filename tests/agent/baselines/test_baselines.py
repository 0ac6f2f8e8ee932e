"""The baselines on workloads whose best size is known."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from poolpilot.agent.baselines.formulas import LittleFormula, SizeFormula, WaitRatioFormula
from poolpilot.agent.baselines.nearest import NearestWorkload
from poolpilot.agent.baselines.sbs import SingleBestStatic, SingleBestStaticSettings
from poolpilot.agent.baselines.static import DefaultPredictor, StaticPredictor
from poolpilot.agent.baselines.trees import BoostedTrees, TreesSettings, on_server
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.observation import scaled_log, tuple_inputs
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.architecture import grid_coordinates


def window_of(sweep: WorkloadSweep, size: int = 2) -> Window:
    return sweep.entries[(size, 3, 500)].windows[0]


def with_features(window: Window, **features: float | None) -> Window:
    return replace(window, profile=replace(window.profile, features={**window.profile.features, **features}))


def size_named(predictor: Predictor, sweep: WorkloadSweep, size: int = 2) -> int:
    prediction = predictor.predict([window_of(sweep, size)], sweep.limits, sweep.objective)
    assert not prediction.abstained
    assert prediction.in_force.pool_size == size
    return prediction.pool_tuple.pool_size


def test_single_best_static_tuple_has_the_least_mean_regret(
    waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep, grid: ActionGrid
) -> None:
    sweeps = [waiting_sweep, waiting_sweep, contended_sweep]
    sbs = SingleBestStatic.fit(sweeps, grid=grid)
    means = {pool_tuple: np.mean([sweep.regret(pool_tuple) for sweep in sweeps]) for pool_tuple in grid.tuples}
    assert means[sbs.pool_tuple] == pytest.approx(min(means.values()), abs=1e-6)
    assert size_named(sbs, contended_sweep) == sbs.pool_tuple.pool_size


def test_single_best_static_tuple_stays_within_the_limits(waiting_sweep: WorkloadSweep, grid: ActionGrid) -> None:
    sbs = SingleBestStatic.fit([waiting_sweep], grid=grid)
    small = KnobSpace.stock(2, max_pool_size=8)
    prediction = sbs.predict([window_of(waiting_sweep)], small, waiting_sweep.objective)
    assert (sbs.pool_tuple.pool_size, prediction.pool_tuple.pool_size) == (16, 8)


def test_tuple_that_few_sweeps_measured_cannot_be_the_single_best(
    waiting_sweep: WorkloadSweep, grid: ActionGrid
) -> None:
    without = {core: entry for core, entry in waiting_sweep.entries.items() if core[0] != 16}
    sweeps = [waiting_sweep, replace(waiting_sweep, entries=without), replace(waiting_sweep, entries=without)]
    strict, lenient = (
        SingleBestStatic.fit(sweeps, SingleBestStaticSettings(min_coverage=share), grid) for share in (0.5, 0.0)
    )
    assert strict.pool_tuple.pool_size != 16
    assert lenient.pool_tuple.pool_size == 16


@pytest.mark.parametrize("size", [1, 2, 32])
def test_nearest_workload_lends_its_best_tuple(
    waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep, grid: ActionGrid, size: int
) -> None:
    nearest = NearestWorkload.fit([waiting_sweep, contended_sweep], grid=grid)
    assert size_named(nearest, waiting_sweep, size) == waiting_sweep.oracle_tuple.pool_size == 16
    assert size_named(nearest, contended_sweep, size) == contended_sweep.oracle_tuple.pool_size == 2


def test_nearest_workload_states_the_gain_that_was_stored(waiting_sweep: WorkloadSweep, grid: ActionGrid) -> None:
    nearest = NearestWorkload.fit([waiting_sweep], grid=grid)
    window = window_of(waiting_sweep)
    gain = nearest.predict([window], waiting_sweep.limits, waiting_sweep.objective).expected_gain
    assert gain == pytest.approx(waiting_sweep.oracle_value - waiting_sweep.value(window.pool_tuple), abs=1e-5)


def test_nearest_workload_prefers_the_repeated_oracle_to_a_lucky_window(
    waiting_sweep: WorkloadSweep, grid: ActionGrid
) -> None:
    lucky = waiting_sweep.entries[(1, 3, 500)]
    entries = {core: replace(entry, last_round=1) for core, entry in waiting_sweep.entries.items()}
    entries[(1, 3, 500)] = replace(lucky, windows=lucky.windows[:1], values=(99.0,), last_round=0)
    sweep = replace(waiting_sweep, entries=entries)
    assert size_named(NearestWorkload.fit([sweep], grid=grid), waiting_sweep) == 16


def test_trees_name_good_tuples_for_workloads_never_seen(
    training: Sequence[WorkloadSweep], held_out: Sequence[WorkloadSweep], grid: ActionGrid
) -> None:
    trees = BoostedTrees.fit(training, TreesSettings(iterations=60, max_rows=4000), grid)
    static = SingleBestStatic.fit(training, grid=grid).pool_tuple
    regrets = [
        sweep.regret(trees.predict([window_of(sweep)], sweep.limits, sweep.objective).pool_tuple) for sweep in held_out
    ]
    assert np.mean(regrets) < np.mean([sweep.regret(static) for sweep in held_out]) / 2.0


def test_trees_predict_the_gain_they_were_fitted_to(waiting_sweep: WorkloadSweep, grid: ActionGrid) -> None:
    trees = BoostedTrees.fit([waiting_sweep], TreesSettings(min_samples_leaf=1), grid)
    window = window_of(waiting_sweep)
    prediction = trees.predict([window], waiting_sweep.limits, waiting_sweep.objective)
    gain = waiting_sweep.oracle_value - waiting_sweep.value(window.pool_tuple)
    assert prediction.expected_gain == pytest.approx(gain, abs=0.02)


def test_trees_see_the_tuple_inputs_of_the_network(grid: ActionGrid) -> None:
    context = np.tile(np.array([scaled_log(4), scaled_log(200)], np.float32), (len(grid), 1))
    expected = [tuple_inputs(pool_tuple, cpus=4, connections=200) for pool_tuple in grid.tuples]
    np.testing.assert_allclose(on_server(grid_coordinates(grid), context), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("formula", "features", "size"),
    [
        (WaitRatioFormula, {"wait_to_cpu": 7.0}, 16),
        (WaitRatioFormula, {"wait_to_cpu": 0.0}, 2),
        (WaitRatioFormula, {"wait_to_cpu": 1e6}, 32),
        (WaitRatioFormula, {"wait_to_cpu": None}, 2),
        (LittleFormula, {"in_system": 40.0, "queue_share": 0.9}, 4),
        (LittleFormula, {"in_system": 0.0, "queue_share": 0.0}, 1),
        (LittleFormula, {"in_system": 40.0, "queue_share": None}, 2),
    ],
)
def test_formula_sizes_the_pool(
    formula: type[SizeFormula],
    features: dict[str, float | None],
    size: int,
    waiting_sweep: WorkloadSweep,
    grid: ActionGrid,
) -> None:
    window = with_features(window_of(waiting_sweep), **features)
    prediction = formula(grid).predict([window], waiting_sweep.limits, waiting_sweep.objective)
    assert prediction.pool_tuple == PoolTuple(size, 3, 500)


def test_static_baselines_look_at_nothing(waiting_sweep: WorkloadSweep) -> None:
    assert size_named(DefaultPredictor(), waiting_sweep, 8) == 2
    assert size_named(StaticPredictor(PoolTuple(32, 3, 10)), waiting_sweep) == 32
    with pytest.raises(SettingError, match="pool_size is 1000"):
        size_named(StaticPredictor(PoolTuple(1000, 3, 10)), waiting_sweep)


def test_baseline_refuses_to_advise_without_a_window(
    waiting_sweep: WorkloadSweep, training: Sequence[WorkloadSweep], grid: ActionGrid
) -> None:
    baselines: list[Predictor] = [
        DefaultPredictor(),
        StaticPredictor(PoolTuple(2, 3, 500)),
        WaitRatioFormula(grid),
        SingleBestStatic.fit(training, grid=grid),
        NearestWorkload.fit(training, grid=grid),
        BoostedTrees.fit(training, TreesSettings(iterations=1), grid),
    ]
    for baseline in baselines:
        with pytest.raises(SettingError, match="at least one window"):
            baseline.predict([], waiting_sweep.limits, waiting_sweep.objective)
