"""What waits for the pool and what for other threads, and the most that can be gained by either."""

import math

import pytest

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.profile import WorkloadProfile
from poolpilot.featurizer.schema import SCHEMA_VERSION, feature_names
from poolpilot.featurizer.waiting import STANDING, UNHEARD, Waiting
from poolpilot.featurizer.window import Window

IN_FORCE = PoolTuple(2, 3, 500)
QUIET = {"connections": 20.0, "completed_per_s": 650.0, "active_threads_mean": 0.08, "queue_length_mean": 0.0}
SEEN = {UNHEARD: 0.8, STANDING: 0.0, "row_lock_wait_us_per_request": 0.0, "threads_run_delay_us_per_request": 20.0}


def window_of(features: dict[str, float], indicators: dict[str, float] | None = None) -> Window:
    given = {**dict.fromkeys(feature_names()), "cpus": 2.0, **features}
    profile = WorkloadProfile(SCHEMA_VERSION, IN_FORCE, given)
    return Window(SCHEMA_VERSION, IN_FORCE, 5.0, profile, {}, None, "mariadb", indicators or {})


def waiting_of(features: dict[str, float], indicators: dict[str, float] | None = None) -> Waiting:
    waiting = Waiting.of(window_of({**QUIET, **features}, indicators))
    assert waiting is not None
    return waiting


def test_where_nothing_waits_nothing_can_be_gained() -> None:
    waiting = waiting_of({}, SEEN)
    assert waiting.most_by_threads < math.log(1.01)
    assert waiting.most_by_fewer < math.log(1.01)


def test_what_queues_counts_with_its_square() -> None:
    waiting = waiting_of({"queue_length_mean": 3.0}, {**SEEN, UNHEARD: 0.0})
    assert waiting.for_pool == 3.0
    assert waiting.most_by_threads == pytest.approx(-math.log(1.0 - 0.15 - 0.15**2))


@pytest.mark.parametrize("sleepers", [0, 60, 1000])
def test_sleepers_make_no_gain(sleepers: int) -> None:
    few, many = (waiting_of({"connections": 20.0 + each}, SEEN).most_by_threads for each in (0, sleepers))
    assert many <= few


def test_groups_that_stand_hide_as_many_requests_as_they_have_connections() -> None:
    """A long statement has the only thread of a group: what its other connections send is in no queue."""
    waiting = waiting_of({"active_threads_mean": 1.0}, {**SEEN, UNHEARD: 10.0, STANDING: 10.0})
    assert waiting.for_pool >= 10.0
    assert waiting.most_by_threads >= math.log(4.0)


def test_groups_that_always_run_something_bound_nothing() -> None:
    assert waiting_of({"active_threads_mean": 2.0}, {**SEEN, UNHEARD: 20.0}).most_by_threads == math.inf


def test_where_no_look_at_groups_tells_every_connection_of_a_busy_group_may_wait() -> None:
    """Records of before: half of the groups run something, so half of the connections may wait unheard."""
    waiting = waiting_of({"active_threads_mean": 1.0})
    assert waiting.for_pool == pytest.approx(0.5 * (20.0 - 1.0))


def test_processor_time_stands_for_threads_that_no_look_met() -> None:
    assert waiting_of({"active_threads_mean": 0.0, "utilisation": 0.5}, SEEN).served == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("indicators", "contending"),
    [
        ({"row_lock_wait_us_per_request": 10_000.0}, 6.5),
        ({"threads_run_delay_us_per_request": 1e6}, 4.0),
    ],
)
def test_contention_is_what_threads_wait_for_one_another(indicators: dict[str, float], contending: float) -> None:
    waiting = waiting_of({"active_threads_mean": 4.0}, {**SEEN, "threads_run_delay_us_per_request": 0.0, **indicators})
    assert waiting.contending == pytest.approx(contending)


def test_delay_by_other_programs_is_no_contention() -> None:
    """With 0.08 threads at work on two processors, who waits for one waits for another program."""
    delayed = waiting_of({}, {**SEEN, "threads_run_delay_us_per_request": 1e6})
    assert delayed.contending is not None
    assert delayed.contending < 0.01


def test_contention_that_is_not_shown_bounds_nothing() -> None:
    """Rows are waited for, but for how long this server does not say."""
    waiting = waiting_of({"waits_row_lock_per_request": 0.1}, {UNHEARD: 0.0})
    assert waiting.contending is None
    assert waiting.most_by_fewer == math.inf
    assert waiting.most_by_threads < 0.01


@pytest.mark.parametrize("missing", list(QUIET))
def test_what_is_not_counted_bounds_nothing(missing: str) -> None:
    window = window_of({name: value for name, value in QUIET.items() if name != missing})
    assert Waiting.of(window) is None


def test_timed_rounds_tell_how_long_a_group_goes_unheard() -> None:
    """M/G/1: arrivals x share of time without a listener x what is left of a round, and the rounds behind it."""
    timed = {
        "active_round_us_mean": 1000.0,
        "active_round_us_cv": 1.0,
        "active_round_us_count_per_s": 500.0,
        "active_threads_mean": 0.5,
        "run_delay_us_mean": 0.0,
    }
    assert waiting_of(timed).for_pool == pytest.approx(500.0 * 0.25 * 0.001 / 0.75)


def test_time_in_the_system_shrinks_by_what_waits_of_it() -> None:
    waiting = Waiting(connections=50.0, served=3.0, for_pool=1.0, contending=1.0)
    assert waiting.most_in_time_by_threads == pytest.approx(math.log(4.0 / 3.0))
    assert waiting.most_in_time_by_fewer == pytest.approx(math.log(4.0 / 2.0))
