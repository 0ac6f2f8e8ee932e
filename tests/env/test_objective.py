"""J counts what arrives in time, charges for threads, and puts constraints first."""

import math
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from poolpilot.env.objective import Objective, regret
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.workload import RequestClass

MakeWindow = Callable[..., Window]


def test_without_targets_goodput_is_the_throughput(make_window: MakeWindow) -> None:
    assert Objective().goodput_per_s(make_window({"a": {1.0: 100}}, duration_s=2.0)) == pytest.approx(50.0)


def test_late_completions_of_a_class_with_a_target_do_not_count(make_window: MakeWindow) -> None:
    window = make_window({"fast": {1.0: 60, 50.0: 40}, "slow": {50.0: 10}})
    objective = Objective(targets_ms={"fast": 10.0})
    assert objective.goodput_per_s(window) == pytest.approx(70.0)
    assert objective.share_within_target(window) == pytest.approx(70.0 / 110.0)


def test_weights_multiply_a_class(make_window: MakeWindow) -> None:
    window = make_window({"a": {1.0: 10}, "b": {1.0: 10}})
    assert Objective(weights={"b": 4.0}).goodput_per_s(window) == pytest.approx(50.0)


def test_empty_window_has_a_finite_value(make_window: MakeWindow) -> None:
    window = make_window({"a": {}}, PoolTuple(1, 3, 500))
    assert Objective().value(window) == pytest.approx(math.log(0.1))
    assert Objective().share_within_target(window) == 0.0


@pytest.mark.parametrize("weights", [{}, {"light": 0.5, "heavy": 40.0}])
def test_error_is_that_of_poisson_counts(make_window: MakeWindow, weights: dict[str, float]) -> None:
    objective = Objective(weights=weights, price_of_thread=0.0)
    counts = np.random.default_rng(3).poisson((400, 12), size=(1500, 2))
    windows = [make_window({"light": {1.0: int(light)}, "heavy": {1.0: int(heavy)}}) for light, heavy in counts]
    spread = float(np.std([objective.value(window) for window in windows]))
    assert np.median([objective.error(window) for window in windows]) == pytest.approx(spread, rel=0.1)


def test_error_of_nothing_is_finite_and_large(make_window: MakeWindow) -> None:
    assert Objective().error(make_window({"a": {}})) == pytest.approx(1.0)
    assert Objective().error(make_window({})) == pytest.approx(1.0)


def test_late_completions_do_not_make_a_window_surer(make_window: MakeWindow) -> None:
    punctual, late = make_window({"a": {1.0: 100}}), make_window({"a": {1.0: 100, 50.0: 900}})
    objective = Objective(targets_ms={"a": 10.0})
    assert objective.error(late) == objective.error(punctual)


def test_server_without_classes_is_evaluated_by_its_own_count(make_window: MakeWindow) -> None:
    window = make_window({})
    assert Objective().goodput_per_s(window) == pytest.approx(0.1)
    assert Objective().share_within_target(window) == 1.0


def test_a_thread_must_buy_its_price(make_window: MakeWindow) -> None:
    objective = Objective(price_of_thread=0.1)
    small = make_window({"a": {1.0: 1000}}, PoolTuple(4, 3, 500))
    doubled = make_window({"a": {1.0: 1060}}, PoolTuple(8, 3, 500))
    assert objective.better(small, doubled)
    assert objective.value(small) - objective.value(doubled) == pytest.approx(0.1 * math.log(2.0) - math.log(1.06))


def test_feasible_beats_better(make_window: MakeWindow) -> None:
    quick = make_window({"a": {1.0: 10}})
    rich = make_window({"a": {1.0: 900, 200.0: 100}})
    objective = Objective(max_p99_ms={"a": 100.0})
    assert objective.feasible(quick)
    assert not objective.feasible(rich)
    assert objective.better(quick, rich)
    assert not objective.better(rich, quick)


def test_class_must_keep_its_share_of_the_reference(make_window: MakeWindow) -> None:
    reference = make_window({"a": {1.0: 100}, "b": {1.0: 100}})
    starved = make_window({"a": {1.0: 900}, "b": {1.0: 40}})
    gone = make_window({"a": {1.0: 900}})
    objective = Objective(min_share={"b": 0.5})
    assert objective.feasible(reference, reference)
    assert not objective.feasible(starved, reference)
    assert not objective.feasible(gone, reference)
    assert objective.feasible(starved)


