"""A choice on a recorded workload is judged by windows that no method has seen, where there are any."""

import math
from collections.abc import Callable

import pytest

from experiments.live_rivals import row_of
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.pipelines.evaluate.censored_sweeps import reason_to_censor
from rivals.recorded_cases import RecordedCase

MakeCase = Callable[..., RecordedCase]

DEFAULT, MIDDLE, LARGE = (1, 3, 500), (4, 3, 500), (16, 3, 500)


@pytest.fixture
def case(make_case: MakeCase) -> RecordedCase:
    return make_case({DEFAULT: [500], MIDDLE: [1500, 900], LARGE: [1000, 1100, 1050]}, [1000, 1000], LARGE)


def test_methods_see_the_first_window_and_are_judged_by_later_ones(case: RecordedCase) -> None:
    seen = case.shown([PoolTuple(*MIDDLE)])[PoolTuple(*MIDDLE)]
    assert case.objective.value(seen) == pytest.approx(math.log(1500.0))
    assert case.value(MIDDLE) == pytest.approx(math.log(900.0))
    assert not case.was_seen(MIDDLE)


def test_reference_is_judged_by_the_windows_measured_afresh(case: RecordedCase) -> None:
    assert case.reference == LARGE
    assert case.value(LARGE) == pytest.approx(math.log(1000.0))
    assert row_of("any", case, PoolTuple(*LARGE), [])["regret"] == 0.0


def test_tuple_that_the_race_dropped_is_judged_by_what_was_seen_and_counted(case: RecordedCase) -> None:
    row = row_of("default", case, PoolTuple(*DEFAULT), [])
    assert case.was_seen(DEFAULT)
    assert row["regret"] == pytest.approx(0.5)
    assert not case.was_seen(MIDDLE)


def test_trial_far_below_the_default_is_unsafe(case: RecordedCase, make_case: MakeCase) -> None:
    tried = [PoolTuple(*MIDDLE), PoolTuple(*LARGE)]
    assert row_of("any", case, PoolTuple(*LARGE), tried)["unsafe"] == 0.0
    worse = make_case({DEFAULT: [1000, 1000], MIDDLE: [700], LARGE: [900]}, [1000], DEFAULT)
    assert row_of("any", worse, PoolTuple(*DEFAULT), tried)["unsafe"] == 0.5


def test_sizes_beyond_those_measured_are_not_offered(case: RecordedCase) -> None:
    assert case.limits.knobs["pool_size"].high == 16
    assert case.sweep.limits.knobs["pool_size"].high > 16


def test_what_breaks_the_constraints_is_worth_no_more_than_the_default(make_case: MakeCase) -> None:
    kept = make_case({DEFAULT: [500], MIDDLE: [900, 900], LARGE: [1000]}, [900], MIDDLE)
    entry = kept.sweep.entries[LARGE]
    object.__setattr__(entry, "feasible", False)
    assert kept.value(LARGE) == pytest.approx(math.log(500.0))


def test_workload_whose_windows_do_not_repeat_is_censored(make_case: MakeCase) -> None:
    case = make_case({DEFAULT: [500, 900], MIDDLE: [1500, 900], LARGE: [1000, 1400]}, [1000], LARGE)
    assert "windows of one configuration differ" in (reason_to_censor(case.sweep) or "")


@pytest.mark.parametrize(("again", "reason"), [([1000, 1010, 990], None), ([500, 505, 495], "differs from itself")])
def test_reference_that_is_worth_something_else_afresh_is_censored(
    make_case: MakeCase, again: list[int], reason: str | None
) -> None:
    case = make_case({DEFAULT: [500, 505], MIDDLE: [900, 905], LARGE: [1000, 1010, 990]}, again, LARGE)
    found = reason_to_censor(case.sweep)
    assert found is None if reason is None else reason in (found or "")


def test_workload_on_which_another_tuple_beats_the_reference_again_is_censored(make_case: MakeCase) -> None:
    middle, large = [1150, 1240, 1245, 1250], [1225, 1225, 1225, 1225]
    case = make_case({DEFAULT: [500], MIDDLE: middle, LARGE: large}, [1112, 1110, 1112], LARGE)
    assert "is better than the reference" in (reason_to_censor(case.sweep) or "")
