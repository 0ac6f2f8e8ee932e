"""A workload that comes back gets what was verified for it back, in one move and under the same guard."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tests.serve.tuner.conftest import INITIAL, Drive, falling, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings
from poolpilot.serve.tuner.machine.decide import decide
from poolpilot.serve.tuner.machine.decision import Mode, State
from poolpilot.serve.tuner.machine.memory import Memory

MakeDrive = Callable[..., Drive]
DAY, NIGHT = PoolTuple(16, 3, 500), PoolTuple(1, 3, 500)
HALF_S = 3000.0


def by_day(at_s: float) -> bool:
    return int(at_s // HALF_S) % 2 == 0


def turns(pool_tuple: PoolTuple, at_s: float) -> float:
    """By day the more groups the better up to 16; by night one is best, and every doubling costs a quarter."""
    if by_day(at_s):
        return float(500.0 * min(pool_tuple.pool_size, 16) ** 0.7)
    return float(300.0 * 0.75 ** np.log2(pool_tuple.pool_size))


def observations(pool_tuple: PoolTuple, at_s: float) -> Sequence[float]:
    size = float(np.log(pool_tuple.pool_size))
    return (3.0, 1.0, size, 0.5, size) if by_day(at_s) else (5.0, 2.0, 0.3 * size, 0.1, size)


def alternate(tuner: Drive, halves: int) -> None:
    """A predictor that knows what is best runs along for so many half days."""
    while tuner.at_s < halves * HALF_S:
        tuner.wanted = DAY if by_day(tuner.at_s) else NIGHT
        tuner.turn()


def windows_from(tuner: Drive, began_s: float, wanted: PoolTuple) -> int:
    """Windows from a shift until a tuple is in force."""
    seen = [in_force for number, (in_force, _) in enumerate(tuner.seen) if number * 5.0 >= began_s]
    return seen.index(wanted)


@pytest.fixture
def tuner(drive: MakeDrive) -> Drive:
    return drive(turns, ratios=observations, noise=0.02, ratio_noise=0.02)


def test_it_comes_back_one_window_after_the_shift_is_seen(tuner: Drive) -> None:
    """From the third time on: by then each was seen under what is right for the other."""
    alternate(tuner, 5)
    assert {each.best for each in tuner.memory.known.entries} == {DAY, NIGHT}
    learnt = windows_from(tuner, 0.0, DAY)
    assert windows_from(tuner, 3 * HALF_S, NIGHT) == windows_from(tuner, 4 * HALF_S, DAY) == 2 < learnt
    late = [
        each
        for observation, each in zip(tuner.observations, tuner.decisions, strict=True)
        if observation.at_s > 3 * HALF_S
    ]
    assert sum(each.reason.startswith("this workload was here before") for each in late) == 2
    assert State.ROLL_BACK not in {each.state for each in late}


def test_same_looks_make_the_same_decisions_from_what_is_remembered(tuner: Drive) -> None:
    alternate(tuner, 3)
    memory = Memory.model_validate_json(tuner.memory.model_dump_json())
    place = len(tuner.decisions)
    alternate(tuner, 4)
    assert any("was here before" in decision.reason for decision in tuner.decisions[place:])
    again = []
    for observation in tuner.observations[place:]:
        memory, decision = decide(
            memory, type(observation).model_validate_json(observation.model_dump_json()), tuner.rules
        )
        again.append(decision)
    assert again == tuner.decisions[place:]


def test_what_a_restarted_tuner_read_from_its_file_is_tried_in_one_move(tuner: Drive, drive: MakeDrive) -> None:
    alternate(tuner, 1)
    later = drive(turns, ratios=observations, noise=0.02, ratio_noise=0.02, seed=1, known=tuner.memory.known)
    assert later.turn().pool_tuple == DAY
    later.run(10)
    assert later.memory.incumbent == DAY


def wrong(pool_tuple: PoolTuple, _at_s: float) -> float:
    """Looks like the day, but only the default is any good."""
    return 1000.0 if pool_tuple == INITIAL else 300.0


def test_a_false_match_costs_one_window_and_is_not_made_again(tuner: Drive, drive: MakeDrive) -> None:
    alternate(tuner, 1)
    known = tuner.memory.known
    for cost in (1, 0):
        misled = drive(wrong, ratios=lambda where, _at_s: observations(where, 0.0), noise=0.02, known=known)
        misled.run(100)
        assert misled.memory.incumbent == INITIAL
        assert sum(in_force != INITIAL for in_force, _ in misled.seen) == cost
        known = misled.memory.known
    assert [each.misses for each in known.entries if each.best == DAY] == [1]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"most_size": 8}, None),
        ({"most_threads": 20}, None),
        ({"trials_per_hour": 1, "retry_after_s": 0.0}, "this workload was here before"),
    ],
)
def test_ranges_of_today_hold_for_what_was_verified_yesterday(
    tuner: Drive, drive: MakeDrive, changes: dict[str, Any], said: str | None
) -> None:
    alternate(tuner, 1)
    later = drive(turns, ratios=observations, rules=rules(**changes), known=tuner.memory.known)
    later.run(20)
    found = [each.reason for each in later.decisions if each.reason.startswith("this workload was here before")]
    assert bool(found) is (said is not None)
    guard = GuardSettings(**changes)
    assert all(in_force.pool_size <= guard.most_size for in_force, _ in later.seen)


@pytest.mark.parametrize(("mode", "would"), [(Mode.OBSERVE, None), (Mode.ADVISE, DAY)])
def test_nothing_is_set_for_a_known_workload_unless_the_mode_is_apply(
    tuner: Drive, drive: MakeDrive, mode: Mode, would: PoolTuple | None
) -> None:
    alternate(tuner, 1)
    later = drive(turns, ratios=observations, rules=rules(mode), known=tuner.memory.known)
    later.run(20)
    assert {in_force for in_force, _ in later.seen} == {INITIAL}
    assert later.decisions[-1].would == would


def test_nothing_is_known_where_nothing_is_shown(drive: MakeDrive) -> None:
    blind = drive(turns, noise=0.02)
    alternate(blind, 4)
    assert not any("was here before" in decision.reason for decision in blind.decisions)


def restarted(tuner: Drive, in_force: PoolTuple) -> int:
    """Restarts the server of a tuner that has come to rest; the number of windows seen so far."""
    tuner.run(120)
    assert tuner.memory.incumbent == DAY
    tuner.turn(in_force=in_force, reading=None, restarted=True)
    return len(tuner.seen)


def test_after_a_restart_what_was_verified_is_tried_again_at_once(drive: MakeDrive) -> None:
    """Though the workload was not seen again under what the file says, or shows nothing that it could be told by."""
    tuner = drive(rising, wanted=DAY)
    before = restarted(tuner, INITIAL)
    assert tuner.memory.incumbent == INITIAL
    tuner.run(3)
    assert [in_force for in_force, _ in tuner.seen[before:]] == [INITIAL, DAY, INITIAL]
    assert tuner.decisions[-3].reason.startswith("the server was restarted: (16, 3, 500), verified then, is tried")
    tuner.run(6)
    assert tuner.memory.incumbent == DAY


def test_after_a_restart_under_another_file_its_tuple_is_a_persons_wish(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=DAY)
    before = restarted(tuner, PoolTuple(3, 3, 500))
    tuner.run(10)
    assert tuner.memory.initial == PoolTuple(3, 3, 500)
    assert max(in_force.pool_size for in_force, _ in tuner.seen[before:]) <= 6


def test_what_does_no_longer_well_after_a_restart_is_taken_back_after_one_window(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=DAY)
    before = restarted(tuner, INITIAL)
    tuner.throughput, tuner.wanted = falling, INITIAL
    tuner.run(100)
    assert sum(in_force == DAY for in_force, _ in tuner.seen[before:]) == 1
    assert tuner.memory.incumbent == INITIAL