def test_where_the_first_is_too_late_one_in_doubt_beats_one_that_breaks_its_floor(make_window: MakeWindow) -> None:
    """Neither may be kept beyond doubt; of the two the one that keeps its share is taken."""
    late = make_window({"a": {200.0: 100}, "b": {1.0: 10}})
    doubtful = make_window({"a": {1.0: 150}, "b": {1.0: 4}}, PoolTuple(8, 3, 500))
    broken = make_window({"a": {1.0: 900}, "b": {1.0: 1}}, PoolTuple(64, 3, 500))
    objective = Objective(max_p99_ms={"a": 100.0}, min_share={"b": 0.3})
    assert not any(objective.may_be_kept(window, late) for window in (late, doubtful, broken))
    assert objective.best([late, doubtful, broken]) is doubtful
    assert objective.best([late, broken]).pool_tuple != doubtful.pool_tuple


def test_floor_of_nothing_is_none(make_window: MakeWindow) -> None:
    window = make_window({"a": {1.0: 100}, "b": {1.0: 1}})
    assert Objective(min_share={"b": 0.0}).floors(window) == {}


def test_what_is_kept_of_floors_and_limits_is_over_what_must_be(make_window: MakeWindow) -> None:
    reference = make_window({"a": {1.0: 100}, "b": {1.0: 100}})
    window = make_window({"a": {50.0: 900}, "b": {1.0: 30}})
    objective = Objective(max_p99_ms={"a": 100.0}, min_share={"b": 0.6})
    kept = objective.kept_limits(window, reference)
    assert kept == {"share of b": pytest.approx(0.5), "p99 of a": 1.0}
    late = objective.kept_limits(make_window({"a": {400.0: 900}, "b": {1.0: 30}}), reference)
    assert late["p99 of a"] == pytest.approx(0.25, rel=0.1)
    assert Objective().kept_limits(window, reference) == {}


def test_targets_and_weights_come_from_the_classes() -> None:
    classes = [RequestClass("a", (), target_ms=20.0), RequestClass("b", (), weight=3.0)]
    assert Objective.of_classes(classes) == Objective(targets_ms={"a": 20.0}, weights={"a": 1.0, "b": 3.0})


@pytest.mark.parametrize(
    ("request_class", "text"),
    [
        (RequestClass("a", (), target_ms=0.0), "target_ms of the class 'a' should be greater than 0; it is 0.0"),
        (
            RequestClass("b", (), weight=-1.0),
            "weight of the class 'b' should be greater than or equal to 0; it is -1.0",
        ),
    ],
)
def test_class_out_of_range_is_named(request_class: RequestClass, text: str) -> None:
    with pytest.raises(SettingError, match=f"^{re.escape(text)}$"):
        Objective.of_classes([request_class])


def test_regret_is_the_share_lost() -> None:
    assert regret(math.log(75.0), math.log(100.0)) == pytest.approx(0.25)
    assert regret(1.0, 1.0) == 0.0


def test_what_is_far_above_the_oracle_is_a_number_still() -> None:
    """As of one group beside sixty-four where a thread costs 200."""
    assert math.isfinite(regret(200.0 * math.log(64.0), 0.0))


@pytest.mark.parametrize(
    "fields", [{"targets_ms": {"a": 0.0}}, {"weights": {"a": math.nan}}, {"price_of_thread": -1.0}, {"colour": 1}]
)
def test_nonsense_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Objective.model_validate(fields)


LATE = Objective(targets_ms={"a": 10.0}, price_of_thread=0.0)


def test_where_none_is_in_time_more_requests_are_better(make_window: MakeWindow) -> None:
    values = [LATE.value(make_window({"a": {500.0: count}})) for count in (0, 1, 10, 100, 1000, 10_000)]
    assert values == sorted(values)
    assert min(np.diff(values)) > 0.04


def test_where_none_is_in_time_less_lateness_is_better(make_window: MakeWindow) -> None:
    values = [LATE.value(make_window({"a": {latency_ms: 500}})) for latency_ms in (5000.0, 500.0, 100.0, 30.0, 12.0)]
    assert values == sorted(values)
    assert min(np.diff(values)) > 0.1


def test_a_closed_loop_that_is_late_has_a_slope(make_window: MakeWindow) -> None:
    """256 connections: twice the throughput is half the latency."""
    counts = (250, 500, 1000, 2000)
    values = [LATE.value(make_window({"a": {256e3 / count: count}})) for count in counts]
    assert min(np.diff(values)) > 0.2 * math.log(2.0)


def test_any_real_goodput_beats_any_number_of_late_requests(make_window: MakeWindow) -> None:
    late = make_window({"a": {12.0: 1_000_000}})
    few = make_window({"a": {1.0: 6, 5000.0: 500}})
    assert LATE.value(late) <= 0.0 < LATE.value(few)
    assert LATE.value(few) == math.log(6.0)


