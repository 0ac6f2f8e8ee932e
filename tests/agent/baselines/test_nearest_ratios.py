"""The nearest workloads by ratios lend their best configurations, on machines of another size too."""

from dataclasses import replace

import pytest
from tests.agent.conftest import curves_of

from poolpilot.agent.baselines.nearest_ratios import NearestRatios, NearestRatiosSettings
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.errors import SettingError
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.response_curves import ResponseCurves

GRID = MachineGrid(sizes=(1, 2, 4, 8, 16, 32), multiples=(1.0, 8.0), oversubscribes=(3,), timer_intervals_ms=(10, 500))


def first_window(sweep: WorkloadSweep) -> Window:
    return sweep.entries[sweep.limits.default_tuple().core].windows[0]


@pytest.fixture
def library(waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep) -> ResponseCurves:
    return curves_of([waiting_sweep, contended_sweep], GRID)


def test_one_neighbour_lends_its_best_configuration(
    library: ResponseCurves, waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep
) -> None:
    nearest = NearestRatios(library, NearestRatiosSettings(neighbours=1))
    for sweep in (waiting_sweep, contended_sweep):
        named = nearest.predict([first_window(sweep)], sweep.limits, sweep.objective).pool_tuple
        assert named.pool_size == (16 if sweep is waiting_sweep else 2)


def test_names_only_what_the_server_allows(library: ResponseCurves, waiting_sweep: WorkloadSweep) -> None:
    small = KnobSpace.stock(2, max_pool_size=5)
    windows = [first_window(waiting_sweep)]
    nearest = NearestRatios(library)
    for _ in range(12):
        named = nearest.predict(windows, small, waiting_sweep.objective).pool_tuple
        assert small.allows(named)
        windows.append(replace(windows[0], pool_tuple=named))


def test_every_trial_is_new_until_all_were_tried(library: ResponseCurves, waiting_sweep: WorkloadSweep) -> None:
    nearest, windows = NearestRatios(library), [first_window(waiting_sweep)]
    named = []
    for _ in range(3):
        prediction = nearest.predict(windows, waiting_sweep.limits, waiting_sweep.objective)
        named.append(prediction.pool_tuple.core)
        windows.append(waiting_sweep.entries[prediction.pool_tuple.core].windows[0])
    assert len({*named, windows[0].pool_tuple.core}) == 4
    assert named == [
        nearest.predict(windows[:count], waiting_sweep.limits, waiting_sweep.objective).pool_tuple.core
        for count in (1, 2, 3)
    ]


def test_sizes_are_multiples_of_the_processors_too(waiting_sweep: WorkloadSweep) -> None:
    multiples = MachineGrid(sizes=(), multiples=(1.0, 8.0), oversubscribes=(3,), timer_intervals_ms=(500,))
    nearest = NearestRatios(curves_of([waiting_sweep], multiples))
    named = nearest.predict([first_window(waiting_sweep)], KnobSpace.stock(12), waiting_sweep.objective).pool_tuple
    assert named.pool_size == 96


def test_how_j_answered_says_nothing_of_who_is_near(library: ResponseCurves, waiting_sweep: WorkloadSweep) -> None:
    nearest, first = NearestRatios(library, NearestRatiosSettings(neighbours=1)), first_window(waiting_sweep)
    slower = replace(first, classes={}, duration_s=100.0)
    said = [nearest.predict([one], waiting_sweep.limits, waiting_sweep.objective) for one in (first, slower)]
    assert said[0].pool_tuple == said[1].pool_tuple


def test_bad_calls_are_refused(library: ResponseCurves, waiting_sweep: WorkloadSweep) -> None:
    with pytest.raises(SettingError, match="at least one window"):
        NearestRatios(library).predict([], waiting_sweep.limits, waiting_sweep.objective)
