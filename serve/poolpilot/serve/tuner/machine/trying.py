"""A try from its beginning to its end: paired windows, then a stand, then it is verified; or it is taken back."""

import math
import statistics

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.look import Look, Reading
from poolpilot.serve.tuner.machine.memory import Journey, Memory, Refusal
from poolpilot.serve.tuner.machine.paired_trial import Z_HARM, PairedTrial, noise_of
from poolpilot.serve.tuner.machine.why_not import Rules

Step = tuple[Memory, Decision]
"""What is remembered after a look, and what is decided."""

HALVED = math.log(2.0)
"""A fall of ln goodput that needs no second window to be believed."""


def begin_try(candidate: PoolTuple, look: Look, memory: Memory, rules: Rules, reason: str, *, homeward: bool) -> Step:
    """Sets a candidate for its first window; `homeward` where it was verified before, and may be better after all."""
    trial = PairedTrial(
        before=memory.verified, candidate=candidate, noise=noise_of(memory.baseline), befores=memory.baseline[-1:]
    )
    memory = memory.but(
        state=State.TRY,
        trial=trial,
        homeward=homeward,
        expected=candidate,
        tries_s=(*memory.tries_s, look.at_s),
        pending=None,
        check_home=False,
    )
    return memory, memory.decision(reason, most_lost=_most_lost(trial.befores[-1], rules))


def in_try(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Step:
    """Takes the window of a try."""
    assert memory.trial is not None
    trial = memory.trial.with_reading(reading)
    memory = memory.but(trial=trial, expected=trial.next)
    if (harm := trial.harm(rules.guard)) is not None:
        return _lost_out(harm, look, memory, rules, counted=True)
    verdict = trial.verdict(rules.guard, rules.pace)
    gain, error = trial.gain() if trial.candidates else (0.0, math.inf)
    shown = f"{100 * math.expm1(gain):+.1f} % (standard error {100 * error:.1f} %)"
    if verdict is None:
        return memory, memory.decision(f"{len(trial.candidates)} windows of {trial.candidate} beside {trial.before}")
    if verdict == "worse":
        return _lost_out(f"{trial.candidate} is {shown} against {trial.before}", look, memory, rules, counted=False)
    memory = memory.but(state=State.VERIFY, expected=trial.candidate, standing=0, worse=0)
    return memory, memory.decision(f"{trial.candidate} is {verdict} than {trial.before}: {shown}; it must stand")


def in_verify(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Step:
    """Takes a window of a try that has done well; two bad ones in a row, or one very bad one, take it back."""
    assert memory.trial is not None
    trial = memory.trial
    before = statistics.fmean(math.log(each.goodput_per_s) for each in trial.befores)
    fall = before - math.log(reading.goodput_per_s)
    chance = Z_HARM * trial.noise * math.sqrt(1.0 + 1.0 / len(trial.befores))
    bad = fall > max(-math.log1p(-rules.guard.most_drop), chance)
    memory = memory.but(standing=memory.standing + 1, worse=memory.worse + 1 if bad else 0)
    if memory.worse >= 2 or fall > HALVED:
        said = f"{trial.candidate} did not stand: {100 * -math.expm1(-fall):.0f} % below {trial.before}"
        return _lost_out(said, look, memory, rules, counted=True)
    if memory.standing < rules.pace.verify_windows or bad:
        return memory, memory.decision(f"{trial.candidate} has stood {memory.standing} windows")
    return _accepted(reading, look, memory)


def abandon(memory: Memory) -> Memory:
    """Ends a try that cannot be judged; what is verified comes back."""
    if memory.trial is None:
        return memory.but(expected=memory.verified)
    return memory.but(state=State.WATCH, trial=None, expected=memory.verified, baseline=())


def taken_back(reason: str, bad: PoolTuple, look: Look, memory: Memory, rules: Rules, *, counted: bool) -> Step:
    """Brings back what is verified, and does not try the bad tuple again for a while."""
    refusal = Refusal(pool_tuple=bad, until_s=look.at_s + rules.guard.retry_after_s)
    memory = memory.but(
        state=State.ROLL_BACK,
        trial=None,
        homeward=False,
        expected=memory.verified,
        pending=None,
        refusals=(*memory.refusals, refusal),
        roll_backs_s=(*memory.roll_backs_s, look.at_s) if counted else memory.roll_backs_s,
    )
    return memory, memory.decision(f"{reason}: back to {memory.verified}")


def rolled_back(look: Look, memory: Memory, rules: Rules) -> Step:
    """Once what is verified is in force again: a while without tries, a long one after several roll-backs."""
    if len(memory.roll_backs_s) >= rules.guard.breaker_roll_backs:
        memory = memory.but(
            state=State.OPEN_CIRCUIT, wait_until_s=look.at_s + rules.guard.circuit_open_s, roll_backs_s=()
        )
        often = rules.guard.breaker_roll_backs
        return memory, memory.decision(
            f"{often} tries were taken back within an hour: none for {rules.guard.circuit_open_s:g} s"
        )
    memory = memory.but(state=State.COOL_DOWN, wait_until_s=look.at_s + rules.guard.cool_down_s)
    return memory, memory.decision(f"{memory.verified} is back in force; no try for {rules.guard.cool_down_s:g} s")


def _accepted(reading: Reading, look: Look, memory: Memory) -> Step:
    assert memory.trial is not None
    trial = memory.trial
    journey = None
    refusals = memory.refusals
    if memory.homeward:
        steps = () if memory.journey is None else memory.journey.steps
        refusals = (*refusals, *(Refusal(pool_tuple=each) for each in {*steps, trial.before}))
    else:
        journey = (memory.journey or Journey(origin=trial.before)).with_step(trial.candidate, *trial.gain())
    memory = memory.but(
        state=State.WATCH,
        verified=trial.candidate,
        expected=trial.candidate,
        replaced=trial.before,
        changed_s=look.at_s,
        trial=None,
        homeward=False,
        journey=None if journey is None or journey.shown_better else journey,
        refusals=refusals,
        baseline=(reading,),
        asked_s=None,
        lost_requests=memory.lost_requests + trial.lost_requests(),
    )
    return memory, memory.decision(f"{trial.candidate} is verified; it replaces {trial.before}")


def _lost_out(reason: str, look: Look, memory: Memory, rules: Rules, *, counted: bool) -> Step:
    """Ends a try that was not better; one of an earlier tuple only shows that the present one is right."""
    assert memory.trial is not None
    trial = memory.trial
    memory = memory.but(lost_requests=memory.lost_requests + trial.lost_requests())
    if not memory.homeward:
        return taken_back(reason, trial.candidate, look, memory, rules, counted=counted)
    memory = memory.but(
        state=State.WATCH,
        trial=None,
        homeward=False,
        journey=None,
        expected=trial.before,
        baseline=trial.befores,
        refusals=(*memory.refusals, Refusal(pool_tuple=trial.candidate, until_s=look.at_s + rules.guard.retry_after_s)),
    )
    return memory, memory.decision(f"{reason}: {trial.before} stays")


def _most_lost(before: Reading, rules: Rules) -> float:
    """All of the first window, and of each later one what is allowed: more would have ended the try."""
    further = (rules.pace.most_pairs - 1 + rules.pace.verify_windows) * rules.guard.most_drop
    return before.throughput_per_s * before.seconds * (1.0 + further)
