"""The nearest workloads by ratios lend their best configurations, on machines of another size too."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from poolpilot.agent.baselines.nearest_ratios import NearestRatios, NearestRatiosSettings
from poolpilot.agent.baselines.ratio_library import RatioLibrary
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.errors import SettingError
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.machine_grid import MachineGrid

GRID = MachineGrid(sizes=(1, 2, 4, 8, 16, 32), multiples=(1.0, 8.0), oversubscribes=(3,), timer_intervals_ms=(10, 500))


def first_window(sweep: WorkloadSweep) -> Window:
    return sweep.entries[sweep.limits.default_tuple().core].windows[0]


@pytest.fixture
def library(waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep) -> RatioLibrary:
    return RatioLibrary.of_sweeps([waiting_sweep, contended_sweep], GRID)


def test_one_neighbour_lends_its_best_configuration(
    library: RatioLibrary, waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep
) -> None:
    nearest = NearestRatios(library, NearestRatiosSettings(neighbours=1))
    for sweep in (waiting_sweep, contended_sweep):
        named = nearest.predict([first_window(sweep)], sweep.limits, sweep.objective).pool_tuple
        assert named.pool_size == (16 if sweep is waiting_sweep else 2)


def test_names_only_what_the_server_allows(library: RatioLibrary, waiting_sweep: WorkloadSweep) -> None:
    small = KnobSpace.stock(2, max_pool_size=5)
    windows = [first_window(waiting_sweep)]
    nearest = NearestRatios(library)
    for _ in range(12):
        named = nearest.predict(windows, small, waiting_sweep.objective).pool_tuple
        assert small.allows(named)
        windows.append(replace(windows[0], pool_tuple=named))


def test_every_trial_is_new_until_all_were_tried(library: RatioLibrary, waiting_sweep: WorkloadSweep) -> None:
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


def test_neighbours_are_found_by_the_first_window_alone(
    library: RatioLibrary, waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep
) -> None:
    nearest = NearestRatios(library, NearestRatiosSettings(neighbours=1))
    first, later = first_window(waiting_sweep), contended_sweep.entries[(4, 3, 500)].windows[0]
    alone = nearest.predict([first], waiting_sweep.limits, waiting_sweep.objective)
    assert nearest.predict([first, later], waiting_sweep.limits, waiting_sweep.objective).pool_tuple == alone.pool_tuple


def test_sizes_are_multiples_of_the_processors_too(waiting_sweep: WorkloadSweep) -> None:
    multiples = MachineGrid(sizes=(), multiples=(1.0, 8.0), oversubscribes=(3,), timer_intervals_ms=(500,))
    nearest = NearestRatios(RatioLibrary.of_sweeps([waiting_sweep], multiples))
    named = nearest.predict([first_window(waiting_sweep)], KnobSpace.stock(12), waiting_sweep.objective).pool_tuple
    assert named.pool_size == 96


def test_what_a_server_does_not_tell_is_no_difference(library: RatioLibrary, waiting_sweep: WorkloadSweep) -> None:
    blind = replace(library, ratios=np.where(np.arange(library.ratios.shape[1]) == 0, np.nan, library.ratios))
    first = first_window(waiting_sweep)
    assert NearestRatios(blind).nearest(first, waiting_sweep.objective)[0] == 0


def test_library_leaves_a_family_out_and_joins(training: Sequence[WorkloadSweep], waiting_sweep: WorkloadSweep) -> None:
    library = RatioLibrary.of_sweeps(training, GRID)
    rest = library.without_family("contention")
    assert 0 < len(rest) < len(library)
    assert "contention" not in rest.families
    assert rest.log_worth.shape == (len(rest), len(GRID))
    joined = RatioLibrary.joined([rest, RatioLibrary.of_sweeps([waiting_sweep], GRID)])
    assert len(joined) == len(rest) + 1
    assert joined.families[-1] == "waits"


def test_library_states_what_the_sweep_measured(waiting_sweep: WorkloadSweep) -> None:
    library = RatioLibrary.of_sweeps([waiting_sweep], GRID)
    known = library.on(waiting_sweep.limits, waiting_sweep.objective)
    for pool_tuple, value in zip(known.tuples, known.values[0], strict=True):
        assert value == pytest.approx(waiting_sweep.value(pool_tuple))


def test_bad_calls_are_refused(library: RatioLibrary, waiting_sweep: WorkloadSweep) -> None:
    with pytest.raises(SettingError, match="at least one window"):
        NearestRatios(library).predict([], waiting_sweep.limits, waiting_sweep.objective)
