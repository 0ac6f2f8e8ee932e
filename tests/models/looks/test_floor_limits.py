"""A floor that breaks at one configuration tells how far another may go, and what is allowed and better is found."""

from collections.abc import Sequence

import numpy as np
import pytest

from poolpilot.env.floors import broken_floors, forbidden_by_floors, kept_shares
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.looks.floor_limits import within_floors
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
    bandit, knobs = LatentBandit(load_curves()), SimulatedServer(BESIDE_SCANS, CALIBRATED).knobs
    windows = [window_under(DEFAULT)]
    for _ in range(DECISIONS):
        named = bandit.predict(windows, knobs, objective).pool_tuple
        if named.core in {window.pool_tuple.core for window in windows}:
            break
        windows.append(window_under(named))
    return windows


@pytest.mark.parametrize(("floor", "gain"), [(0.2, 40.0), (0.3, 40.0), (0.5, 20.0), (0.6, 20.0)])
def test_trials_find_what_the_floor_allows(floor: float, gain: float) -> None:
    objective = objective_with(floor)
    windows = windows_of_trials(objective)
    best = objective.best(windows)
    assert kept_shares(best, windows[0], objective)["scans"] >= floor
    assert objective.goodput_per_s(best) >= gain * objective.goodput_per_s(windows[0])


def test_what_was_forbidden_is_said_with_its_worth_and_what_would_allow_it() -> None:
    windows = [window_under(DEFAULT), window_under(PoolTuple(16, 3, 500))]
    objective = objective_with(0.5)
    (broken,) = broken_floors(windows[1], windows[0], objective)
    assert (broken.name, broken.floor) == ("scans", 0.5)
    assert 0.1 < broken.kept < 0.3
    said = forbidden_by_floors(windows, objective)
    assert said is not None
    assert "instead of 242 under (2, 3, 500)" in said
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
    assert np.all(within_floors(tuples, windows[:1], objective_with(0.5)))
