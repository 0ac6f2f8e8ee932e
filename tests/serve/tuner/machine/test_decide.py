"""The state machine of the tuner: one test for every transition, without a clock."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.serve.tuner.conftest import INITIAL, Drive, falling, flat, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance, HindranceKind
from poolpilot.mariadb.diagnosis.hindrances import Crowding, stuck
from poolpilot.serve.tuner.guard.hours import Hours
from poolpilot.serve.tuner.machine.decide import decide
from poolpilot.serve.tuner.machine.decision import Decision, Mode, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Proposal

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(16, 3, 500)


def test_a_good_prediction_is_reached_step_by_step(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.run(120)
    assert tuner.memory.incumbent == FAR
    assert tuner.memory.state is State.HOLD
    incumbent = list(dict.fromkeys(decision.incumbent.pool_size for decision in tuner.decisions))
    assert incumbent == [2, 4, 8, 16]
    assert State.ROLL_BACK not in tuner.states()


def test_it_watches_before_it_asks_and_asks_before_it_tries(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.until(State.TRIAL)
    asked = [decision.ask for decision in tuner.decisions]
    assert asked.index(True) * 5.0 >= tuner.rules.pace.observe_for_s - 5.0
    assert [decision.pool_tuple for decision in tuner.decisions[:-1]] == [INITIAL] * (len(tuner.decisions) - 1)


def test_a_try_takes_turns_with_what_was_in_force(drive: MakeDrive) -> None:
    tuner = drive(flat, wanted=FAR)
    tuner.until(State.TRIAL)
    tuner.until(State.VERIFY)
    sizes = [in_force.pool_size for in_force, _ in tuner.seen]
    assert sizes[-6:] == [4, 2, 4, 2, 4, 2]


def test_a_gain_that_is_plain_needs_one_window_and_then_must_stand(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.until(State.TRIAL)
    tuner.until(State.VERIFY)
    assert [in_force.pool_size for in_force, _ in tuner.seen][-3:] == [2, 4, 2]
    tuner.until(State.TRIAL)
    assert [in_force.pool_size for in_force, _ in tuner.seen][-3:] == [4, 4, 4]


def test_steps_that_are_shown_better_follow_at_once_and_are_not_counted(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, rules=rules(trials_per_hour=1))
    tuner.run(35)
    assert tuner.memory.incumbent == FAR
    assert [decision.ask for decision in tuner.decisions].count(True) == 2
    assert tuner.memory.trials_s == ()


def test_pause_after_a_try_that_ended_at_once_is_short(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=FAR)
    tuner.until(State.COOL_DOWN)
    began_s = tuner.at_s
    tuner.until(State.WATCH)
    assert tuner.at_s - began_s == pytest.approx(120.0 / 9, abs=5.0)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_bad_prediction_is_taken_back_within_two_windows(drive: MakeDrive, noise: float) -> None:
    tuner = drive(falling, wanted=FAR, noise=noise)
    tuner.until(State.ROLL_BACK)
    bad = [in_force for in_force, _ in tuner.seen if in_force != INITIAL]
    assert 1 <= len(bad) <= 2
    assert tuner.until(State.COOL_DOWN).pool_tuple == INITIAL
    assert tuner.in_force == INITIAL


def test_latency_that_rises_takes_a_try_back_though_throughput_rises_too(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, latency=lambda where: 10.0 if where == INITIAL else 13.0)
    tuner.until(State.ROLL_BACK)
    assert "latency under (4, 3, 500) is 30 % above that under (2, 3, 500)" in tuner.decision.reason
    assert sum(in_force != INITIAL for in_force, _ in tuner.seen) == 1


def test_latency_does_not_creep_up_step_by_step(drive: MakeDrive) -> None:
    """Each step raises it by 8 %, of which the second is too much to stay, and the third would be too much to try."""
    tuner = drive(rising, wanted=FAR, latency=lambda where: 10.0 * 1.08 ** float(np.log2(where.pool_size / 2)))
    tuner.run(300)
    assert tuner.memory.incumbent == PoolTuple(4, 3, 250)
    assert any("17 % above that at first: too much to stay" in each.reason for each in tuner.decisions)
    falls = drive(rising, wanted=FAR, latency=lambda where: 10.0 * 0.8 ** float(np.log2(where.pool_size / 2)))
    falls.run(120)
    assert falls.memory.incumbent == FAR


def test_latency_far_above_the_first_ends_a_try_at_once(drive: MakeDrive) -> None:
    steps = {2: 10.0, 4: 10.8, 8: 12.5}
    tuner = drive(rising, wanted=PoolTuple(8, 3, 500), latency=lambda where: steps[where.pool_size])
    tuner.until(State.ROLL_BACK)
    assert "would be 25 % above that at first, with the steps before" in tuner.decision.reason
    assert tuner.memory.incumbent == PoolTuple(4, 3, 500)


def test_try_that_does_not_stand_by_its_latency_is_taken_back_after_one_window(drive: MakeDrive) -> None:
    slow: list[float] = [10.0]
    tuner = drive(rising, wanted=FAR, latency=lambda where: 10.0 if where == INITIAL else slow[-1])
    tuner.until(State.VERIFY)
    slow.append(14.0)
    assert tuner.turn().state is State.ROLL_BACK
    assert "latency under (4, 3, 500) is 18 % above that at first: too much to stay" in tuner.decision.reason


def test_plain_gain_at_a_higher_latency_is_compared_for_longer_and_not_kept(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, latency=lambda where: 10.0 if where == INITIAL else 11.5)
    tuner.until(State.ROLL_BACK)
    sizes = [in_force.pool_size for in_force, _ in tuner.seen]
    assert sizes[-6:] == [4, 2, 4, 2, 4, 2]
    assert "15 % above that at first: too much to stay" in tuner.decision.reason


def test_what_was_taken_back_is_not_tried_again_within_the_hour(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=FAR)
    tuner.run(600)
    trials = [decision for decision in tuner.decisions if decision.pool_tuple == PoolTuple(4, 3, 500)]
    assert len(trials) == 1
    assert any("rolled back not long ago" in decision.reason for decision in tuner.decisions)


def test_tries_within_an_hour_are_bounded(drive: MakeDrive) -> None:
    settings = rules(retry_after_s=0.0, cool_down_s=0.0, ask_every_s=0.0, breaker_roll_backs=1000, trials_per_hour=3)
    tuner = drive(falling, wanted=FAR, rules=settings)
    tuner.run(700)
    begun = [one.at_s for one, what in zip(tuner.observations, tuner.decisions, strict=True) if what.most_lost > 0.0]
    assert len(begun) >= 3
    assert all(later - earlier >= 3600.0 for earlier, later in zip(begun, begun[3:], strict=False))
    assert any("were tried within an hour" in decision.reason for decision in tuner.decisions)


def test_way_that_gains_nothing_is_gone_back(drive: MakeDrive) -> None:
    tuners = [drive(flat, wanted=FAR, noise=0.02, seed=seed) for seed in range(20)]
    for tuner in tuners:
        tuner.run(400)
        assert tuner.memory.state is State.HOLD
    # One comparison in twenty calls better what is not, and there are several on the way.
    assert sum(tuner.memory.incumbent == INITIAL for tuner in tuners) >= 14


def test_a_step_that_gains_nothing_may_lead_to_one_that_does(drive: MakeDrive) -> None:
    def cliff(pool_tuple: PoolTuple, _at_s: float) -> float:
        return 2000.0 if pool_tuple.pool_size >= 8 else 1000.0

    tuner = drive(cliff, wanted=FAR, noise=0.02)
    tuner.run(400)
    assert tuner.memory.incumbent.pool_size >= 8


def test_a_person_who_sets_the_pool_is_left_alone(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.until(State.TRIAL)
    theirs = PoolTuple(7, 9, 123)
    decision = tuner.turn(in_force=theirs, reading=None)
    assert decision.state is State.STAND_DOWN
    assert (decision.pool_tuple, decision.incumbent) == (theirs, theirs)
    assert {each.pool_tuple for each in tuner.run(100)} == {theirs}
    tuner.turn(in_force=PoolTuple(9, 9, 123), reading=None)
    assert tuner.memory.incumbent == PoolTuple(9, 9, 123)


def test_stand_down_may_be_for_a_while(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, rules=rules(stand_down_s=100.0))
    tuner.run(3)
    tuner.turn(in_force=PoolTuple(4, 3, 500), reading=None)
    stood_down_s = tuner.at_s
    tuner.until(State.TRIAL)
    assert tuner.at_s - stood_down_s >= 100.0
    assert tuner.memory.initial == PoolTuple(4, 3, 500)


@pytest.mark.parametrize("state", [State.TRIAL, State.VERIFY])
@pytest.mark.parametrize(
    "disturbed",
    [{"hindrances": (Hindrance("ALTER TABLE runs"),)}, {"kill": True}, {"reading": None}, {"refused": "no"}],
)
def test_whatever_disturbs_a_try_ends_it(drive: MakeDrive, state: State, disturbed: dict[str, object]) -> None:
    tuner = drive(rising, wanted=PoolTuple(4, 3, 500))
    tuner.until(state)
    decision = tuner.turn(**disturbed)
    assert decision.pool_tuple == decision.incumbent == INITIAL
    assert tuner.turn(**disturbed).pool_tuple == INITIAL
    assert tuner.in_force == INITIAL


def test_server_that_is_gone_is_left_alone_and_then_brought_back(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.until(State.TRIAL)
    tuner.observation()  # the candidate is in force
    assert tuner.turn(in_force=None, reading=None).pool_tuple is None
    candidate = tuner.in_force
    assert candidate != INITIAL
    decision = tuner.turn(in_force=candidate, reading=None)
    assert decision.pool_tuple == INITIAL
    assert decision.state is State.ROLL_BACK


def test_change_that_broke_off_half_way_is_the_tuners_own(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=PoolTuple(4, 6, 250))
    tuner.until(State.TRIAL)
    tuner.turn(in_force=None, reading=None)
    assert tuner.turn(in_force=PoolTuple(4, 3, 250), reading=None).pool_tuple == INITIAL


def test_restarted_server_begins_anew_with_what_its_file_says(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.until(State.TRIAL)
    decision = tuner.turn(in_force=PoolTuple(3, 3, 500), reading=None, restarted=True)
    assert decision.incumbent == PoolTuple(3, 3, 500)
    assert tuner.memory.state is State.WATCH


def test_kill_switch_holds_for_as_long_as_it_is_thrown(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    for _ in range(50):
        assert tuner.turn(kill=True).state is State.STAND_DOWN
    tuner.until(State.TRIAL)


def test_kill_switch_does_not_shorten_an_open_circuit(drive: MakeDrive) -> None:
    settings = rules(breaker_roll_backs=1, circuit_open_s=1000.0)
    tuner = drive(falling, wanted=FAR, rules=settings)
    tuner.until(State.OPEN_CIRCUIT)
    opened_s = tuner.at_s
    tuner.turn(kill=True)
    tuner.until(State.WATCH)
    assert tuner.at_s - opened_s >= 1000.0


def test_kill_switch_lets_a_roll_back_come_to_its_end_with_its_pause(drive: MakeDrive) -> None:
    """Before, the pause after it and the open circuit were forgotten, and tries went on when the switch was back."""
    tuner = drive(falling, wanted=FAR, rules=rules(breaker_roll_backs=1, circuit_open_s=1000.0))
    tuner.until(State.ROLL_BACK)
    back_s = tuner.at_s
    decision = tuner.turn(kill=True, in_force=PoolTuple(4, 3, 500), reading=None, refused="no")
    assert (decision.state, decision.pool_tuple) == (State.ROLL_BACK, INITIAL)
    assert tuner.turn(kill=True).state is State.STAND_DOWN
    tuner.until(State.WATCH, most=1000)
    assert tuner.at_s - back_s >= 1000.0


def test_kill_switch_says_whether_what_is_verified_is_in_force(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.until(State.TRIAL)
    assert tuner.turn(kill=True).reason.endswith(f"{INITIAL} comes back")
    assert tuner.turn(kill=True).reason.endswith(f"{INITIAL} stays in force")


def test_kill_switch_does_not_end_a_stand_down(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.turn(in_force=PoolTuple(7, 3, 500), reading=None)
    tuner.turn(kill=True)
    assert {decision.state for decision in tuner.run(50)} == {State.STAND_DOWN}


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.ADVISE])
def test_nothing_is_set_unless_the_mode_is_apply(drive: MakeDrive, mode: Mode) -> None:
    tuner = drive(rising, wanted=FAR, rules=rules(mode))
    tuner.run(100)
    assert {decision.pool_tuple for decision in tuner.decisions} == {INITIAL}
    assert any(decision.ask for decision in tuner.decisions) == (mode is Mode.ADVISE)
    would = {decision.would for decision in tuner.decisions}
    assert would == ({None, PoolTuple(4, 3, 500)} if mode is Mode.ADVISE else {None})


def test_somebody_elses_change_is_no_stand_down_where_nothing_is_applied(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, rules=rules(Mode.ADVISE))
    tuner.run(20)
    assert tuner.turn(in_force=PoolTuple(8, 3, 500), reading=None).state is State.WATCH


def test_approval_lets_a_waiting_step_begin_without_a_new_look(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, rules=rules(approval=True))
    tuner.run(30)
    waiting = tuner.decisions[-1]
    assert waiting.would == PoolTuple(4, 3, 500)
    assert "waits for approval" in waiting.reason
    assert tuner.turn(approved="(8, 3, 500)").state is State.HOLD
    assert tuner.turn(approved="(4, 3, 500)").state is State.TRIAL


def test_small_promise_is_not_worth_a_try(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, gain=0.01)
    tuner.run(50)
    assert State.TRIAL not in tuner.states()
    assert any("less than the 5 % that a trial must" in decision.reason for decision in tuner.decisions)


def test_no_advice_changes_nothing(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    silent = Proposal(pool_tuple=FAR, abstained=True, reason="unfamiliar")
    for _ in range(30):
        tuner.turn(proposal=silent if tuner.decision.ask else None)
    assert tuner.in_force == INITIAL
    assert any(decision.reason == "no advice: unfamiliar" for decision in tuner.decisions)


def test_another_workload_is_watched_anew_and_what_was_found_first_gets_its_chance(drive: MakeDrive) -> None:
    def turned(pool_tuple: PoolTuple, at_s: float) -> float:
        return rising(pool_tuple, at_s) if at_s < 1500.0 else 0.3 * falling(pool_tuple, at_s)

    tuner = drive(turned, wanted=PoolTuple(16, 3, 500))
    tuner.run(300)
    assert tuner.memory.incumbent == PoolTuple(16, 3, 500)
    tuner.wanted = INITIAL
    tuner.run(200)
    assert tuner.memory.incumbent == INITIAL
    assert tuner.memory.workload > 0


def test_a_fall_soon_after_a_change_takes_it_back(drive: MakeDrive) -> None:
    def fell(pool_tuple: PoolTuple, at_s: float) -> float:
        return 1500.0 if pool_tuple != INITIAL and at_s < 200.0 else 500.0 if pool_tuple != INITIAL else 1000.0

    tuner = drive(fell, wanted=PoolTuple(4, 3, 500))
    tuner.run(45)
    assert tuner.memory.incumbent == INITIAL
    assert any("soon after" in decision.reason for decision in tuner.decisions)


def test_the_most_that_a_try_can_cost_is_stated_before_and_holds(drive: MakeDrive) -> None:
    for seed in range(20):
        tuner = drive(falling, wanted=FAR, noise=0.05, seed=seed)
        tuner.run(60)
        stated = sum(decision.most_lost for decision in tuner.decisions)
        lost = sum(max(1000.0 - rate, 0.0) * 5.0 for _, rate in tuner.seen)
        assert 0.0 < lost <= stated


def test_same_looks_make_the_same_decisions(drive: MakeDrive) -> None:
    one, other = (drive(rising, wanted=FAR, noise=0.1, seed=3) for _ in range(2))
    assert one.run(300) == other.run(300)
    assert one.memory == other.memory


def test_pool_that_is_poorer_once_it_is_back_stays_where_it_does_as_well(drive: MakeDrive) -> None:
    """What a trial leaves behind: threads that stay at work under the tuple of before, and are quick at little."""
    visited: set[int] = set()

    def remembers(pool_tuple: PoolTuple, _at_s: float) -> float:
        visited.add(pool_tuple.pool_size)
        return 900.0 if pool_tuple == INITIAL and len(visited) > 1 else 1000.0

    def latency(pool_tuple: PoolTuple) -> float:
        return 8.0 if pool_tuple == INITIAL and len(visited) > 1 else 10.0

    tuner = drive(remembers, latency=latency, wanted=PoolTuple(4, 3, 500), noise=0.005)
    tuner.run(60)
    assert tuner.memory.incumbent == PoolTuple(4, 3, 500)
    assert any("before the trial, which has become poorer" in each.reason for each in tuner.decisions)


@pytest.mark.parametrize(("flat_to", "asked"), [(2, 1), (4, 1), (8, 2)])
def test_direction_is_kept_over_one_flat_step(drive: MakeDrive, flat_to: int, asked: int) -> None:
    """Steps to 4 and 8 that gain nothing: the first is followed at once, after the second the predictor is asked."""

    def edge(pool_tuple: PoolTuple, at_s: float) -> float:
        return rising(PoolTuple(max(pool_tuple.pool_size, flat_to), 3, 500), at_s)

    tuner = drive(edge, wanted=FAR)
    while tuner.in_force != FAR:
        tuner.turn()
        assert len(tuner.decisions) < 200
    assert [decision.ask for decision in tuner.decisions].count(True) == asked


def stopped(tuner: Drive) -> Observation:
    """A look at which nothing is completed under anything but what was found."""
    observation = tuner.observation()
    if observation.in_force == INITIAL or observation.reading is None:
        return observation
    nothing = observation.reading.model_copy(update={"throughput_per_s": 0.0, "goodput_per_s": 0.1})
    return observation.model_copy(update={"reading": nothing, "proposal": None})


def test_a_candidate_under_which_nothing_is_completed_is_worse_than_any_other(drive: MakeDrive) -> None:
    settings = rules(ask_every_s=0.0, breaker_roll_backs=2, retry_after_s=600.0)
    tuner = drive(rising, wanted=FAR, rules=settings)
    for _ in range(400):
        observation = stopped(tuner)
        tuner.observations.append(observation)
        tuner.memory, tuner.decision = decide(tuner.memory, observation, tuner.rules)
        tuner.decisions.append(tuner.decision)
    tried = [decision for decision in tuner.decisions if decision.most_lost > 0.0]
    assert any("nothing was completed under (4, 3, 500)" in each.reason for each in tuner.decisions)
    assert State.COOL_DOWN in tuner.states()
    assert State.OPEN_CIRCUIT in tuner.states()
    assert len(tried) <= 400 * 5.0 / 600.0 + 1


STUCK_POOL = tuple(stuck(Crowding(4, 4, 9, 2)))


def stuck_in_a_trial(tuner: Drive, share: float) -> Decision:
    """A window of the candidate at whose end the pool is stuck, with a share of what was completed before."""
    tuner.until(State.TRIAL)
    assert tuner.memory.trial is not None
    before = tuner.memory.trial.befores[-1]
    rate = share * before.throughput_per_s
    reading = before.model_copy(update={"throughput_per_s": rate, "goodput_per_s": rate})
    return tuner.turn(reading=reading, hindrances=STUCK_POOL)


def test_stuck_pool_is_blamed_on_the_candidate_though_something_is_completed(drive: MakeDrive) -> None:
    """Statements over the extra port, a keeper's among them, do not need the pool."""
    tuner = drive(rising, wanted=FAR)
    decision = stuck_in_a_trial(tuner, 0.1)
    assert decision.state is State.ROLL_BACK
    assert decision.reason.startswith("under (4, 3, 500) the pool is stuck")
    assert tuner.memory.refuses(PoolTuple(4, 3, 500))
    tuner.turn()
    assert len(tuner.memory.roll_backs_s) == 1


