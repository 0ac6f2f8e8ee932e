"""A trial from its beginning to its end: paired windows, then some to hold on in; it is verified or rolled back."""

import math

from poolpilot.serve.tuner.known.known_workloads import hour_of_week, sight_of
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.aftermath import Aftermath
from poolpilot.serve.tuner.machine.evidence.paired_trial import BY_TIME, Z_ONE_SIDED_95, PairedTrial
from poolpilot.serve.tuner.machine.evidence.starving import (
    falls_clearly,
    rows_fall,
    rows_variance,
    starved_before,
    starves,
)
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Reading
from poolpilot.serve.tuner.machine.memory import Journey, Memory, Refusal
from poolpilot.serve.tuner.machine.rolling_back import roll_back
from poolpilot.serve.tuner.machine.shift_within_trial import (
    begins_anew,
    ended_by_shift,
    is_another_workload,
    with_observation,
)
from poolpilot.serve.tuner.machine.steps import Step, begin_trial, further_step
from poolpilot.serve.tuner.machine.why_not import Rules

FLAT_STEPS = 1
"""Steps in a row that gain nothing and are followed by the next at once; after more the predictor is asked first."""

HALVED = math.log(2.0)
"""A fall of ln goodput, or of ln completions, that needs no second window to be believed."""


def in_trial(reading: Reading, observation: Observation, memory: Memory, rules: Rules) -> Step:
    """Takes the window of a trial."""
    assert memory.trial is not None
    trial = memory.trial.with_reading(reading)
    memory = with_observation(reading, memory, rules).but(trial=trial, expected=trial.next)
    judged = trial.held_to(memory.baseline, rules.guard)
    if (step := _of_two_workloads(reading, judged, observation, memory, rules)) is not None:
        return step
    if memory.backward and (starved := starved_before(judged, rules.min_rows_share)) is not None:
        if len(judged.candidates) < rules.pace.least_pairs:  # a report may have run in one of the windows only
            return memory, memory.decision(f"{starved}, by {len(judged.candidates)} windows")
        memory, decision = _accepted(observation, memory.but(trial=judged, held_on=()), rules)
        return memory, decision.model_copy(update={"reason": f"{starved}; {decision.reason}"})
    if (harm := judged.harm(rules.guard)) is not None:
        return lost_out(harm, observation, memory, rules, counted=True)
    if (harm := starves(judged, rules.min_rows_share)) is not None:
        return lost_out(harm, observation, memory, rules, counted=falls_clearly(judged), starved_by=rows_fall(judged))
    if memory.other and (is_another_workload(memory) or len(judged.candidates) < rules.pace.most_pairs):
        return _appears_different(reading, observation, memory, rules)
    verdict = judged.verdict(rules.guard, rules.pace)
    shown = _shown(judged)
    if verdict is None:
        return memory, memory.decision(f"{len(trial.candidates)} windows of {trial.candidate} beside {trial.before}")
    if verdict == "worse" or (verdict == "no worse" and _must_gain(memory)):
        said = judged.too_slow((), rules.guard) or f"{trial.candidate} is {shown} against {trial.before}"
        return lost_out(said, observation, memory, rules, counted=False)
    memory = memory.but(state=State.VERIFY, trial=judged, expected=trial.candidate, held_on=(), worse=0)
    than = trial.before if judged is trial else f"{trial.before} before the trial, which has become poorer"
    return memory, memory.decision(f"{trial.candidate} is {verdict} than {than}: {shown}; it must hold on")


def _of_two_workloads(
    reading: Reading, judged: PairedTrial, observation: Observation, memory: Memory, rules: Rules
) -> Step | None:
    """What follows where a window of the incumbent looks different; None where nothing does but to wait.

    The candidate is not in force. Where it would have to be rolled back now, it is that window which has risen: the
    candidate is not to blame, and has no further one.
    """
    trial = memory.trial
    assert trial is not None
    anew = begins_anew(trial, memory, rules)
    if anew or (memory.other and trial.next == trial.candidate):
        harms = judged.harm(rules.guard) is not None or starves(judged, rules.min_rows_share) is not None
        if harms:
            return _shifted(reading, observation, memory, rules, sure=not anew)
    return _begun_anew(memory) if anew else None


def _begun_anew(memory: Memory) -> Step:
    assert memory.trial is not None
    trial = memory.trial.from_latest()
    memory = memory.but(trial=trial, baseline=trial.befores, lost_requests=booked(memory))
    said = f"{memory.incumbent} looks different from before the trial, which begins anew with {memory.expected}"
    return memory, memory.decision(said)


