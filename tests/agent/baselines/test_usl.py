"""The law: the fit recovers what made the data; the controller measures its plan, verifies and holds the better."""

import math
from itertools import groupby

import numpy as np
import pytest
from tests.conftest import answer_of

from poolpilot.agent.baselines.usl import UslController, UslFit, UslSettings, fit_usl, log_spaced
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer, Table
from poolpilot.env.tuning.loop import TuningTrace, tune
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


def rates(law: UslFit) -> list[float]:
    return [law.throughput_per_s(size) for size in SIZES]


@pytest.mark.parametrize(
    "law",
    [
        UslFit(995.6, 0.0267, 0.000769),
        UslFit(50_000.0, 0.3, 0.02),
        UslFit(10.0, 0.0, 0.001),
        UslFit(10.0, 0.05, 0.0),
        UslFit(10.0, 0.0, 0.0),
    ],
)
@pytest.mark.parametrize("relative", [False, True])
def test_fit_recovers_the_law_without_noise(law: UslFit, relative: bool) -> None:
    fitted = fit_usl(SIZES, rates(law), rates(law) if relative else None)
    assert fitted.scale == pytest.approx(law.scale, rel=1e-6)
    assert fitted.contention == pytest.approx(law.contention, abs=1e-7)
    assert fitted.coherency == pytest.approx(law.coherency, abs=1e-8)


def test_fit_comes_near_with_noise() -> None:
    law = UslFit(1000.0, 0.03, 0.001)
    noisy = np.array(rates(law)) * np.exp(0.03 * np.random.default_rng(1).standard_normal(len(SIZES)))
    fitted = fit_usl(SIZES, list(noisy), list(0.03 * noisy))
    assert law.throughput_per_s(fitted.best_size(1, 128)) >= 0.98 * law.throughput_per_s(law.best_size(1, 128))


def test_sizes_of_little_error_weigh_more() -> None:
    law = UslFit(1000.0, 0.03, 0.001)
    wrong = [*rates(law)[:-1], 2.0 * rates(law)[-1]]
    fitted = fit_usl(SIZES, wrong, [1.0] * 6 + [1e6])
    assert fitted.coherency == pytest.approx(law.coherency, rel=1e-3)


def test_parameters_are_never_negative_where_pairs_help_one_another() -> None:
    fitted = fit_usl((1, 2, 4, 8), (10.0, 25.0, 60.0, 150.0))
    assert (fitted.contention, fitted.coherency) == (0.0, 0.0)
    assert fitted.best_size(1, 64) == 64


@pytest.mark.parametrize(
    ("law", "size"), [(UslFit(1.0, 0.19, 0.0081), 10), (UslFit(1.0, 0.0, 1.0 / 900.0), 30), (UslFit(1.0, 2.0, 0.1), 1)]
)
def test_best_size_without_a_price_is_the_closed_form(law: UslFit, size: int) -> None:
    assert law.best_size(1, 128) == size
    assert size == max(1, round(math.sqrt(max(0.0, 1.0 - law.contention) / law.coherency)))


@pytest.mark.parametrize("price", [0.0, 0.02, 0.15, 0.9, 1.5])
@pytest.mark.parametrize("contention", [0.0, 0.05, 0.6, 1.4])
@pytest.mark.parametrize("coherency", [0.0, 1e-4, 0.01, 0.4])
def test_best_size_is_that_of_trying_all(price: float, contention: float, coherency: float) -> None:
    law = UslFit(100.0, contention, coherency)
    worth = {size: math.log(law.throughput_per_s(size)) - price * math.log(size) for size in range(3, 101)}
    assert worth[law.best_size(3, 100, price)] == pytest.approx(max(worth.values()), abs=1e-12)


@pytest.mark.parametrize(
    ("sizes", "throughputs", "errors", "text"),
    [
        ((1, 2), (1.0, 2.0), None, "3 distinct sizes"),
        ((1, 2, 2), (1.0, 2.0, 2.0), None, "3 distinct sizes"),
        ((1, 2, 4), (1.0, 2.0), None, "one throughput"),
        ((1, 2, 4), (1.0, 2.0, 3.0), (1.0,), "one throughput"),
        ((1, 2, 4), (1.0, 0.0, 3.0), None, "above 0"),
        ((1, 2, 4), (1.0, math.nan, 3.0), None, "above 0"),
    ],
)
def test_fit_says_what_it_lacks(
    sizes: tuple[float, ...], throughputs: tuple[float, ...], errors: tuple[float, ...] | None, text: str
) -> None:
    with pytest.raises(SettingError, match=text):
        fit_usl(sizes, throughputs, errors)


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
    assert {measured.count for measured in controller.observations.measured[:-1]} == {1}


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
        measured.pool_tuple.pool_size
        for measured in controller.observations.measured
        if measured.pool_tuple.timer_interval_ms == 10
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