def test_pool_that_is_stuck_under_what_is_verified_too_opens_no_circuit(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    stuck_in_a_trial(tuner, 0.1)
    tuner.turn(hindrances=STUCK_POOL)
    assert tuner.memory.refuses(PoolTuple(4, 3, 500))
    assert tuner.memory.roll_backs_s == ()


def test_pool_that_stands_for_a_moment_is_no_blame_where_more_is_completed(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    assert stuck_in_a_trial(tuner, 1.3).state is State.WATCH
    assert not tuner.memory.refuses(PoolTuple(4, 3, 500))


@pytest.mark.parametrize(
    ("hindrances", "state"),
    [
        ((), State.ROLL_BACK),
        (STUCK_POOL, State.ROLL_BACK),
        ((Hindrance("der Pool steht", HindranceKind.STUCK),), State.ROLL_BACK),  # by its kind, in any words
        ((Hindrance("a backup runs"),), State.WATCH),
        ((Hindrance("the pool is stuck, says a backup"),), State.WATCH),
    ],
)
def test_what_stops_everything_is_blamed_on_the_candidate_unless_something_else_goes_on(
    drive: MakeDrive, hindrances: tuple[Hindrance, ...], state: State
) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.until(State.TRIAL)
    reading = tuner.observation().reading
    assert reading is not None
    nothing = reading.model_copy(update={"throughput_per_s": 0.0, "goodput_per_s": 0.1})
    assert tuner.turn(reading=nothing, hindrances=hindrances).state is state
    if state is State.ROLL_BACK:
        candidate = PoolTuple(4, 3, 500)
        assert tuner.turn().state is State.COOL_DOWN, "going back has helped"
        assert tuner.memory.refuses(candidate)
        assert len(tuner.memory.roll_backs_s) == 1
        assert tuner.memory.wait_until_s is not None
        assert tuner.memory.wait_until_s > tuner.at_s


def test_what_stops_everything_later_in_a_try_is_blamed_too(drive: MakeDrive) -> None:
    tuner = drive(flat, wanted=FAR, noise=0.02)
    tuner.until(State.TRIAL)
    while tuner.memory.trial is None or not tuner.memory.trial.candidates or tuner.memory.expected == INITIAL:
        tuner.turn()
    reading = tuner.observation().reading
    assert reading is not None
    nothing = reading.model_copy(update={"throughput_per_s": 0.0, "goodput_per_s": 0.1})
    assert tuner.turn(reading=nothing).state is State.ROLL_BACK
    assert tuner.turn().state is State.COOL_DOWN
    assert len(tuner.memory.roll_backs_s) == 1


def test_a_candidate_under_which_the_server_is_lost_is_not_tried_again_for_a_while(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, rules=rules(ask_every_s=0.0))
    tuner.until(State.TRIAL)
    tuner.turn(in_force=None, reading=None, proposal=None)
    assert tuner.memory.refuses(PoolTuple(4, 3, 500))
    tuner.run(100)
    assert sum(decision.most_lost > 0.0 for decision in tuner.decisions) == 1


def test_a_server_that_a_candidate_has_ended_is_not_ended_by_it_again(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, rules=rules(ask_every_s=0.0))
    tuner.until(State.TRIAL)
    tuner.turn(in_force=None, reading=None, proposal=None)
    tuner.in_force = INITIAL
    tuner.decision = tuner.decision.model_copy(update={"pool_tuple": None})
    tuner.turn(in_force=INITIAL, reading=None, proposal=None, restarted=True)
    assert tuner.memory.refuses(PoolTuple(4, 3, 500))
    assert len(tuner.memory.trials_s) == 1
    tuner.run(100)
    assert sum(decision.most_lost > 0.0 for decision in tuner.decisions) == 1


def test_roll_backs_and_openings_outlive_a_restart(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=FAR)
    tuner.until(State.COOL_DOWN)
    tuner.memory = tuner.memory.but(openings=2)
    before = tuner.memory
    tuner.turn(reading=None, proposal=None, restarted=True)
    assert (tuner.memory.roll_backs_s, tuner.memory.openings) == (before.roll_backs_s, 2)
    assert tuner.memory.refusals == before.refusals


def test_a_roll_back_that_the_server_refuses_says_why_and_forgets_the_try(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=FAR)
    tuner.until(State.TRIAL)
    candidate = tuner.memory.expected
    tuner.until(State.ROLL_BACK)
    tuner.turn(in_force=candidate, refused="no threads")
    assert tuner.decision.reason == f"{INITIAL} is not back in force yet: no threads"
    assert (tuner.memory.state, tuner.memory.trial) == (State.ROLL_BACK, None)


def test_what_fell_on_probation_is_still_the_tuners_own_where_going_back_fails_at_first(drive: MakeDrive) -> None:
    shifted: list[float] = [1.0]
    tuner = drive(lambda where, at_s: rising(where, at_s) * shifted[-1], wanted=PoolTuple(4, 3, 500))
    tuner.until(State.HOLD)
    bad = tuner.memory.incumbent
    assert bad == PoolTuple(4, 3, 500)
    shifted.append(0.3)
    tuner.until(State.ROLL_BACK)
    tuner.turn(in_force=None, reading=None, proposal=None)
    assert tuner.turn(in_force=bad, reading=None, proposal=None).state is State.ROLL_BACK
    assert tuner.memory.incumbent == INITIAL


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ({"approval": True}, "which waits for approval"),
        ({"hours": (Hours.parse("sat 00:00-00:01"),)}, "but not before the hours"),
        ({"trials_per_hour": 1}, "were tried within an hour"),
    ],
)
def test_what_was_found_at_first_waits_for_leave_as_every_other(
    drive: MakeDrive, rule: dict[str, Any], says: str
) -> None:
    shifted: list[float] = [1.0]
    tuner = drive(lambda where, at_s: rising(where, at_s) * shifted[-1], wanted=PoolTuple(4, 3, 500))
    tuner.until(State.HOLD)
    tuner.run(400)  # no longer on probation
    tuner.memory = tuner.memory.but(trials_s=(tuner.at_s,))
    tuner.rules = rules(**rule)
    shifted.append(0.3)
    before = len(tuner.decisions)
    tuner.run(40)
    waiting = tuner.decisions[before:]
    assert {each.pool_tuple for each in waiting} == {PoolTuple(4, 3, 500)}
    assert any(f"would try {INITIAL}" in each.reason and says in each.reason for each in waiting)
    assert waiting[-1].would == INITIAL
    tuner.rules = rules()
    tuner.until(State.TRIAL, most=3)
    assert (tuner.decision.pool_tuple, tuner.memory.backward) == (INITIAL, True)


def test_what_was_found_at_first_has_its_chance_also_where_goodput_rose(drive: MakeDrive) -> None:
    others: list[bool] = []

    def throughput(where: PoolTuple, at_s: float) -> float:
        return 20.0 * falling(where, at_s) if others else rising(where, at_s)

    tuner = drive(throughput, wanted=PoolTuple(4, 3, 500))
    tuner.until(State.HOLD)
    tuner.run(400)  # no longer on probation
    others.append(True)
    tuner.wanted = tuner.memory.incumbent
    tuner.run(40)
    assert tuner.memory.incumbent == INITIAL
    assert any(f"would {INITIAL}, which was in force at first" in each.reason for each in tuner.decisions)


def test_what_was_found_at_first_costs_one_window_where_it_is_poor(drive: MakeDrive) -> None:
    shifted: list[float] = [1.0]
    tuner = drive(lambda where, at_s: rising(where, at_s) * shifted[-1], wanted=FAR)
    tuner.run(200)
    shifted.append(3.0)
    before = len(tuner.seen)
    tuner.run(60)
    assert [where for where, _ in tuner.seen[before:] if where != FAR] == [INITIAL]
    assert tuner.memory.incumbent == FAR
