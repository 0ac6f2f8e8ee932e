"""Between trials: what is in force is watched, another workload is noticed, and proposals are weighed."""

from poolpilot.serve.tuner.machine.another_workload import (
    acquitted,
    left_so,
    shift_of,
    watched_anew,
    watched_on,
    with_latest,
)
from poolpilot.serve.tuner.machine.decision import Mode, State
from poolpilot.serve.tuner.machine.evidence.aftermath import Aftermath
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Proposal, Reading
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.recalling import file_verified, known_again, recall, recognised
from poolpilot.serve.tuner.machine.rolling_back import roll_back
from poolpilot.serve.tuner.machine.steps import Step, begin_trial
from poolpilot.serve.tuner.machine.why_not import NoStep, Rules, candidate_of, promised, promises, why_not


def in_watch(reading: Reading, observation: Observation, memory: Memory, rules: Rules) -> Step:
    """Takes a window of the incumbent until there are enough, then asks."""
    if memory.is_paused(observation.at_s):  # what was found at first has been tried meanwhile
        return in_pause(reading, observation, memory.but(state=memory.paused), rules)
    memory = _with_window(reading, observation, memory, rules)
    if memory.other:
        return memory, memory.decision("requests look different from those before; one window more")
    if (step := recall(observation, memory, rules)) is not None:
        return step
    if observation.proposal is not None and memory.baseline:
        return _weighed(observation.proposal, observation, memory, rules)
    if not _has_watched(observation, memory, rules):
        have, want = len(memory.baseline), rules.pace.baseline_windows
        said = f"watching: {have} windows of {want}, {observation.at_s - memory.began_s:.0f} s"
        return memory, memory.decision(said, routine=True)
    if _initial_is_due(memory, rules):
        return _initial_asked(observation, memory, rules)
    return _asking(observation, memory.but(check_initial=False), rules)


def _has_watched(observation: Observation, memory: Memory, rules: Rules) -> bool:
    enough = len(memory.baseline) >= rules.pace.baseline_windows
    return enough and observation.at_s - memory.began_s >= rules.pace.observe_for_s


def _initial_is_due(memory: Memory, rules: Rules) -> bool:
    """Whether what was found at first is to be tried: under another workload, unless it is known what that needs."""
    unknown = memory.check_initial and memory.present is None and memory.incumbent != memory.initial
    return unknown and rules.mode is Mode.APPLY and rules.envelope.allows(memory.initial)


def _initial_asked(observation: Observation, memory: Memory, rules: Rules) -> Step:
    """The trial of what was found at first; where it may not be made now, it waits for leave as every other."""
    if (no := why_not(memory.initial, observation, memory, rules)) is not None:
        state = memory.state if memory.is_paused(observation.at_s) else State.HOLD
        memory = memory.but(state=state, pending=memory.initial, recall=None)
        return memory, memory.decision(no)
    said = f"another workload: would {memory.initial}, which was in force at first, do better now?"
    return begin_trial(memory.initial, observation, memory, rules, said, backward=True)


def in_hold(reading: Reading, observation: Observation, memory: Memory, rules: Rules) -> Step:
    """Takes a window of what is to stay: asks again now and then, and begins anew under another workload."""
    if shift := shift_of(reading, memory.baseline, rules):
        memory = memory.but(other=_one_more(memory.other, shift.change))
        if abs(memory.other) >= 2:
            return _another_workload(reading, observation, memory, rules)
        return memory, memory.decision(f"{shift}; one window more")
    memory = watched_on(reading, memory, rules)
    if observation.proposal is not None:
        return _weighed(observation.proposal, observation, memory, rules)
    if memory.pending is None or not rules.envelope.has_threads_for(memory.pending):
        return _asking(observation, memory.but(pending=None, recall=None), rules)
    if (no := why_not(memory.pending, observation, memory, rules)) is not None:
        return memory, memory.decision(no)
    said = f"{memory.pending} may be tried now"
    backward = memory.check_initial and memory.recall is None and memory.pending == memory.initial
    return begin_trial(memory.pending, observation, memory, rules, said, backward=backward, recall=memory.recall)


def in_pause(reading: Reading, observation: Observation, memory: Memory, rules: Rules) -> Step:
    """Takes a window while nothing may be tried, until the time is over.

    What was found at first is no such trial: under another workload it is the way out of what was found for the one
    before, whatever else is not trusted.
    """
    memory = _with_window(reading, observation, memory, rules)
    if memory.state is State.WATCH:
        return memory, memory.decision(
            "another workload: one trial may show that it is not refused as those before were"
        )
    if memory.wait_until_s is not None and not memory.is_paused(observation.at_s):
        if (
            ends_s := memory.circuit_open_until_s(observation.at_s)
        ) is not None:  # which a stand-down had taken the place of
            memory = memory.but(state=State.OPEN_CIRCUIT, wait_until_s=ends_s, circuit_ends_s=None)
            left_s = ends_s - observation.at_s
            return memory, memory.decision(f"the stand-down is over; the circuit is open for {left_s:.0f} s")
        chance_used = memory.opened_again and State.OPEN_CIRCUIT not in (memory.state, memory.paused)
        memory = memory.but(
            state=State.WATCH, wait_until_s=None, circuit_ends_s=None, asked_s=None, opened_again=chance_used
        )
        return memory, memory.decision("the pause is over")
    ours = memory.state is not State.STAND_DOWN and not memory.other
    if ours and _has_watched(observation, memory, rules) and _initial_is_due(memory, rules):
        return _initial_asked(observation, memory, rules)
    return memory, memory.decision("nothing is tried yet")


