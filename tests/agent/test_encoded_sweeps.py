"""Sweeps as arrays: what training sees is what the environment and production see."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from poolpilot.agent.encoded_sweeps import INFEASIBLE_PENALTY, EncodedSweeps, draw_sets
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.observation import encode
from poolpilot.errors import StoreError


def test_observations_are_those_of_production(training: Sequence[WorkloadSweep], grid: ActionGrid) -> None:
    encoded = EncodedSweeps.of(training, grid)
    windows = [window for sweep in training for entry in sweep.entries.values() for window in entry.windows]
    sets = draw_sets(encoded, sets_per_sweep=2, most_windows=3, rng=np.random.default_rng(0))
    batch = encoded.observation(sets)
    for row, indices in enumerate(sets):
        sweep = training[encoded.sweep_of[indices[0]]]
        seen = [windows[index] for index in indices if index >= 0]
        expected = encode(seen, sweep.limits, sweep.objective, grid)
        assert batch.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_allclose(batch[name][row], array, atol=1e-5, err_msg=name)


def test_response_sets_hold_one_to_three_windows_of_one_sweep(
    training: Sequence[WorkloadSweep], grid: ActionGrid
) -> None:
    encoded = EncodedSweeps.of(training, grid)
    sets = draw_sets(encoded, sets_per_sweep=50, most_windows=3, rng=np.random.default_rng(0))
    present = sets >= 0
    assert set(present.sum(axis=1)) == {1, 2, 3}
    assert (present[:, 1:] <= present[:, :-1]).all()
    same = encoded.sweep_of[np.maximum(sets, 0)] == encoded.sweep_of[sets[:, :1]]
    assert same[present].all()


def test_oracle_has_no_regret_and_half_of_its_worth_has_half(waiting_sweep: WorkloadSweep, grid: ActionGrid) -> None:
    encoded = EncodedSweeps.of([waiting_sweep], grid)
    assert encoded.regret[0, grid.index_of(waiting_sweep.oracle_tuple)] == 0.0
    values = [waiting_sweep.value(pool_tuple) for pool_tuple in grid.tuples]
    expected = 1.0 - np.exp(np.array(values) - waiting_sweep.oracle_value)
    np.testing.assert_allclose(encoded.regret[0], np.maximum(expected, 0.0), atol=1e-6)


def test_infeasible_tuple_is_valued_below_its_throughput(waiting_sweep: WorkloadSweep, grid: ActionGrid) -> None:
    core = (16, 3, 500)
    broken = replace(waiting_sweep.entries[core], feasible=False)
    sweep = replace(waiting_sweep, entries={**waiting_sweep.entries, core: broken})
    action = [pool_tuple.core for pool_tuple in grid.tuples].index(core)
    encoded = EncodedSweeps.of([sweep], grid)
    assert encoded.outcome[0, action] == pytest.approx(broken.value - INFEASIBLE_PENALTY)


def test_tuple_never_measured_has_no_repeats_but_an_outcome(waiting_sweep: WorkloadSweep, grid: ActionGrid) -> None:
    entries = {core: entry for core, entry in waiting_sweep.entries.items() if core != (4, 3, 500)}
    encoded = EncodedSweeps.of([replace(waiting_sweep, entries=entries)], grid)
    action = [pool_tuple.core for pool_tuple in grid.tuples].index((4, 3, 500))
    assert encoded.repeats[0, action] == 0.0
    assert encoded.measured[0].sum() == len(grid) - 1
    assert encoded.outcome[0, action - 2] < encoded.outcome[0, action] < encoded.outcome[0, action + 2]


def test_no_sweep_is_refused(grid: ActionGrid) -> None:
    with pytest.raises(StoreError, match="no swept workload"):
        EncodedSweeps.of([], grid)


def test_sweep_off_the_grid_is_refused(waiting_sweep: WorkloadSweep) -> None:
    elsewhere = ActionGrid(sizes=(3, 5), oversubscribes=(3,), timer_intervals_ms=(500,))
    with pytest.raises(StoreError, match="'waiting' measured no configuration of the grid"):
        EncodedSweeps.of([waiting_sweep], elsewhere)