def test_one_request_in_time_of_many_is_no_optimum(make_window: MakeWindow) -> None:
    none, one = (make_window({"a": {1.0: count, 500.0: 500}}, duration_s=0.25) for count in (0, 1))
    assert LATE.goodput_per_s(one) == pytest.approx(4.0)
    assert 0.0 < LATE.value(one) - LATE.value(none) < 1.0
    quicker = make_window({"a": {30.0: 2000}}, duration_s=0.25)
    assert LATE.value(quicker) > LATE.value(none)


@pytest.mark.parametrize("late", [0, 1, 100, 100_000])
def test_more_in_time_is_never_worse(make_window: MakeWindow, late: int) -> None:
    worths = [LATE.worth_per_s(make_window({"a": {1.0: count, 500.0: late}})) for count in range(30)]
    assert worths == sorted(worths)
    assert max(worths[k + 1] / worths[k] for k in range(1, 29)) < 4.0


@pytest.mark.parametrize("classes", [{"a": {1.0: 6, 500.0: 100}}, {"a": {1.0: 1}}, {"a": {500.0: 9}, "b": {500.0: 6}}])
def test_where_goodput_is_clear_j_is_its_logarithm(
    make_window: MakeWindow, classes: dict[str, dict[float, int]]
) -> None:
    window = make_window(classes)
    assert LATE.worth_per_s(window) == LATE.goodput_per_s(window)


def test_weights_count_in_the_slope(make_window: MakeWindow) -> None:
    window = make_window({"a": {500.0: 100}})
    heavy = LATE.model_copy(update={"weights": {"a": 10.0}})
    assert heavy.value(window) > LATE.value(window) > LATE.model_copy(update={"weights": {"a": 0.0}}).value(window)


def test_time_in_system_stands_for_goodput_where_no_client_reports(make_window: MakeWindow) -> None:
    objective = Objective(signal="time_in_system")
    crowded = replace(make_window({"a": {1.0: 100}}).without_classes(), in_system=50.0)
    quick = replace(make_window({"a": {1.0: 100}}).without_classes(), in_system=0.5)
    assert crowded.throughput_per_s == quick.throughput_per_s > 0.0
    assert objective.value(quick) - objective.value(crowded) == pytest.approx(math.log(100.0))
    assert Objective().value(quick) == Objective().value(crowded)


@pytest.mark.parametrize("crowd", [50.0, 5_000.0, 500_000.0])
def test_times_in_system_are_told_apart_however_long_they_are(make_window: MakeWindow, crowd: float) -> None:
    """Before, all that took more than ten seconds were worth the same, and so was a pool that completed nothing."""
    objective = Objective(signal="time_in_system")
    busy, stuck = make_window({"a": {1.0: 100}}).without_classes(), make_window({}).without_classes()
    assert stuck.throughput_per_s == 0.0
    crowded, less, stands = (
        replace(window, in_system=inside) for window, inside in ((busy, crowd), (busy, 0.5 * crowd), (stuck, crowd))
    )
    assert objective.value(less) - objective.value(crowded) == pytest.approx(math.log(2.0))
    assert objective.value(stands) < objective.value(crowded)


def test_nobody_who_asks_is_worth_what_little_is(make_window: MakeWindow) -> None:
    idle = replace(make_window({}).without_classes(), in_system=0.0)
    assert Objective(signal="time_in_system").goodput_per_s(idle) == Objective().goodput_per_s(idle)


@pytest.mark.parametrize("in_system", [0.0, 0.01, 0.1])
def test_window_in_which_no_look_met_a_request_is_not_a_thousand_times_better(
    make_window: MakeWindow, in_system: float
) -> None:
    plain = make_window({"a": {1.0: 200}}).without_classes()
    window, usual = (replace(plain, in_system=value) for value in (in_system, 0.2))
    objective = Objective(signal="time_in_system")
    assert objective.goodput_per_s(window) == pytest.approx(2.0 * objective.goodput_per_s(usual))


def test_classes_win_over_the_time_in_system(make_window: MakeWindow) -> None:
    window = replace(make_window({"a": {1.0: 100}}), in_system=50.0)
    assert Objective(signal="time_in_system").goodput_per_s(window) == Objective().goodput_per_s(window)


def test_server_that_does_not_tell_who_is_in_it_is_evaluated_by_throughput(make_window: MakeWindow) -> None:
    window = make_window({"a": {1.0: 100}}).without_classes()
    assert Objective(signal="time_in_system").goodput_per_s(window) == Objective().goodput_per_s(window)
