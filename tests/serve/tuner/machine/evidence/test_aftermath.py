"""A trial that is rolled back may leave the pool in another state: no other workload, and no new measure of latency."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tests.serve.tuner.conftest import INITIAL, Drive

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.aftermath import Aftermath
from poolpilot.serve.tuner.machine.memory import Memory

MakeDrive = Callable[..., Drive]
FOUR, OTHER = PoolTuple(4, 3, 500), PoolTuple(2, 2, 500)


@dataclass
class Latches:
    """A pool whose latches collapse under four groups and more, and stay so.

    Attributes:
        poorer: What is left of what is completed, once they have collapsed.
        slower: By how much latency is above that before then.
        of_four: By how much latency under four groups is above that under two.
        after_s: How long after they collapse the pool is poorer.
        load: What the load multiplies latency by, and divides rates by.
        collapsed_s: When they have collapsed; None before.
        poor: Whether the pool is poorer in the window that is watched.
    """

    poorer: float = 0.7
    slower: float = 1.3
    of_four: float = 1.25
    after_s: float = 0.0
    load: float = 1.0
    collapsed_s: float | None = None
    poor: bool = False

    def throughput(self, where: PoolTuple, at_s: float) -> float:
        if where.pool_size >= 4:
            self.collapsed_s = at_s
        self.poor = self.collapsed_s is not None and at_s >= self.collapsed_s + self.after_s
        gained = 1.6 if where.pool_size >= 4 else 1.5 if where == OTHER else 1.0
        return 1000.0 * (self.poorer if self.poor else 1.0) * gained / self.load

    def latency(self, where: PoolTuple) -> float:
        poor = self.slower if self.poor else 1.0
        return 10.0 * poor * self.load * (self.of_four if where.pool_size >= 4 else 1.08 if where == OTHER else 1.0)


def on_other(drive: MakeDrive, pool: Latches) -> Drive:
    """A tuner that has verified a step, and is no longer on probation."""
    tuner = drive(pool.throughput, latency=pool.latency, wanted=OTHER, noise=0.005)
    tuner.run(200)
    assert tuner.memory.incumbent == OTHER
    return tuner


@pytest.mark.parametrize(("of_four", "counted"), [(1.25, 1), (1.15, 0)])
def test_a_change_right_after_a_try_is_the_tries_while_the_first_tuple_did_no_better(
    drive: MakeDrive, of_four: float, counted: int
) -> None:
    """Whether the way back has brought less latency, or nothing."""
    pool = Latches(slower=1.1, of_four=of_four)
    tuner = on_other(drive, pool)
    tuner.wanted = FOUR
    tuner.until(State.ROLL_BACK)
    tuner.wanted, before = OTHER, len(tuner.seen)
    tuner.run(100)
    assert {where for where, _ in tuner.seen[before:]} == {OTHER}
    assert tuner.memory.workload == 0
    assert tuner.memory.refuses(FOUR)
    assert len(tuner.memory.roll_backs_s) == counted
    assert tuner.memory.risen == pytest.approx(math.log(1.08 * 1.1))
    assert tuner.memory.gained == pytest.approx(math.log(1.5 * 0.7), abs=0.01)


def test_requests_that_look_different_are_of_another_workload_after_a_try_too(drive: MakeDrive) -> None:
    pool = Latches(slower=1.1)
    tuner = on_other(drive, pool)
    tuner.ratios = lambda _where, _at_s: (2.0, 1.0, 0.1, 0.5) if pool.poor else (1.0, 2.0, 0.5, 0.1)
    tuner.run(20)
    tuner.wanted = FOUR
    tuner.until(State.ROLL_BACK)
    tuner.run(4)
    assert tuner.memory.workload == 1


def test_where_the_first_tuple_did_better_it_gets_its_chance(drive: MakeDrive) -> None:
    pool = Latches(poorer=0.4)
    tuner = on_other(drive, pool)
    tuner.wanted = FOUR
    tuner.until(State.ROLL_BACK)
    tuner.wanted = OTHER
    tuner.until(State.TRIAL)
    assert (tuner.memory.workload, tuner.memory.backward, tuner.memory.risen) == (1, True, 0.0)


def test_what_a_try_has_left_behind_counts_as_risen(drive: MakeDrive) -> None:
    """Going back brings neither requests nor time: watching begins anew, by the measure of before."""
    pool = Latches()
    tuner = drive(pool.throughput, latency=pool.latency, wanted=FOUR, noise=0.005)
    tuner.until(State.ROLL_BACK)
    tuner.wanted = INITIAL
    tuner.run(6)
    assert tuner.memory.workload == 1
    assert tuner.memory.risen == pytest.approx(math.log(1.3))
    tuner.run(100)
    assert tuner.memory.risen == pytest.approx(math.log(1.3))


def test_a_step_that_adds_to_it_is_taken_back(drive: MakeDrive) -> None:
    """By itself 8 % would be little enough to stay."""
    pool = Latches()
    tuner = drive(pool.throughput, latency=pool.latency, wanted=FOUR, noise=0.005)
    tuner.until(State.ROLL_BACK)
    tuner.wanted = OTHER
    tuner.until(State.TRIAL)
    tuner.until(State.ROLL_BACK)
    assert "latency under (2, 2, 500) would be 40 % above that at first, with the steps before" in tuner.decision.reason
    tuner.run(100)
    assert tuner.memory.incumbent == INITIAL


def test_a_step_that_adds_nothing_is_kept(drive: MakeDrive) -> None:
    """However far latency is above that at first."""
    pool = Latches(slower=3.0)

    def latency(where: PoolTuple) -> float:
        return pool.latency(where) * (0.99 / 1.08 if where == OTHER else 1.0)

    tuner = drive(pool.throughput, latency=latency, wanted=FOUR, noise=0.005)
    tuner.until(State.ROLL_BACK)
    tuner.wanted = OTHER
    tuner.run(100)
    assert tuner.memory.incumbent == OTHER
    assert tuner.memory.risen == pytest.approx(math.log(3.0 * 0.99), abs=0.01)


def test_a_change_right_after_the_way_back_counts_as_risen_too(drive: MakeDrive) -> None:
    pool = Latches(after_s=15.0)
    tuner = drive(pool.throughput, latency=pool.latency, wanted=FOUR, noise=0.005)
    tuner.until(State.COOL_DOWN)
    assert tuner.memory.workload == 0
    tuner.wanted = INITIAL
    tuner.run(100)
    assert tuner.memory.workload == 1
    assert tuner.memory.risen == pytest.approx(math.log(1.3))


def test_a_change_that_follows_later_is_the_workloads(drive: MakeDrive) -> None:
    pool = Latches(after_s=60.0)
    tuner = drive(pool.throughput, latency=pool.latency, wanted=FOUR, noise=0.005)
    tuner.until(State.COOL_DOWN)
    tuner.wanted = INITIAL
    tuner.run(100)
    assert (tuner.memory.workload, tuner.memory.risen, tuner.memory.aftermath) == (1, 0.0, None)


def test_the_next_workload_ends_what_a_try_has_left(drive: MakeDrive) -> None:
    """Also where it was no trial that had left it, but a load that changed at the same time."""
    pool = Latches()
    tuner = drive(pool.throughput, latency=pool.latency, wanted=FOUR, noise=0.005)
    tuner.until(State.ROLL_BACK)
    tuner.wanted = INITIAL
    tuner.run(100)
    pool.load = 2.0
    tuner.run(3)
    assert (tuner.memory.workload, tuner.memory.risen) == (2, 0.0)
    tuner.wanted = OTHER
    tuner.run(100)
    assert tuner.memory.incumbent == OTHER


def test_a_lighter_load_is_no_leave(drive: MakeDrive) -> None:
    pool = Latches(slower=0.5, of_four=3.0)
    tuner = drive(pool.throughput, latency=pool.latency, wanted=FOUR, noise=0.005)
    tuner.until(State.ROLL_BACK)
    tuner.wanted = INITIAL
    tuner.run(100)
    assert (tuner.memory.workload, tuner.memory.risen) == (1, 0.0)


def test_what_the_try_of_the_first_tuple_leaves_counts_too(drive: MakeDrive) -> None:
    pool = Latches(poorer=1.4, slower=1.15)
    tuner = on_other(drive, pool)
    pool.load = 2.0
    tuner.until(State.TRIAL)
    assert tuner.memory.backward
    pool.collapsed_s = 0.0
    tuner.run(30)
    assert (tuner.memory.incumbent, tuner.memory.workload) == (OTHER, 1)
    assert tuner.memory.risen == pytest.approx(math.log(1.15))


def test_what_a_step_leaves_that_falls_on_probation_counts_too(drive: MakeDrive) -> None:
    """Held against the initial tuple, not against the step."""
    pool = Latches()
    tuner = drive(pool.throughput, latency=pool.latency, wanted=OTHER, noise=0.005)
    tuner.until(State.HOLD)
    tuner.wanted, pool.collapsed_s = INITIAL, 0.0
    tuner.until(State.ROLL_BACK, most=4)
    assert "soon after" in tuner.decision.reason
    tuner.run(30)
    assert (tuner.memory.incumbent, tuner.memory.workload) == (INITIAL, 1)
    assert tuner.memory.risen == pytest.approx(math.log(1.3))


def test_where_latency_is_not_known_nothing_is_held_against_it(drive: MakeDrive) -> None:
    pool = Latches()
    tuner = drive(pool.throughput, wanted=FOUR, noise=0.005)
    tuner.run(100)
    assert (tuner.memory.risen, tuner.memory.aftermath) == (0.0, None)


def test_a_memory_of_an_older_log_has_none() -> None:
    memory = Memory.begin(INITIAL, 0.0)
    new = ("aftermath", "gained", "replaced_gained")
    older = {name: value for name, value in memory.model_dump().items() if name not in new}
    assert Memory.model_validate(older) == memory
    left = Aftermath(latency=2.3, goodput=6.9, scatter=0.02, changed=True, windows=2)
    lasting = memory.but(aftermath=left)
    assert Memory.model_validate_json(lasting.model_dump_json()) == lasting
