"""A portfolio is chosen greedily, tried in turn whatever the windows show, and ends on the best measured."""

from itertools import combinations

import numpy as np
import pytest

from poolpilot.agent.baselines.portfolio import Portfolio, portfolio_on
from poolpilot.agent.controllers.refiner import Refiner, RefinerSettings
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.latent.constants import constant_on, greedy
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves

WORST = np.ones(3)


def test_greedy_takes_what_lowers_the_regret_that_is_left() -> None:
    regrets = np.array([[0.0, 0.3, 0.9], [0.5, 0.3, 0.0], [0.0, 0.3, 0.9]])
    assert greedy(regrets, WORST, 1) == [0]
    assert greedy(regrets, WORST, 3) == [0, 2]


def test_what_is_in_force_counts_as_tried() -> None:
    regrets = np.array([[0.1, 0.8], [0.8, 0.1], [0.1, 0.8]])
    assert greedy(regrets, WORST, 1) == [0]
    assert greedy(regrets, np.array([0.0, 0.9, 0.0]), 1) == [1]


@pytest.mark.parametrize("seed", range(5))
def test_greedy_choice_keeps_the_bound_of_submodular_sums(seed: int) -> None:
    regrets = np.random.default_rng(seed).random((40, 9))
    in_force = np.ones(40)

    def gain(columns: tuple[int, ...]) -> float:
        return float((in_force - np.minimum(regrets[:, columns].min(axis=1), in_force)).mean())

    best = max(gain(columns) for columns in combinations(range(9), 3))
    assert gain(tuple(greedy(regrets, in_force, 3))) >= (1.0 - np.exp(-1.0)) * best


def test_portfolio_of_opposite_workloads_ends_on_the_best_of_both(
    waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep
) -> None:
    refiner = Refiner(Portfolio([PoolTuple(16, 3, 500), PoolTuple(2, 3, 500)]), RefinerSettings(decisions=2))
    for sweep in (waiting_sweep, contended_sweep):
        with RecordedServer(sweep) as server:
            refined = refiner.refine(server, sweep.objective)
        assert sweep.regret(refined.pool_tuple) == pytest.approx(0.0, abs=0.02)


def test_tries_go_on_in_order_and_end_on_the_best_measured(waiting_sweep: WorkloadSweep) -> None:
    portfolio: Predictor = Portfolio([PoolTuple(4, 3, 500), PoolTuple(16, 3, 500), PoolTuple(1, 3, 500)])
    with RecordedServer(waiting_sweep) as server:
        windows = [server.observe(1.0)]
        named = []
        for _ in range(4):
            prediction = portfolio.predict(windows, waiting_sweep.limits, waiting_sweep.objective)
            named.append(server.apply(prediction.pool_tuple).pool_size)
            windows.append(server.observe(1.0))
    assert named == [4, 16, 1, 16]
    assert not prediction.abstained


def test_configurations_outside_the_limits_are_passed_over(waiting_sweep: WorkloadSweep) -> None:
    portfolio = Portfolio([PoolTuple(16, 3, 500), PoolTuple(4, 3, 500)])
    small = KnobSpace.stock(2, max_pool_size=8)
    window = waiting_sweep.entries[(2, 3, 500)].windows[0]
    assert portfolio.predict([window], small, waiting_sweep.objective).pool_tuple.pool_size == 4


def test_bad_portfolios_are_refused(waiting_sweep: WorkloadSweep) -> None:
    with pytest.raises(SettingError, match="at least one configuration"):
        Portfolio([])
    with pytest.raises(SettingError, match="at least one window"):
        Portfolio([PoolTuple(1, 3, 500)]).predict([], waiting_sweep.limits, waiting_sweep.objective)


def curves(*worths: tuple[float, ...]) -> ResponseCurves:
    grid = MachineGrid(sizes=(4, 16, 64), multiples=(), oversubscribes=(3,), timer_intervals_ms=(500,))
    listed = tuple(
        ResponseCurve(name=f"{place}", family=f"{place}", cpus=2, connections=64, log_worth=worth)
        for place, worth in enumerate(worths)
    )
    return ResponseCurves(grid=grid, source="made for tests", curves=listed)


def test_portfolio_of_one_is_the_best_constant() -> None:
    known = curves((1.0, 3.0, 2.8), (3.0, 2.9, 1.0), (0.0, 1.0, 1.1))
    limits, objective = KnobSpace.stock(2), Objective(price_of_thread=0.0)
    assert constant_on(known, limits, objective) == PoolTuple(16, 3, 500)
    assert portfolio_on(known, limits, objective, 1).tuples == (constant_on(known, limits, objective),)


def test_constant_has_nothing_to_go_back_to_and_a_portfolio_has() -> None:
    known = curves((3.0, 0.0, 2.5), (3.0, 0.0, 2.5), (0.0, 3.0, 1.5))
    limits, objective = KnobSpace.stock(4), Objective(price_of_thread=0.0)
    assert constant_on(known, limits, objective).pool_size == 4
    assert portfolio_on(known, limits, objective, 1).tuples[0].pool_size == 16
