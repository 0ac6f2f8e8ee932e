"""Between tries: what is in force is watched, another workload is noticed, and proposals are weighed."""

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
from poolpilot.serve.tuner.machine.evidence.look import Look, Proposal, Reading
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.recalling import file_verified, known_again, recall, recognised
from poolpilot.serve.tuner.machine.rolling_back import taken_back
from poolpilot.serve.tuner.machine.steps import Step, begin_try
from poolpilot.serve.tuner.machine.why_not import NoStep, Rules, candidate_of, promised, promises, why_not


def in_watch(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Step:
    """Takes a window of what is verified until there are enough, then asks."""
    if memory.is_paused(look.at_s):  # what was found at first has been tried meanwhile
        return in_pause(reading, look, memory.but(state=memory.paused), rules)
    memory = _with_window(reading, look, memory, rules)
    if memory.other:
        return memory, memory.decision("requests look different from those before; one window more")
    if (step := recall(look, memory, rules)) is not None:
        return step
    if look.proposal is not None and memory.baseline:
        return _weighed(look.proposal, look, memory, rules)
    if not _has_watched(look, memory, rules):
        have, want = len(memory.baseline), rules.pace.baseline_windows
        said = f"watching: {have} windows of {want}, {look.at_s - memory.began_s:.0f} s"
        return memory, memory.decision(said, routine=True)
    if _home_is_due(memory, rules):
        return _home_asked(look, memory, rules)
    return _asking(look, memory.but(check_home=False), rules)


def _has_watched(look: Look, memory: Memory, rules: Rules) -> bool:
    enough = len(memory.baseline) >= rules.pace.baseline_windows
    return enough and look.at_s - memory.began_s >= rules.pace.observe_for_s


def _home_is_due(memory: Memory, rules: Rules) -> bool:
    """Whether what was found at first is to be tried: under another workload, unless it is known what that needs."""
    unknown = memory.check_home and memory.present is None and memory.verified != memory.home
    return unknown and rules.mode is Mode.APPLY and rules.envelope.allows(memory.home)


def _home_asked(look: Look, memory: Memory, rules: Rules) -> Step:
    """The try of what was found at first; where it may not be made now, it waits for leave as every other."""
    if (no := why_not(memory.home, look, memory, rules)) is not None:
        state = memory.state if memory.is_paused(look.at_s) else State.HOLD
        memory = memory.but(state=state, pending=memory.home, recall=None)
        return memory, memory.decision(no)
    said = f"another workload: would {memory.home}, which was in force at first, do better now?"
    return begin_try(memory.home, look, memory, rules, said, homeward=True)


def in_hold(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Step:
    """Takes a window of what is to stay: asks again now and then, and begins anew under another workload."""
    if shift := shift_of(reading, memory.baseline, rules):
        memory = memory.but(other=_one_more(memory.other, shift.change))
        if abs(memory.other) >= 2:
            return _another_workload(reading, look, memory, rules)
        return memory, memory.decision(f"{shift}; one window more")
    memory = watched_on(reading, memory, rules)
    if look.proposal is not None:
        return _weighed(look.proposal, look, memory, rules)
    if memory.pending is None or not rules.envelope.has_threads_for(memory.pending):
        return _asking(look, memory.but(pending=None, recall=None), rules)
    if (no := why_not(memory.pending, look, memory, rules)) is not None:
        return memory, memory.decision(no)
    said = f"{memory.pending} may be tried now"
    homeward = memory.check_home and memory.recall is None and memory.pending == memory.home
    return begin_try(memory.pending, look, memory, rules, said, homeward=homeward, recall=memory.recall)


def in_pause(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Step:
    """Takes a window while nothing may be tried, until the time is over.

    What was found at first is no such try: under another workload it is the way out of what was found for the one
    before, whatever else is not trusted.
    """
    memory = _with_window(reading, look, memory, rules)
    if memory.state is State.WATCH:
        return memory, memory.decision("another workload: one try may show that it is not refused as those before were")
    if memory.wait_until_s is not None and not memory.is_paused(look.at_s):
        if (ends_s := memory.circuit_open_until_s(look.at_s)) is not None:  # which a stand-down had taken the place of
            memory = memory.but(state=State.OPEN_CIRCUIT, wait_until_s=ends_s, circuit_ends_s=None)
            left_s = ends_s - look.at_s
            return memory, memory.decision(f"the stand-down is over; the circuit is open for {left_s:.0f} s")
        chance_used = memory.opened_again and State.OPEN_CIRCUIT not in (memory.state, memory.paused)
        memory = memory.but(
            state=State.WATCH, wait_until_s=None, circuit_ends_s=None, asked_s=None, opened_again=chance_used
        )
        return memory, memory.decision("the pause is over")
    ours = memory.state is not State.STAND_DOWN and not memory.other
    if ours and _has_watched(look, memory, rules) and _home_is_due(memory, rules):
        return _home_asked(look, memory, rules)
    return memory, memory.decision("nothing is tried yet")


def _asking(look: Look, memory: Memory, rules: Rules) -> Step:
    due = memory.asked_s is None or look.at_s - memory.asked_s >= rules.pace.ask_every_s
    if rules.mode is Mode.OBSERVE or not due:
        memory = memory.but(state=State.HOLD)
        return memory, memory.decision(f"{memory.verified} stays in force")
    return memory, memory.decision("the predictor is asked", ask=True)


def _weighed(proposal: Proposal, look: Look, memory: Memory, rules: Rules) -> Step:
    memory = memory.but(asked_s=look.at_s, pending=None, recall=None, goal=proposal.pool_tuple)
    candidate = candidate_of(proposal, look, memory, rules)
    if isinstance(candidate, NoStep) and proposal.abstained:
        memory = memory.but(state=State.HOLD, other=0)
        return memory, memory.decision(candidate.reason)
    if isinstance(candidate, NoStep):
        return _arrived(candidate.reason, look, file_verified(look, memory, rules), rules)
    leads_round = candidate != rules.envelope.step(memory.verified, proposal.pool_tuple)
    memory = memory.but(leads_round=leads_round)
    if leads_round:
        memory = memory.but(goal=proposal.pool_tuple.with_core((*proposal.pool_tuple.core[:2], candidate.core[2])))
    if rules.mode is Mode.APPLY and not promises(proposal, rules) and not memory.exploring:
        memory = memory.but(exploring=True, explored=memory.explored + 1)
    if (no := why_not(candidate, look, memory, rules)) is not None:
        memory = memory.but(state=State.HOLD, pending=candidate)
        return memory, memory.decision(no)
    said = f"{candidate} is tried beside {memory.verified}, towards {proposal.pool_tuple}{promised(proposal, rules)}"
    return begin_try(candidate, look, memory, rules, said, homeward=False)


def _arrived(reason: str, look: Look, memory: Memory, rules: Rules) -> Step:
    """There is no further step: where those so far are not shown to gain, the tuple they began from gets its chance."""
    journey = memory.journey
    unshown = journey is not None and not memory.refuses(journey.origin) and journey.origin != memory.verified
    may = journey is not None and rules.envelope.allows(journey.origin)
    if (
        journey is not None
        and unshown
        and may
        and why_not(journey.origin, look, memory.but(pending=None), rules) is None
    ):
        said = f"{reason}; the way here is not shown to gain, so {journey.origin} is tried beside {memory.verified}"
        return begin_try(journey.origin, look, memory, rules, said, homeward=True)
    memory = memory.but(state=State.HOLD, other=0, journey=journey if unshown else None, exploring=False)
    return memory, memory.decision(reason)


def _with_window(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Memory:
    """A further window, and what it tells of the workload."""
    memory = _lengthened(reading, look, memory, rules)
    return acquitted(recognised(look, memory, rules), rules)


def _lengthened(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Memory:
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
    return watched_anew(reading, look, memory, rules).but(
        state=memory.state,
        refusals=memory.refusals,
        returning=memory.returning,
        check_home=memory.check_home or not memory.refuses(memory.home),
        taken_back_under=memory.taken_back_under,
    )


def _another_workload(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Step:
    fell = memory.other < 0
    on_probation = memory.changed_s is not None and look.at_s - memory.changed_s < rules.guard.probation_s
    if fell and on_probation and memory.replaced is not None and rules.mode is Mode.APPLY:
        known = memory.known if memory.present is None else memory.known.missed(memory.present)
        bad = memory.verified
        memory = memory.but(
            verified=memory.replaced,
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
        return taken_back(f"goodput fell soon after {bad} was set", bad, look, memory, rules, counted=True)
    if (left := left_so(reading, memory, rules)) is not None:
        left = left.but(state=State.WATCH)
        return left, left.decision(f"{left.verified} is as a try has left it; watching goes on")
    memory = watched_anew(reading, look, memory, rules)
    return known_again("the workload is another one: watching begins anew", look, memory, rules)


def _one_more(other: int, change: float) -> int:
    """See `Memory.other`: a fall after a rise is the first one; what only looks different goes on with either."""
    if not change:
        return abs(other) + 1
    way = -1 if change < 0.0 else 1
    return other + way if other * way > 0 else way
