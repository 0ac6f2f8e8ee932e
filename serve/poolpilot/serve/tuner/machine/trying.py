"""A try from its beginning to its end: paired windows, then a stand, then it is verified; or it is taken back."""

import math
import statistics

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.known.known_workloads import hour_of_week, sight_of
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.look import Look, Reading
from poolpilot.serve.tuner.machine.memory import Journey, Memory, Refusal
from poolpilot.serve.tuner.machine.paired_trial import Z_ONE_SIDED_95, PairedTrial
from poolpilot.serve.tuner.machine.steps import Step, begin_try, further_step
from poolpilot.serve.tuner.machine.why_not import Rules

FLAT_STEPS = 1
"""Steps in a row that gain nothing and are followed by the next at once; after more the predictor is asked first."""

HALVED = math.log(2.0)
"""A fall of ln goodput that needs no second window to be believed."""


def in_try(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Step:
    """Takes the window of a try."""
    assert memory.trial is not None
    trial = memory.trial.with_reading(reading)
    memory = memory.but(trial=trial, expected=trial.next)
    judged = trial.held_to(memory.baseline, rules.guard)
    if (harm := judged.harm(rules.guard)) is not None:
        return _lost_out(harm, look, memory, rules, counted=True)
    verdict = judged.verdict(rules.guard, rules.pace)
    shown = _shown(judged)
    if verdict is None:
        return memory, memory.decision(f"{len(trial.candidates)} windows of {trial.candidate} beside {trial.before}")
    if verdict == "worse":
        said = judged.too_slow((), rules.guard) or f"{trial.candidate} is {shown} against {trial.before}"
        return _lost_out(said, look, memory, rules, counted=False)
    memory = memory.but(state=State.VERIFY, trial=judged, expected=trial.candidate, stood=(), worse=0)
    than = trial.before if judged is trial else f"{trial.before} before the try, which has become poorer"
    return memory, memory.decision(f"{trial.candidate} is {verdict} than {than}: {shown}; it must stand")


def _shown(trial: PairedTrial) -> str:
    """What the windows so far say, of goodput and, where that is no count of them, of completed requests."""
    if not trial.candidates:
        return "nothing yet"
    gain, error = trial.gain()
    said = f"{100 * math.expm1(gain):+.1f} % (standard error {100 * error:.1f} %)"
    if trial.throughput_noise is None:
        return said
    done = trial.by_completions().gain()[0]
    return f"{said} by the time that requests spend, {100 * math.expm1(done):+.1f} % by how many are completed"


def in_verify(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Step:
    """Takes a window of a try that has done well; two bad ones in a row, or one very bad one, take it back."""
    assert memory.trial is not None
    trial = memory.trial
    bad = trial.stands(reading, rules.guard)
    memory = memory.but(stood=(*memory.stood, reading), worse=0 if bad is None else memory.worse + 1)
    before = statistics.fmean(math.log(each.goodput_per_s) for each in trial.befores)
    if memory.worse >= 2 or before - math.log(reading.goodput_per_s) > HALVED:
        return _lost_out(f"{trial.candidate} did not stand: {bad}", look, memory, rules, counted=True)
    if (slow := trial.too_slow(memory.stood, rules.guard)) is not None:
        return _lost_out(slow, look, memory, rules, counted=False)
    if len(memory.stood) < rules.pace.verify_windows or bad is not None:
        return memory, memory.decision(f"{trial.candidate} has stood {len(memory.stood)} windows")
    return _accepted(look, memory, rules)


def abandon(memory: Memory) -> Memory:
    """Ends a try that cannot be judged; what is verified comes back."""
    if memory.trial is None:
        return memory.but(expected=memory.verified)
    return memory.but(state=State.WATCH, trial=None, expected=memory.verified, baseline=(), recall=None)


def taken_back(reason: str, bad: PoolTuple, look: Look, memory: Memory, rules: Rules, *, counted: bool) -> Step:
    """Brings back what is verified, and does not try the bad tuple again for a while."""
    until_s, trial = look.at_s + rules.guard.retry_after_s, memory.trial
    more = trial is not None and bool(trial.candidates) and trial.by_completions().gain()[0] > 0.0
    refusal = Refusal(pool_tuple=bad, until_s=until_s, completed_more=more)
    memory = memory.but(
        state=State.ROLL_BACK,
        trial=None,
        homeward=False,
        recall=None,
        goal=None,
        exploring=False,
        expected=memory.verified,
        pending=None,
        exposed=_exposed(memory, rules),
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
    seconds = rules.guard.cool_down_s * memory.exposed
    memory = memory.but(state=State.COOL_DOWN, wait_until_s=look.at_s + seconds)
    return memory, memory.decision(f"{memory.verified} is back in force; no try for {seconds:.0f} s")


def _accepted(look: Look, memory: Memory, rules: Rules) -> Step:
    """The candidate is what is verified from now on; the next step may follow at once, also over a flat one."""
    assert memory.trial is not None
    trial = memory.trial
    gain, error = trial.gain()
    better = gain - Z_ONE_SIDED_95 * error > 0.0
    memory = _filed(trial, look, _with_way(trial, memory, better=better))
    memory = memory.but(
        state=State.WATCH,
        verified=trial.candidate,
        expected=trial.candidate,
        replaced=trial.before,
        changed_s=look.at_s,
        trial=None,
        homeward=False,
        recall=None,
        risen=memory.risen + (trial.latency_rise() or 0.0),
        tries_s=memory.tries_s[:-1] if better else memory.tries_s,
        baseline=(*trial.candidates, *memory.stood)[-2 * rules.pace.baseline_windows :],
        stood=(),
        asked_s=None,
        lost_requests=memory.lost_requests + trial.lost_requests(),
    )
    said = f"{trial.candidate} is verified; it replaces {trial.before}"
    flat = 0 if memory.journey is None else len(memory.journey.steps)
    further = further_step(look, memory, rules) if better or 0 < flat <= FLAT_STEPS else None
    if further is None:
        return memory.but(goal=None), memory.decision(said)
    said = f"{said}; {further} is tried next, towards {memory.goal}"
    return begin_try(further, look, memory, rules, said, homeward=False)


def _with_way(trial: PairedTrial, memory: Memory, *, better: bool) -> Memory:
    """With the steps since the last tuple that was shown better; what was verified on another day is no step."""
    if memory.homeward:
        steps = () if memory.journey is None else memory.journey.steps
        passed = (Refusal(pool_tuple=each) for each in dict.fromkeys((*steps, trial.before)))
        return memory.but(journey=None, refusals=(*memory.refusals, *passed), goal=None, exploring=False)
    if memory.recall is not None:
        return memory.but(journey=None)
    journey = (memory.journey or Journey(origin=trial.before)).with_step(trial.candidate, *trial.gain())
    if better or journey.shown_better:
        memory = memory.but(exploring=False, explored=0)
    return memory.but(journey=None if journey.shown_better else journey)


def _filed(trial: PairedTrial, look: Look, memory: Memory) -> Memory:
    """With the candidate as what this workload is to get when it comes back."""
    number = memory.present if memory.recall is None else memory.recall
    sights = (*memory.sights, sight_of(trial.candidate, (each.ratios for each in memory.stood)))
    known, number = memory.known.filed(number, sights, trial.candidate, trial.noise, hour_of_week(look.unix_s))
    return memory.but(known=known, present=number, sights=())


def _exposed(memory: Memory, rules: Rules) -> float:
    """Share of the longest try that the one that is taken back has lasted."""
    if memory.trial is None:
        return 1.0
    windows = len(memory.trial.candidates) + len(memory.stood)
    return min(windows / (rules.pace.most_pairs + rules.pace.verify_windows), 1.0)


def _lost_out(reason: str, look: Look, memory: Memory, rules: Rules, *, counted: bool) -> Step:
    """Ends a try that was not better; one of an earlier tuple only shows that the present one is right."""
    assert memory.trial is not None
    trial = memory.trial
    memory = memory.but(lost_requests=memory.lost_requests + trial.lost_requests())
    if memory.exploring and (fall := trial.left_behind(memory.baseline, rules.guard)):
        worse = f"{trial.before} completes {100 * -math.expm1(-fall):.0f} % less than before the try"
        reason = f"{reason}; {worse}, so nothing more is tried to learn from under this workload"
        memory = memory.but(explored=max(memory.explored, rules.guard.explorations))
    if memory.recall is not None:
        memory = memory.but(known=memory.known.missed(memory.recall))
    if not memory.homeward:
        return taken_back(reason, trial.candidate, look, memory, rules, counted=counted)
    memory = memory.but(
        state=State.WATCH,
        trial=None,
        homeward=False,
        journey=None,
        exploring=False,
        expected=trial.before,
        baseline=trial.befores,
        refusals=(*memory.refusals, Refusal(pool_tuple=trial.candidate, until_s=look.at_s + rules.guard.retry_after_s)),
    )
    return memory, memory.decision(f"{reason}: {trial.before} stays")