def _shifted(reading: Reading, observation: Observation, memory: Memory, rules: Rules, *, sure: bool) -> Step:
    return ended_by_shift(reading, observation, _without_trial(memory, booked(memory)), rules, sure=sure)


def _appears_different(reading: Reading, observation: Observation, memory: Memory, rules: Rules) -> Step:
    """Nothing is concluded from windows of two workloads; the trial ends once it is sure that they are."""
    if is_another_workload(memory):
        return _shifted(reading, observation, memory, rules, sure=True)
    return memory, memory.decision("requests look different from those before; one window more")


def _must_gain(memory: Memory) -> bool:
    """Whether a tuple of before is tried that no steps have led away from: only a gain is worth going there."""
    return memory.backward and memory.journey is None


def _shown(trial: PairedTrial) -> str:
    """What the windows so far say, of goodput and, where that is no count of them, of completed requests."""
    if not trial.candidates:
        return "nothing yet"
    gain, error = trial.gain()
    said = f"{100 * math.expm1(gain):+.1f} % (standard error {100 * error:.1f} %)"
    if not trial.goes_by_time:
        return said
    done = trial.by_completions().gain()[0]
    return f"{said} {BY_TIME}, {100 * math.expm1(done):+.1f} % by how many are completed"


def in_verify(reading: Reading, observation: Observation, memory: Memory, rules: Rules) -> Step:
    """Takes a window of a trial that has done well; two bad ones in a row, or one very bad one, roll it back."""
    assert memory.trial is not None
    trial = memory.trial
    bad = trial.fails(reading, rules.guard)
    memory = with_observation(reading, memory, rules)
    memory = memory.but(held_on=(*memory.held_on, reading), worse=0 if bad is None else memory.worse + 1)
    if memory.worse >= 2 or trial.fall(reading) > HALVED:
        return lost_out(
            f"{trial.candidate} did not hold on: {bad or 'goodput has halved'}",
            observation,
            memory,
            rules,
            counted=True,
        )
    if memory.other:
        return _appears_different(reading, observation, memory, rules)
    if (not_to_stay := trial.too_slow(memory.held_on, rules.guard)) is not None:
        return lost_out(not_to_stay, observation, memory, rules, counted=False)
    if (not_to_stay := starves(trial, rules.min_rows_share, memory.held_on)) is not None:
        fall = rows_fall(trial, memory.held_on)
        return lost_out(not_to_stay, observation, memory, rules, counted=False, starved_by=fall)
    if len(memory.held_on) < rules.pace.verify_windows or bad is not None:
        return memory, memory.decision(f"{trial.candidate} has held on for {len(memory.held_on)} windows")
    return _accepted(observation, memory, rules)


def abandon(observation: Observation, memory: Memory) -> Memory:
    """Ends a trial that cannot be judged; the incumbent comes back."""
    if memory.trial is None:
        return memory.but(expected=memory.incumbent)
    further = observation.reading if observation.in_force == memory.expected == memory.trial.candidate else None
    return _without_trial(memory, booked(memory, further))


def _without_trial(memory: Memory, lost_requests: float) -> Memory:
    return memory.but(
        state=State.WATCH,
        trial=None,
        expected=memory.incumbent,
        baseline=(),
        held_on=(),
        other=0,
        recall=None,
        lost_requests=lost_requests,
    )


def booked(memory: Memory, further: Reading | None = None) -> float:
    """Requests that trials have cost, the one in progress included.

    Args:
        memory: What is remembered.
        further: A window of its candidate that it was not judged by, where there is one.
    """
    if memory.trial is None:
        return memory.lost_requests
    held_on = memory.held_on if memory.state is State.VERIFY else ()
    trial = memory.trial
    if further is not None and memory.state is State.VERIFY:
        held_on = (*held_on, further)
    elif further is not None:
        trial = trial.with_reading(further)
    return memory.lost_requests + trial.lost_requests(held_on)