def _asking(observation: Observation, memory: Memory, rules: Rules) -> Step:
    due = memory.asked_s is None or observation.at_s - memory.asked_s >= rules.pace.ask_every_s
    if rules.mode is Mode.OBSERVE or not due:
        memory = memory.but(state=State.HOLD)
        return memory, memory.decision(f"{memory.incumbent} stays in force")
    return memory, memory.decision("the predictor is asked", ask=True)


def _weighed(proposal: Proposal, observation: Observation, memory: Memory, rules: Rules) -> Step:
    memory = memory.but(asked_s=observation.at_s, pending=None, recall=None, goal=proposal.pool_tuple)
    candidate = candidate_of(proposal, observation, memory, rules)
    if isinstance(candidate, NoStep) and proposal.abstained:
        memory = memory.but(state=State.HOLD, other=0)
        return memory, memory.decision(candidate.reason)
    if isinstance(candidate, NoStep):
        return _arrived(candidate.reason, observation, file_verified(observation, memory, rules), rules)
    leads_round = candidate != rules.envelope.step(memory.incumbent, proposal.pool_tuple)
    memory = memory.but(leads_round=leads_round)
    if leads_round:
        memory = memory.but(goal=proposal.pool_tuple.with_core((*proposal.pool_tuple.core[:2], candidate.core[2])))
    if rules.mode is Mode.APPLY and not promises(proposal, rules) and not memory.exploring:
        memory = memory.but(exploring=True, explored=memory.explored + 1)
    if (no := why_not(candidate, observation, memory, rules)) is not None:
        memory = memory.but(state=State.HOLD, pending=candidate)
        return memory, memory.decision(no)
    said = f"{candidate} is tried beside {memory.incumbent}, towards {proposal.pool_tuple}{promised(proposal, rules)}"
    return begin_trial(candidate, observation, memory, rules, said, backward=False)


def _arrived(reason: str, observation: Observation, memory: Memory, rules: Rules) -> Step:
    """There is no further step: where those so far are not shown to gain, the tuple they began from gets its chance."""
    journey = memory.journey
    unshown = journey is not None and not memory.refuses(journey.origin) and journey.origin != memory.incumbent
    may = journey is not None and rules.envelope.allows(journey.origin)
    if (
        journey is not None
        and unshown
        and may
        and why_not(journey.origin, observation, memory.but(pending=None), rules) is None
    ):
        said = f"{reason}; the way here is not shown to gain, so {journey.origin} is tried beside {memory.incumbent}"
        return begin_trial(journey.origin, observation, memory, rules, said, backward=True)
    memory = memory.but(state=State.HOLD, other=0, journey=journey if unshown else None, exploring=False)
    return memory, memory.decision(reason)


def _with_window(reading: Reading, observation: Observation, memory: Memory, rules: Rules) -> Memory:
    """A further window, and what it tells of the workload."""
    memory = _lengthened(reading, observation, memory, rules)
    return acquitted(recognised(observation, memory, rules), rules)


def _lengthened(reading: Reading, observation: Observation, memory: Memory, rules: Rules) -> Memory:
    """The baseline with a further window; under another workload it begins anew with it.

    One window of other goodput says less of that than the two of `in_hold`: what was refused stays so, and a pause goes
    on. One that only looks different may be of a job that runs now and then, and is followed by another one. A short
    baseline does not know yet how much its windows scatter, which earlier ones tell, of another workload too: else a
    load that scatters would be another one every few windows, and never be watched for long enough.
    """
    before = memory.watched
    memory = memory.but(watched=with_latest(before, reading, rules))
    shift = shift_of(reading, memory.baseline, rules, before) if memory.baseline else None
    if shift is None:
        return watched_on(reading, memory, rules)
    if not shift.change and not memory.other:
        return memory.but(other=1)
    if (left := left_so(reading, memory, rules)) is not None:
        return left
    return watched_anew(reading, observation, memory, rules).but(
        state=memory.state,
        refusals=memory.refusals,
        returning=memory.returning,
        check_initial=memory.check_initial or not memory.refuses(memory.initial),
        rolled_back_under=memory.rolled_back_under,
    )


def _another_workload(reading: Reading, observation: Observation, memory: Memory, rules: Rules) -> Step:
    fell = memory.other < 0
    on_probation = memory.changed_s is not None and observation.at_s - memory.changed_s < rules.guard.probation_s
    if fell and on_probation and memory.replaced is not None and rules.mode is Mode.APPLY:
        known = memory.known if memory.present is None else memory.known.missed(memory.present)
        bad = memory.incumbent
        memory = memory.but(
            incumbent=memory.replaced,
            lately=bad,
            replaced=None,
            aftermath=Aftermath.of(memory.baseline, memory.risen, memory.gained),
            risen=memory.replaced_risen,
            gained=memory.replaced_gained,
            rows_lost=memory.replaced_rows_lost,
            rows_variance=memory.replaced_rows_variance,
            journey=None,
            baseline=(),
            known=known,
            present=None,
        )
        return roll_back(f"goodput fell soon after {bad} was set", bad, observation, memory, rules, counted=True)
    if (left := left_so(reading, memory, rules)) is not None:
        left = left.but(state=State.WATCH)
        return left, left.decision(f"{left.incumbent} is as a trial has left it; watching goes on")
    memory = watched_anew(reading, observation, memory, rules)
    return known_again("the workload is another one: watching begins anew", observation, memory, rules)


def _one_more(other: int, change: float) -> int:
    """See `Memory.other`: a fall after a rise is the first one; what only looks different goes on with either."""
    if not change:
        return abs(other) + 1
    way = -1 if change < 0.0 else 1
    return other + way if other * way > 0 else way
