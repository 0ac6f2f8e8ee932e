"""The envelope: nothing beyond the ranges, nothing beyond a step, whatever is asked for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolpilot.env.knobs import Knob, KnobSpace
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings

ANY_NUMBER = st.integers(min_value=-(2**70), max_value=2**70)
ANY_TUPLE = st.builds(PoolTuple, ANY_NUMBER, ANY_NUMBER, ANY_NUMBER)
IN_FORCE = st.builds(PoolTuple, st.integers(1, 128), st.integers(1, 64), st.integers(10, 6000))


@settings(max_examples=500, deadline=None)
@given(
    incumbent=IN_FORCE,
    wanted=ANY_TUPLE,
    factor=st.floats(1.01, 16.0),
    most_threads=st.none() | st.integers(1, 5000),
)
def test_no_step_leaves_the_envelope(
    incumbent: PoolTuple, wanted: PoolTuple, factor: float, most_threads: int | None
) -> None:
    guard = GuardSettings(factor=factor, most_threads=most_threads)
    envelope = Envelope.of(guard, KnobSpace.stock(4))
    stepped = envelope.step(incumbent, wanted)
    envelope.check(incumbent, stepped)
    if stepped == incumbent:
        return
    assert 1 <= stepped.pool_size <= 128
    assert 1 <= stepped.oversubscribe <= 64
    assert 10 <= stepped.timer_interval_ms <= 6000
    for now, value in zip(incumbent.core, stepped.core, strict=True):
        assert value in (now - 1, now + 1) or now / factor <= value <= now * factor
    assert most_threads is None or stepped.active_threads <= most_threads


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (PoolTuple(5, 3, 500), "pool_size = 5 may not be tried from .2, 3, 500.: allowed are 1..4"),
        (PoolTuple(2, 7, 500), "oversubscribe = 7"),
        (PoolTuple(2, 3, 249), "timer_interval_ms = 249"),
        (PoolTuple(2, 3, 500, idle_timeout_s=1.0), "more than the core knobs"),
    ],
)
def test_check_names_what_is_beyond(candidate: PoolTuple, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        Envelope.of(GuardSettings(), KnobSpace.stock(2)).check(PoolTuple(2, 3, 500), candidate)


def test_step_goes_as_far_as_it_may() -> None:
    envelope = Envelope.of(GuardSettings(), KnobSpace.stock(2))
    assert envelope.step(PoolTuple(2, 3, 500), PoolTuple(16, 1, 10)) == PoolTuple(4, 2, 250)
    assert envelope.step(PoolTuple(1, 1, 10), PoolTuple(128, 1, 10)) == PoolTuple(2, 1, 10)


def test_tuple_of_a_person_beyond_the_ranges_is_left_where_it_is() -> None:
    envelope = Envelope.of(GuardSettings(most_size=16), KnobSpace.stock(2))
    person = PoolTuple(100, 3, 500)
    assert envelope.step(person, PoolTuple(8, 3, 500)) == person


@pytest.mark.parametrize(
    ("wanted", "leads"),
    [((64, 3, 500), False), ((64, 3, 10), True), ((8, 3, 500), True), ((4, 3, 500), True), ((64, 9, 500), True)],
)
def test_who_proposes_is_told_what_no_step_leads_towards(wanted: tuple[int, int, int], leads: bool) -> None:
    envelope, incumbent = Envelope.of(GuardSettings(most_size=8), KnobSpace.stock(2)), PoolTuple(8, 3, 500)
    knobs = envelope.for_proposals(KnobSpace.stock(2), incumbent)
    assert knobs == KnobSpace.stock(2), "the ranges are those of the server: curves are placed by them"
    assert knobs.permits is not None
    assert knobs.permits(PoolTuple(*wanted)) is leads


def test_nothing_is_kept_from_who_proposes_within_the_ranges_that_the_tuner_has_by_itself() -> None:
    knobs = Envelope.of(GuardSettings(), KnobSpace.stock(4)).for_proposals(KnobSpace.stock(4), PoolTuple(4, 3, 500))
    assert knobs.permits is not None
    assert all(knobs.permits(each) for each in MachineGrid().columns_on(knobs))


def test_threads_bound_a_step_and_are_named() -> None:
    envelope = Envelope.of(GuardSettings(), KnobSpace.stock(2), most_threads=20)
    assert envelope.step(PoolTuple(4, 3, 500), PoolTuple(8, 3, 500)) == PoolTuple(4, 3, 500)
    with pytest.raises(SettingError, match="may ask for 32 threads; allowed are 20"):
        envelope.check(PoolTuple(4, 3, 500), PoolTuple(8, 3, 500))


WORKERS = KnobSpace.of(2, Knob("pool_size", 1, 32, 4, "workers"))


@pytest.mark.parametrize("rest", [(3, 10), (3, 500)])
def test_what_the_server_lacks_is_never_varied(rest: tuple[int, int]) -> None:
    envelope = Envelope.of(GuardSettings(least_stall_limit_ms=20), WORKERS)
    incumbent = PoolTuple(4, *rest)
    stepped = envelope.step(incumbent, PoolTuple(8, 1, 500))
    assert stepped == PoolTuple(8, *rest)
    envelope.check(incumbent, stepped)
    with pytest.raises(SettingError, match="oversubscribe = 2 may not be tried"):
        envelope.check(incumbent, PoolTuple(4, 2, rest[1]))
    assert envelope.steps_between(incumbent, PoolTuple(16, 1, 6000)) == 2
    assert hash(envelope) == hash(Envelope.of(GuardSettings(least_stall_limit_ms=20), WORKERS))


def test_what_was_verified_with_a_knob_that_the_server_lacks_does_not_come_back() -> None:
    envelope = Envelope.of(GuardSettings(), WORKERS)
    assert envelope.allows(PoolTuple(8, 3, 10))
    assert not envelope.allows(PoolTuple(8, 1, 500))


def test_ranges_that_have_nothing_in_common_are_named() -> None:
    with pytest.raises(SettingError, match=r"pool_size may be 200..300 by the settings, but the server takes 1..128"):
        Envelope.of(GuardSettings(least_size=200, most_size=300), KnobSpace.stock(2))
