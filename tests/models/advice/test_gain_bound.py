"""No promise exceeds what waiting explains; where nothing waits, the advice is to leave it."""

import math
from dataclasses import replace

import pytest

from poolpilot.env.measurement.sample_sweeps import sample_sweeps
from poolpilot.env.objective import Objective
from poolpilot.featurizer.histogram import Histogram, bucket_of
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.profile import WorkloadProfile
from poolpilot.featurizer.schema import SCHEMA_VERSION, feature_names
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.featurizer.waiting import STANDING, UNHEARD
from poolpilot.featurizer.window import ClassWindow, Window
from poolpilot.models.advice.gain_bound import NOT_COUNTED, GainBound, within_bound
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.champion import load_champion
from poolpilot.models.predictor import ScorePredictor

IN_FORCE, MORE, FEWER = PoolTuple(4, 3, 500), PoolTuple(16, 3, 10), PoolTuple(2, 3, 500)


def window_of(
    queued: float = 0.0, contending_us: float = 0.0, late_ms: float | None = None, **changes: object
) -> Window:
    """20 connections send 600 requests a second; `queued` of them queue, and each waits so long for rows."""
    features = {
        **dict.fromkeys(feature_names()),
        "connections": 20.0,
        "cpus": 2.0,
        "completed_per_s": 600.0,
        "active_threads_mean": 0.1,
        "queue_length_mean": queued,
    }
    seen = {
        UNHEARD: 0.1,
        STANDING: 0.0,
        "row_lock_wait_us_per_request": contending_us,
        "threads_run_delay_us_per_request": 0.0,
    }
    classes = {}
    if late_ms is not None:
        counts = Histogram.from_sparse([(bucket_of(1000.0), 2000), (bucket_of(late_ms * 1e3), 1000)])
        classes = {"read": ClassWindow(600.0, counts)}
    profile = WorkloadProfile(SCHEMA_VERSION, IN_FORCE, features)
    window = Window(SCHEMA_VERSION, IN_FORCE, 5.0, profile, classes, None, "mariadb", seen)
    return replace(window, **changes)  # type: ignore[arg-type]


def promise(pool_tuple: PoolTuple = MORE, gain: float | None = 0.5, *, abstained: bool = False) -> Prediction:
    named = IN_FORCE if abstained else pool_tuple
    return Prediction(named, IN_FORCE, abstained, ("so it was learned",), "digest", gain, gain, gain)


def test_where_nothing_waits_a_promise_becomes_leave_it() -> None:
    told = within_bound(promise(), [window_of()], Objective())
    assert told.verdict == "leave it"
    assert told.most_gain is not None
    assert told.most_gain < math.log(1.05)
    assert told.expected_gain == 0.0
    assert "of 20 connections" in told.reasons[0]


def test_where_nothing_waits_nobody_need_try() -> None:
    assert within_bound(promise(abstained=True, gain=None), [window_of()], Objective()).verdict == "leave it"


@pytest.mark.parametrize("pool_tuple", [MORE, FEWER, PoolTuple(4, 5, 500), PoolTuple(4, 3, 10)])
def test_promises_are_capped_whatever_the_direction(pool_tuple: PoolTuple) -> None:
    window = window_of(queued=2.0)
    bound = GainBound.of(window, Objective(price_of_thread=0.0))
    told = within_bound(promise(pool_tuple), [window], Objective(price_of_thread=0.0))
    assert bound is not None
    assert told.verdict == "change"
    assert told.expected_gain == told.gain_high == pytest.approx(bound.towards(IN_FORCE, pool_tuple))


def test_fewer_threads_can_take_what_contention_takes_and_more_cannot() -> None:
    bound = GainBound.of(window_of(contending_us=5000.0), Objective())
    assert bound is not None
    assert bound.towards(IN_FORCE, FEWER) > math.log(1.2)
    assert bound.towards(IN_FORCE, MORE) < math.log(1.05)
    assert bound.towards(IN_FORCE, IN_FORCE) == 0.0


def test_a_small_promise_stays_as_it_is() -> None:
    told = within_bound(promise(gain=0.06), [window_of(queued=4.0)], Objective())
    assert (told.expected_gain, told.gain_low, told.gain_high) == (0.06, 0.06, 0.06)


def test_what_was_measured_is_no_promise() -> None:
    """After a try, the tuple that was measured better is named whatever the latest window waits for."""
    measured = window_of(pool_tuple=MORE)
    assert within_bound(promise(), [measured, window_of()], Objective()).verdict == "change"


def test_what_is_disturbed_stays_without_advice() -> None:
    disturbed = window_of(disturbances=(Hindrance("a backup runs"),))
    assert within_bound(promise(abstained=True, gain=None), [disturbed], Objective()).verdict == "no advice"


@pytest.mark.parametrize(("idle", "verdict"), [(0.05, "no advice"), (0.6, "change")])
def test_waits_for_processors_that_other_programs_have_are_no_waits_for_the_pool(idle: float, verdict: str) -> None:
    window = window_of(queued=10.0)
    features = {**window.profile.features, "utilisation": 0.3}
    busy = replace(
        window,
        profile=replace(window.profile, features=features),
        indicators={**window.indicators, "machine_idle_share": idle},
    )
    told = within_bound(promise(), [busy], Objective())
    assert told.verdict == verdict
    assert any("other programs use 65 %" in each for each in told.reasons) is (verdict == "no advice")


def test_a_server_that_does_not_count_is_told_so() -> None:
    window = window_of()
    features = {**window.profile.features, "queue_length_mean": None}
    blind = replace(window, profile=replace(window.profile, features=features))
    told = within_bound(promise(), [blind], Objective())
    assert told.verdict == "change"
    assert told.most_gain is None
    assert NOT_COUNTED in told.reasons


@pytest.mark.parametrize(("late_ms", "queued", "gains"), [(11.0, 0.5, True), (900.0, 0.01, False), (None, 0.01, False)])
def test_late_requests_come_in_time_as_far_as_waiting_pays_for_it(
    late_ms: float | None, queued: float, gains: bool
) -> None:
    """A third is late by 1 ms, which half a connection that waits can pay for; 890 ms are beyond a hundredth."""
    bound = GainBound.of(window_of(queued=queued, late_ms=late_ms), Objective(targets_ms={"read": 10.0}))
    assert bound is not None
    assert (bound.by_more > math.log(1.3)) is gains


def test_time_in_the_system_is_bounded_by_its_share_of_waiting() -> None:
    objective = Objective(signal="time_in_system")
    bound = GainBound.of(window_of(queued=1.0, in_system=2.0), objective)
    assert bound is not None
    assert bound.by_more == pytest.approx(math.log(2.0), abs=0.01)


def test_unbounded_promises_stay_and_name_no_bound() -> None:
    told = within_bound(promise(gain=2.0), [window_of(queued=15.0)], Objective())
    assert told.expected_gain == 2.0
    assert told.most_gain is None


def test_the_network_that_ships_keeps_to_it() -> None:
    sweep = sample_sweeps("page_faults")[0]
    window = sweep.entries[sweep.limits.default_tuple().core].windows[0]
    predictor = ScorePredictor(load_champion())
    assert predictor.predict([window], sweep.limits, sweep.objective).verdict == "change"
    quiet = {"active_threads_mean": 0.01, "queue_length_mean": 0.0, "in_system": 0.01, "latch_wait_us_per_request": 0.0}
    features = {**window.profile.features, **quiet, "utilisation": 0.01, "active_round_us_mean": 20.0}
    idle = replace(window, profile=replace(window.profile, features=features))
    assert predictor.predict([idle], sweep.limits, Objective()).verdict == "leave it"
