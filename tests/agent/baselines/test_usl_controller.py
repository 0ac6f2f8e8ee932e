"""The controller by the Universal Scalability Law measures its plan, fits, verifies, and holds the better size."""

from itertools import groupby

import pytest
from tests.conftest import answer_of

from poolpilot.agent.baselines.usl import UslFit
from poolpilot.agent.baselines.usl_controller import UslController, UslSettings, log_spaced
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer, Table
from poolpilot.env.tuning.loop import TuningTrace, tune
from poolpilot.featurizer.pool_tuple import PoolTuple

KNOBS = KnobSpace.stock(4)
LAW = UslFit(1000.0, 0.04, 0.0024)
QUICK = UslSettings(points=5, samples_per_point=2)


def table_of(law: UslFit) -> Table:
    return [(float(size), law.throughput_per_s(size)) for size in range(1, 129)]


def climbed(
    table: Table, objective: Objective, settings: UslSettings = QUICK, noise: float = 0.0
) -> tuple[UslController, TuningTrace]:
    controller = UslController(KNOBS, objective, settings)
    trace = tune(CurveServer(table, noise=noise), controller, objective, period_s=1.0, horizon_s=24.0)
    return controller, trace


def visited(trace: TuningTrace) -> list[tuple[int, int]]:
    """Sizes in the order in which they were in force, and for how many windows."""
    return [(size, len(list(steps))) for size, steps in groupby(step.pool_tuple.pool_size for step in trace.steps)]


def test_measures_its_plan_then_the_best_size_and_holds_it() -> None:
    controller, trace = climbed(table_of(LAW), Objective(price_of_thread=0.0))
    assert controller.plan == (1, 3, 11, 38, 128)
    assert visited(trace) == [(4, 1), (1, 2), (3, 2), (11, 2), (38, 2), (128, 2), (20, 13)]
    assert controller.fit is not None
    assert controller.fit.coherency == pytest.approx(LAW.coherency, rel=0.05)
    assert controller.finished
    assert controller.reason == "size 20 is the best of 7 measured; so says the scalability law"


def test_price_of_a_thread_makes_the_pool_smaller() -> None:
    _, trace = climbed(table_of(LAW), Objective(price_of_thread=0.2))
    assert trace.final_tuple.pool_size == LAW.best_size(1, 128, 0.2) < 20


def test_ends_on_the_measured_best_where_the_law_does_not_fit() -> None:
    spike = [(1.0, 100.0), (10.0, 110.0), (11.0, 2000.0), (12.0, 110.0), (128.0, 100.0)]
    controller, trace = climbed(spike, Objective())
    assert trace.final_tuple.pool_size == 11
    assert "the scalability law names" in controller.reason


def test_noise_leaves_it_near_the_optimum() -> None:
    _, trace = climbed(table_of(LAW), Objective(price_of_thread=0.0), noise=0.05)
    assert LAW.throughput_per_s(trace.final_tuple.pool_size) > 0.9 * LAW.throughput_per_s(20)


def test_windows_that_settle_are_not_judged() -> None:
    settings = UslSettings(points=5, samples_per_point=1, settle_windows=2)
    controller, trace = climbed(table_of(LAW), Objective(price_of_thread=0.0), settings)
    assert visited(trace)[:3] == [(4, 1), (1, 3), (3, 3)]
    assert {one.count for one in controller.observations.measured[:-1]} == {1}


def test_other_knobs_stay_as_whoever_set_them_last() -> None:
    objective = Objective()
    controller = UslController(KNOBS, objective, QUICK)
    with CurveServer(table_of(LAW)) as server:
        for number in range(30):
            if number == 5:
                server.apply(PoolTuple(60, 1, 10, idle_timeout_s=5.0))
            proposed = answer_of(controller, observe(server, 1.0).window)
            assert KNOBS.allows(proposed)
            server.apply(proposed)
        final = server.tuple_in_force()
    assert (final.core[1:], final.idle_timeout_s) == ((1, 10), 5.0)
    measured = [
        one.pool_tuple.pool_size for one in controller.observations.measured if one.pool_tuple.timer_interval_ms == 10
    ]
    assert 60 in measured
    assert LAW.throughput_per_s(final.pool_size) > 0.9 * LAW.throughput_per_s(20)


def test_range_too_short_for_a_fit_is_measured_throughout() -> None:
    narrow = KnobSpace.stock(1, max_pool_size=2)
    controller = UslController(narrow, Objective())
    trace = tune(CurveServer(table_of(LAW), cpus=1), controller, Objective(), period_s=1.0, horizon_s=10.0)
    assert controller.fit is None
    assert trace.final_tuple.pool_size == 2


def test_largest_size_bounds_the_plan() -> None:
    assert UslController(KNOBS, Objective(), UslSettings(largest_size=32)).plan[-1] == 32
    assert log_spaced(1, 4, 6) == (1, 2, 3, 4)
