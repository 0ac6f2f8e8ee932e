"""A floor that breaks at one configuration tells how far another may go, and what is allowed and better is found."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import ROWS, Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.catalogue import ROWS_READ_PER_S
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.observations.floor_limits import (
    forbidden_by_floors,
    furthest_within_floors,
    near_first,
    within_floors,
)
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.native_pool.workload import RequestClass, Step, Workload

DEFAULT = PoolTuple(2, 3, 500)
POINTS = RequestClass("points", (Step("cpu", us=100.0, variation=0.3),), share=0.93)
SCANS = RequestClass("scans", (Step("cpu", us=120_000.0, variation=0.2),), share=0.07)
BESIDE_SCANS = Workload("beside_scans", "beside_scans", (POINTS, SCANS), connections=64, cpus=2, seed=3)
DECISIONS = 5


def window_under(pool_tuple: PoolTuple) -> Window:
    server = SimulatedServer(BESIDE_SCANS, CALIBRATED, initial=pool_tuple)
    server.run_for(2.0)
    return observe(server, 4.0).window


def objective_with(floor: float) -> Objective:
    return Objective(weights={"scans": 0.0}, min_share={"scans": floor})


def windows_of_trials(objective: Objective) -> Sequence[Window]:
    bandit, knobs = Advisor(Model.of(load_curves()), Purpose.TRIAL), SimulatedServer(BESIDE_SCANS, CALIBRATED).knobs
    windows = [window_under(DEFAULT)]
    for _ in range(DECISIONS):
        named = bandit.predict(windows, knobs, objective).pool_tuple
        if named.core in {window.pool_tuple.core for window in windows}:
            break
        windows.append(window_under(named))
    return windows


@pytest.mark.parametrize(("floor", "gain"), [(0.2, 40.0), (0.3, 40.0), (0.5, 20.0), (0.6, 15.0)])
def test_trials_find_what_the_floor_allows(floor: float, gain: float) -> None:
    objective = objective_with(floor)
    windows = windows_of_trials(objective)
    best = objective.best(windows)
    assert objective.kept_floors(best, windows[0])["scans"].kept >= floor
    assert objective.goodput_per_s(best) >= gain * objective.goodput_per_s(windows[0])


def test_what_was_forbidden_is_said_with_its_worth_and_what_would_allow_it() -> None:
    windows = [window_under(DEFAULT), window_under(PoolTuple(16, 3, 500))]
    objective = objective_with(0.5)
    (broken,) = objective.broken_floors(windows[1], windows[0])
    assert (broken.name, broken.floor) == ("scans", 0.5)
    assert 0.1 < broken.kept < 0.3
    said = forbidden_by_floors(windows, objective)
    assert said is not None
    assert "instead of 242 requests/s under (2, 3, 500)" in said
    assert f"left the class 'scans' {100 * broken.kept:.0f} % of what it had, and its floor is 50 %" in said
    allowing = float(said.partition("at most ")[2].partition(" ")[0])
    assert 0.0 < allowing <= broken.kept
    assert objective_with(allowing).feasible(windows[1], windows[0])
    assert forbidden_by_floors(windows, objective_with(allowing)) is None


def test_larger_sizes_than_one_that_broke_a_floor_are_not_tried_and_those_between_are() -> None:
    tuples = [PoolTuple(size, 3, timer) for timer in (10, 500) for size in (1, 2, 4, 8, 16, 32)]
    windows = [window_under(DEFAULT), window_under(PoolTuple(16, 3, 500))]
    allowed = within_floors(tuples, windows, objective_with(0.3))
    left = {one.core for one, may in zip(tuples, allowed, strict=True) if may}
    assert left >= {(2, 3, 500), (4, 3, 500), (8, 3, 500), (4, 3, 10)}
    assert not left & {(16, 3, 500), (32, 3, 500), (16, 3, 10), (32, 3, 10)}


def test_where_nothing_broke_everything_may_be_tried() -> None:
    tuples = [PoolTuple(size, 3, 500) for size in (1, 8, 64)]
    windows = [window_under(DEFAULT), window_under(PoolTuple(16, 3, 500))]
    assert np.all(within_floors(tuples, windows, objective_with(0.01)))
    assert np.all(within_floors(tuples, windows, Objective()))
    assert np.all(within_floors(tuples, windows[:1], Objective(min_share={"somebody else": 0.5})))


@pytest.mark.parametrize(
    ("floor", "first"),
    [(0.9, {(4, 3, 500)}), (0.5, {(4, 3, 500)}), (0.3, {(4, 3, 500), (8, 3, 500), (4, 3, 10)})],
)
def test_first_trial_is_near_and_what_it_leaves_allows_more(floor: float, first: set[tuple[int, int, int]]) -> None:
    tuples = [PoolTuple(size, 3, timer) for timer in (10, 500) for size in (2, 4, 8, 16, 64)]
    window = window_under(DEFAULT)
    near = within_floors(tuples, [window], objective_with(floor))
    assert {one.core for one, may in zip(tuples, near, strict=True) if may} - {(2, 3, 500), (2, 3, 10)} == first
    unharmed = replace(window, pool_tuple=PoolTuple(4, 3, 500))
    assert np.all(within_floors(tuples, [window, unharmed], objective_with(floor)))


@pytest.mark.parametrize(
    ("wanted", "floor", "step"),
    [
        ((64, 3, 10), 0.3, (4, 3, 10)),
        ((64, 3, 500), 0.3, (8, 3, 500)),
        ((64, 3, 10), 0.01, (64, 3, 10)),
        ((64, 3, 10), 0.9, (4, 3, 500)),
        ((1, 3, 500), 0.9, (1, 3, 500)),
    ],
)
def test_what_is_wanted_is_approached_as_far_as_floors_allow(
    wanted: tuple[int, int, int], floor: float, step: tuple[int, int, int]
) -> None:
    named = furthest_within_floors(PoolTuple(*wanted), [window_under(DEFAULT)], objective_with(floor))
    assert named is not None
    assert named.core == step


def test_where_floors_allow_no_step_none_is_named() -> None:
    windows = [window_under(DEFAULT), window_under(PoolTuple(16, 3, 500)), window_under(PoolTuple(8, 3, 10))]
    assert furthest_within_floors(PoolTuple(64, 3, 10), windows, objective_with(0.8)) is None


ROWS_OF_A_SCAN = 80_000.0


def as_the_server_shows(window: Window) -> Window:
    """Without classes, but with the rows that the scans have read."""
    rows_per_s = ROWS_OF_A_SCAN * window.classes["scans"].throughput_per_s + window.classes["points"].throughput_per_s
    return replace(window.without_classes(), indicators={ROWS_READ_PER_S: rows_per_s})


def test_rows_read_stand_for_long_statements_where_no_class_is_known() -> None:
    first, further = (as_the_server_shows(window_under(one)) for one in (DEFAULT, PoolTuple(16, 3, 500)))
    rows = Objective().kept_floors(further, first)[ROWS]
    kept, error = rows.kept, rows.error
    scans = objective_with(0.3).kept_floors(window_under(PoolTuple(16, 3, 500)), window_under(DEFAULT))["scans"].kept
    assert kept == pytest.approx(scans, rel=0.05)
    assert error == 0.0
    assert kept < 0.3
    assert not Objective().may_be_kept(further, first)
    assert Objective(min_rows_share=0.0).may_be_kept(further, first)
    said = forbidden_by_floors([first, further], Objective())
    assert said is not None
    assert f"left {100 * kept:.0f} % of the rows read before, and their floor is 30 %" in said
    allowing = float(said.partition("a min_rows_share of ")[2].partition(" ")[0])
    assert forbidden_by_floors([first, further], Objective(min_rows_share=allowing)) is None


def test_first_look_goes_near_where_statements_read_many_rows() -> None:
    tuples = [PoolTuple(size, 3, timer) for timer in (10, 500) for size in (2, 4, 8, 16, 64)]
    window = as_the_server_shows(window_under(DEFAULT))
    near = within_floors(tuples, [window], Objective())
    assert {one.core for one, may in zip(tuples, near, strict=True) if may} == {
        *((2, 3, 10), (2, 3, 500), (4, 3, 10)),
        *((4, 3, 500), (8, 3, 500)),
    }
    assert "long ones are among them" in (near_first(window, Objective()) or "")
    few = replace(window, indicators={ROWS_READ_PER_S: 99.0 * window.throughput_per_s})
    assert np.all(within_floors(tuples, [few], Objective()))
    assert near_first(few, Objective()) is None
    assert np.all(within_floors(tuples, [window.without_classes()], Objective(min_rows_share=0.0)))
    assert near_first(replace(window, indicators={}), Objective()) is None
    assert "'scans'" in (near_first(window_under(DEFAULT), objective_with(0.3)) or "")


def test_what_is_known_of_rows_is_forgotten_once_classes_report() -> None:
    window = window_under(DEFAULT)
    assert Objective().floors(replace(window, indicators={ROWS_READ_PER_S: 1e6})) == {}
    assert Objective().floors(as_the_server_shows(window)) == {ROWS: 0.3}
    lost = as_the_server_shows(window)
    assert Objective().kept_floors(replace(lost, indicators={}), lost)[ROWS].kept == 1.0


def test_few_completions_leave_a_floor_in_doubt() -> None:
    windows = [window_under(DEFAULT), window_under(PoolTuple(4, 3, 500))]
    scans = objective_with(0.1).kept_floors(windows[1], windows[0])["scans"]
    kept, error = scans.kept, scans.error
    assert 0.02 < error < kept
    inside = objective_with(kept - 0.5 * error)
    assert inside.feasible(windows[1], windows[0])
    assert not inside.may_be_kept(windows[1], windows[0])
    assert inside.model_copy(update={"floor_errors": 0.0}).may_be_kept(windows[1], windows[0])
    (doubtful,) = inside.broken_floors(windows[1], windows[0])
    assert f"%, give or take {100.0 * error:.0f}, of what it had" in str(doubtful)
    assert forbidden_by_floors(windows, inside) is None  # as nothing surer is better, it is what is ended on
    allowing = float(doubtful.allowed_by(inside.floor_errors).partition("at most ")[2].partition(" ")[0])
    assert objective_with(allowing).may_be_kept(windows[1], windows[0])
    assert inside.may_be_kept(windows[0], windows[0])


def test_where_all_that_is_better_is_in_doubt_the_furthest_above_its_floor_is_taken() -> None:
    first, near, far = (window_under(one) for one in (DEFAULT, PoolTuple(4, 3, 500), PoolTuple(8, 3, 500)))
    scans = objective_with(0.1).kept_floors(far, first)["scans"]
    kept, error = scans.kept, scans.error
    objective = objective_with(kept - 0.5 * error).model_copy(update={"floor_errors": 50.0})
    assert objective.value(far) > objective.value(near) > objective.value(first)
    assert objective.best([first, near, far]) is near
    assert objective.model_copy(update={"floor_errors": 0.0}).best([first, near, far]) is far
    strict = objective_with(0.99)
    assert strict.best([first, near, far]) is first
