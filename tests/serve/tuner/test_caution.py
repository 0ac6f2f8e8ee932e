"""What outlives a tuner: it is told by the clock of the wall, bounded, and never lasts longer than the settings say."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.serve.tuner.conftest import INITIAL, Drive, falling, rising, rules

from poolpilot.errors import StoreError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.caution import MOST_KEPT, Caution, KeptCaution
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.memory import Memory, Refusal

MakeDrive = Callable[..., Drive]
GUARD = GuardSettings()
NOW_S = 1_700_000_000.0
BAD = PoolTuple(4, 3, 500)
FAR = PoolTuple(16, 3, 500)


def begun(caution: Caution, unix_s: float, guard: GuardSettings = GUARD) -> Memory:
    """What the next tuner remembers when it begins, by a clock that shows 50 then."""
    return caution.onto(Memory.begin(INITIAL, 50.0), unix_s, guard)


def test_times_go_over_from_the_clock_of_one_tuner_to_that_of_the_next() -> None:
    refusals = (Refusal(pool_tuple=BAD, until_s=4000.0, completed_more=True), Refusal(pool_tuple=FAR))
    before = Memory.begin(INITIAL, 0.0).but(
        refusals=refusals, trials_s=(300.0, 900.0), roll_backs_s=(950.0,), openings=2
    )
    caution = Caution.of(before, 1000.0, NOW_S)
    memory = begun(caution, NOW_S + 100.0)
    assert memory.trials_s == pytest.approx((-750.0, -150.0))
    assert memory.roll_backs_s == pytest.approx((-100.0,))
    assert memory.openings == 2
    (refusal,) = memory.refusals
    assert (refusal.pool_tuple, refusal.completed_more) == (BAD, True)
    assert refusal.until_s == pytest.approx(2950.0)
    assert memory.state is State.WATCH


def test_what_is_over_by_then_is_forgotten() -> None:
    refusals = (Refusal(pool_tuple=BAD, until_s=1500.0),)
    before = Memory.begin(INITIAL, 0.0).but(refusals=refusals, trials_s=(900.0,), roll_backs_s=(950.0,))
    memory = begun(Caution.of(before, 1000.0, NOW_S), NOW_S + 7200.0)
    assert (memory.refusals, memory.trials_s, memory.roll_backs_s) == ((), (), ())


def test_tuple_that_was_being_tried_when_the_tuner_died_is_refused(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.until(State.TRIAL)
    memory = begun(Caution.of(tuner.memory, tuner.at_s, NOW_S), NOW_S + 1.0)
    assert memory.refuses(BAD)
    assert len(memory.trials_s) == 1
    assert memory.refusals[0].until_s == 50.0 + GUARD.retry_after_s


def test_circuit_stays_open_and_is_open_for_longer_the_next_time(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=FAR, rules=rules(breaker_roll_backs=1, retry_after_s=0.0))
    tuner.until(State.OPEN_CIRCUIT)
    caution = Caution.of(tuner.memory, tuner.at_s, NOW_S)
    memory = begun(caution, NOW_S + 600.0)
    assert (memory.state, memory.paused, memory.openings) == (State.OPEN_CIRCUIT, State.OPEN_CIRCUIT, 1)
    assert memory.wait_until_s == pytest.approx(50.0 + 1200.0)
    assert begun(caution, NOW_S + 1801.0).state is State.WATCH


def test_chance_of_a_half_open_circuit_goes_over() -> None:
    before = Memory.begin(INITIAL, 0.0).but(half_open_until_s=1500.0, opened_again=True)
    caution = Caution.of(before, 1000.0, NOW_S)
    memory = begun(caution, NOW_S + 100.0)
    assert memory.half_open_until_s == pytest.approx(450.0)
    assert memory.opened_again
    assert begun(caution, NOW_S + 501.0).half_open is False


def test_stand_down_is_ended_by_who_starts_the_tuner_again(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.turn(in_force=PoolTuple(7, 3, 500), reading=None)
    assert begun(Caution.of(tuner.memory, tuner.at_s, NOW_S), NOW_S).state is State.WATCH


def test_clock_that_was_set_back_makes_nothing_last_longer_than_the_settings_say() -> None:
    before = Memory.begin(INITIAL, 0.0).but(
        refusals=(Refusal(pool_tuple=BAD, until_s=4000.0),),
        trials_s=(900.0,),
        roll_backs_s=(950.0,),
        state=State.OPEN_CIRCUIT,
        wait_until_s=2000.0,
        half_open_until_s=2000.0,
    )
    memory = begun(Caution.of(before, 1000.0, NOW_S), NOW_S - 1e8)
    assert (memory.trials_s, memory.roll_backs_s) == ((50.0,), (50.0,))
    assert memory.refusals[0].until_s == 50.0 + GUARD.retry_after_s
    assert memory.wait_until_s == memory.half_open_until_s == 50.0 + GUARD.circuit_most_s


def test_no_more_is_kept_than_can_be_read_again(tmp_path: Path) -> None:
    many = range(2 * MOST_KEPT)
    refusals = tuple(Refusal(pool_tuple=PoolTuple(size + 1, 3, 500), until_s=9e9) for size in many)
    before = Memory.begin(INITIAL, 0.0).but(refusals=refusals, trials_s=tuple(map(float, many)))
    KeptCaution(tmp_path).keep(before, 1000.0, NOW_S)
    caution = KeptCaution(tmp_path).read()
    assert (len(caution.refusals), len(caution.trials_s)) == (MOST_KEPT, MOST_KEPT)
    assert caution.refusals[-1].pool_tuple == refusals[-1].pool_tuple


def test_it_is_written_where_it_has_changed_alone(tmp_path: Path) -> None:
    kept, memory = KeptCaution(tmp_path), Memory.begin(INITIAL, 0.0).but(trials_s=(10.0,))
    kept.keep(memory, 20.0, NOW_S)
    kept.path.unlink()
    kept.keep(memory.but(workload=3), 25.0, NOW_S + 5.0001)
    assert not kept.path.exists()
    kept.keep(memory.but(trials_s=(10.0, 25.0)), 25.0, NOW_S + 5.0)
    assert KeptCaution(tmp_path).read().trials_s == pytest.approx((NOW_S - 10.0, NOW_S + 5.0), rel=0.0, abs=1e-3)
    assert kept.path.stat().st_mode & 0o077 == 0


def test_nothing_is_kept_at_first(tmp_path: Path) -> None:
    assert KeptCaution(tmp_path).read() == Caution()


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"trials_s": ["late"]}', '{"openings": -1}', '{"more": 1}'])
def test_file_that_is_damaged_is_named(tmp_path: Path, text: str) -> None:
    kept = KeptCaution(tmp_path)
    kept.path.write_text(text)
    with pytest.raises(StoreError, match=r"caution.json is no file of what a tuner is wary of .* remove it"):
        kept.read()


def test_times_are_finite() -> None:
    with pytest.raises(ValidationError):
        Caution(trials_s=(math.nan,))
