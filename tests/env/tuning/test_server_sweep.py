"""What a sweep would set and for how long is known before anything is set."""

from poolpilot.env.action_grid import DEFAULT_GRID, LARGE_GRID
from poolpilot.env.measurement.protocol import MARIADB_RACING, MeasurementSettings
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.server_sweep import dry_run, grid_tuples, longest_sweep_s
from poolpilot.featurizer.pool_tuple import PoolTuple

FIRST = PoolTuple(3, 3, 400, idle_timeout_s=5.0)


def test_the_grid_is_swept_as_far_as_the_server_takes_it_and_what_is_in_force_too() -> None:
    server = CurveServer([(1, 100)], initial=FIRST)
    tuples = grid_tuples(server, FIRST)
    assert {one.core for one in tuples} == {FIRST.core, *(one.core for one in DEFAULT_GRID.tuples)}
    assert {one.idle_timeout_s for one in tuples} == {5.0}
    assert len(grid_tuples(server, FIRST, LARGE_GRID)) == len(LARGE_GRID) + 1


def test_the_longest_time_is_that_of_all_windows_under_the_slowest_timer() -> None:
    racing = MeasurementSettings(settle_s=1.0, settle_intervals=0.0, window_s=2.0, window_ticks=0.0)
    tuples = grid_tuples(CurveServer([(1, 100)]), FIRST)
    assert longest_sweep_s(tuples, racing) == 3.0 * racing.most_windows(len(tuples), holds_reference=True)
    slow = [*tuples, FIRST.with_core((3, 3, 10_000))]
    assert longest_sweep_s(slow, MARIADB_RACING) > longest_sweep_s(tuples, MARIADB_RACING)


def test_a_dry_run_says_what_would_be_set() -> None:
    tuples = grid_tuples(CurveServer([(1, 100)]), FIRST)
    assert dry_run(tuples, MARIADB_RACING).startswith("Would set 29 configurations from (1, 1, 10) to (64, 3, 500)")