def _accepted(observation: Observation, memory: Memory, rules: Rules) -> Step:
    """The candidate is the incumbent from now on; the next step may follow at once, also over a flat one."""
    assert memory.trial is not None
    trial = memory.trial
    gain, error = trial.gain()
    better = gain - Z_ONE_SIDED_95 * error > 0.0
    memory = _filed(trial, observation, _with_way(trial, memory, better=better))
    memory = memory.but(
        state=State.WATCH,
        incumbent=trial.candidate,
        expected=trial.candidate,
        replaced=trial.before,
        replaced_risen=memory.risen,
        replaced_gained=memory.gained,
        replaced_rows_lost=memory.rows_lost,
        replaced_rows_variance=memory.rows_variance,
        changed_s=observation.at_s,
        trial=None,
        backward=False,
        recall=None,
        risen=memory.risen + (trial.latency_rise() or 0.0),
        gained=memory.gained + trial.by_completions().gain()[0],
        rows_lost=max(memory.rows_lost + (rows_fall(trial, memory.held_on) or 0.0), 0.0),
        rows_variance=memory.rows_variance + rows_variance(trial, memory.held_on),
        trials_s=memory.trials_s[:-1] if better else memory.trials_s,
        baseline=(*trial.candidates, *memory.held_on)[-2 * rules.pace.baseline_windows :],
        other=0,
        held_on=(),
        asked_s=None,
        lost_requests=booked(memory),
        half_open_until_s=memory.half_open_until_s if memory.backward else None,
        opened_again=memory.opened_again and memory.backward,
    )
    said = f"{trial.candidate} is verified; it replaces {trial.before}"
    flat = 0 if memory.journey is None else len(memory.journey.steps)
    further = further_step(observation, memory, rules) if better or 0 < flat <= FLAT_STEPS else None
    if further is None:
        return memory.but(goal=None), memory.decision(said)
    said = f"{said}; {further} is tried next, towards {memory.goal}"
    return begin_trial(further, observation, memory, rules, said, backward=False)


def _with_way(trial: PairedTrial, memory: Memory, *, better: bool) -> Memory:
    """With the steps since the last tuple that was shown better; what was verified on another day is no step."""
    if better:
        memory = memory.but(openings=0, half_open_until_s=None, opened_again=False)
    if memory.backward:
        steps = () if memory.journey is None else memory.journey.steps
        passed = (Refusal(pool_tuple=each) for each in dict.fromkeys((*steps, trial.before)))
        return memory.but(journey=None, refusals=(*memory.refusals, *passed), goal=None, exploring=False)
    if memory.recall is not None:
        return memory.but(journey=None)
    journey = (memory.journey or Journey(origin=trial.before)).with_step(trial.candidate, *trial.gain())
    if better or journey.shown_better:
        memory = memory.but(exploring=False, explored=0)
    return memory.but(journey=None if journey.shown_better else journey)


def _filed(trial: PairedTrial, observation: Observation, memory: Memory) -> Memory:
    """With the candidate as what this workload is to get when it comes back."""
    number = memory.present if memory.recall is None else memory.recall
    sights = (*memory.sights, sight_of(trial.candidate, (each.ratios for each in memory.held_on)))
    hour = hour_of_week(observation.unix_s)
    known, number = memory.known.filed(number, sights, trial.candidate, trial.noise, hour, memory.cpus)
    return memory.but(known=known, present=number, sights=())


def lost_out(
    reason: str,
    observation: Observation,
    memory: Memory,
    rules: Rules,
    *,
    counted: bool,
    starved_by: float | None = None,
    further: Reading | None = None,
) -> Step:
    """Ends a trial that was not better; one of an earlier tuple only shows that the present one is right.

    Args:
        reason: Why, as a sentence.
        observation: What was found out last.
        memory: What is remembered.
        rules: What is allowed.
        counted: Whether it counts as a roll-back, of which several open the circuit.
        starved_by: How far ln rows read a second have fallen, where it ends for that.
        further: See `booked`.
    """
    assert memory.trial is not None
    trial = memory.trial
    memory = memory.but(lost_requests=booked(memory, further), other=0)
    if memory.exploring and (fall := trial.left_behind(memory.baseline, rules.guard)):
        worse = f"{trial.before} {trial.falls_short(fall, 'before the trial')}"
        reason = f"{reason}; {worse}, so nothing more is tried to learn from under this workload"
        memory = memory.but(explored=max(memory.explored, rules.guard.explorations))
    if memory.recall is not None:
        memory = memory.but(known=memory.known.missed(memory.recall))
    if not memory.backward:
        return roll_back(
            reason, trial.candidate, observation, memory, rules, counted=counted, starved_by=starved_by, further=further
        )
    if trial.candidate == memory.initial:
        memory = memory.but(rows_lost=max(-(rows_fall(trial) or 0.0), 0.0), rows_variance=rows_variance(trial))
    memory = memory.but(
        state=State.WATCH,
        trial=None,
        backward=False,
        journey=None,
        exploring=False,
        expected=trial.before,
        aftermath=Aftermath.of(memory.baseline, memory.risen, memory.gained),
        baseline=trial.befores,
        refusals=(
            *memory.refusals,
            Refusal(pool_tuple=trial.candidate, until_s=observation.at_s + rules.guard.retry_after_s),
        ),
    )
    return memory, memory.decision(f"{reason}: {trial.before} stays")
