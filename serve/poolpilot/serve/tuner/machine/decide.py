"""The tuner's state machine: from what it remembers and what it is told, what it decides; without I/O or a clock.

    watch --asked--> try --done well--> verify --stood--> watch, further steps, then hold
                      |                   |
                      +----- worse -------+--> roll back --> cool down --> watch
                                               (often: open circuit)
    hold --another workload--> watch              a person sets the pool, or throws the switch: stand down

Whatever comes in between (a server that cannot be reached, a hindrance, a window that nobody filled, another workload,
another number of processors) ends a trial, and the incumbent comes back. The tuple of every decision is the verified
one, or within the envelope's reach of it, or one that was verified earlier: `Rules.envelope` is asked for each step,
and the loop that acts asks it again.
"""

from collections.abc import Callable, Mapping

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.another_machine import change_of_machine, on_another_machine
from poolpilot.serve.tuner.machine.decision import Mode, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Reading, beside_the_pool
from poolpilot.serve.tuner.machine.memory import Memory, Refusal
from poolpilot.serve.tuner.machine.rolling_back import rolled_back
from poolpilot.serve.tuner.machine.steps import Step
from poolpilot.serve.tuner.machine.trying import abandon, booked, in_trial, in_verify, lost_out
from poolpilot.serve.tuner.machine.watching import in_hold, in_pause, in_watch
from poolpilot.serve.tuner.machine.why_not import Rules, hours_in_words, outside_hours

WARY_OF = ("refusals", "trials_s", "roll_backs_s", "openings", "half_open_until_s", "opened_again", "rolled_back_under")
"""What was tried, rolled back and refused: neither a restart nor a person's change makes it harmless."""

Handler = Callable[[Reading, Observation, Memory, Rules], Step]

HANDLERS: Mapping[State, Handler] = {
    State.WATCH: in_watch,
    State.TRIAL: in_trial,
    State.VERIFY: in_verify,
    State.HOLD: in_hold,
    State.COOL_DOWN: in_pause,
    State.STAND_DOWN: in_pause,
    State.OPEN_CIRCUIT: in_pause,
}


def decide(memory: Memory, observation: Observation, rules: Rules) -> Step:
    """What to do now.

    Args:
        memory: What is remembered; `Memory.begin` at first.
        observation: What was found out since the last decision.
        rules: What the operator and the server allow.
    """
    moved = change_of_machine(observation, memory)
    cpus, quota = (
        (None, None) if observation.reading is None else (observation.reading.cpus, observation.reading.used_up_quota)
    )
    memory = memory.forgotten(observation.at_s).but(cpus=cpus or memory.cpus)
    memory, decision = _decided(memory, observation, rules, moved=moved is not None)
    if memory.expected != memory.incumbent:
        memory = memory.but(lately=memory.expected)
    said = "; ".join(part for part in (moved, decision.reason, quota) if part is not None)
    return memory, decision.model_copy(update={"reason": said, "routine": decision.routine and moved is None})


def _decided(memory: Memory, observation: Observation, rules: Rules, *, moved: bool) -> Step:
    if observation.in_force is None:
        memory = abandon(observation, _doubted(memory, observation, rules))
        return memory, memory.decision("the server cannot be reached").model_copy(update={"pool_tuple": None})
    if observation.restarted:
        return _restarted(observation.in_force, observation, memory)
    if observation.changed_by_others or not memory.has_set(observation.in_force):
        return _stood_down(observation.in_force, observation, memory, rules)
    if moved:
        memory = on_another_machine(observation, memory, rules)
    if observation.kill:
        return _killed(observation, memory, rules)
    if moved:
        return memory, memory.decision("that is another machine, so nothing seen before counts: watching begins anew")
    if memory.trial is not None and _lacks_threads(memory.trial.candidate, memory, rules):
        return _without_threads(memory.trial.candidate, observation, memory, rules)
    if memory.trial is not None and outside_hours(observation, rules):
        return _hours_over(memory.trial.candidate, observation, memory, rules)
    if observation.in_force != memory.expected or observation.refused is not None:
        return _not_taken(observation, memory, rules)
    back = observation.in_force == memory.incumbent
    return _as_expected(observation, memory.but(lately=None, cleans_up=False) if back else memory, rules)


def _as_expected(observation: Observation, memory: Memory, rules: Rules) -> Step:
    """What was decided is in force: what has come of it."""
    if memory.state is State.ROLL_BACK:
        return rolled_back(observation, memory, rules)
    if memory.state is State.STAND_DOWN and memory.wait_until_s is None:
        return memory, memory.decision("a person has set the pool: it is left alone")
    if (stopped := _stopped_everything(observation, memory)) is not None:
        return lost_out(stopped, observation, memory, rules, counted=True, further=observation.reading)
    if observation.hindrances:
        return _hindered("; ".join(map(str, observation.hindrances)), observation, memory)
    if observation.reading is None or observation.reading.throughput_per_s <= 0.0:
        return _hindered(
            "there is no window to judge by: nobody sends anything, or it was disturbed", observation, memory
        )
    return HANDLERS[memory.state](observation.reading, observation, memory, rules)


def _lacks_threads(candidate: PoolTuple, memory: Memory, rules: Rules) -> bool:
    """Whether a trial asks for more threads than it may by now; going back from one to fewer would ask for yet more."""
    return candidate.active_threads > memory.incumbent.active_threads and not rules.envelope.has_threads_for(candidate)


def _without_threads(candidate: PoolTuple, observation: Observation, memory: Memory, rules: Rules) -> Step:
    """Somebody has lowered the limit of threads in the middle of a trial, which is not to blame."""
    memory = abandon(observation, memory)
    asks = f"{candidate} may ask for {candidate.active_threads} threads"
    return memory, memory.decision(
        f"{asks}, and no more than {rules.envelope.most_threads} are allowed by now: back to {memory.incumbent}"
    )


def _hours_over(candidate: PoolTuple, observation: Observation, memory: Memory, rules: Rules) -> Step:
    """The hours have ended in the middle of a trial, which is not to blame."""
    memory = abandon(observation, memory)
    return memory, memory.decision(
        f"the hours ({hours_in_words(rules)}) are over before {candidate} is verified: back to {memory.incumbent}"
    )


def _stopped_everything(observation: Observation, memory: Memory) -> str | None:
    """What a trial has stopped, as a sentence: the pool, or all that was completed; None where it has not.

    A window in which nothing was completed is no window that nobody filled. What goes on beside it, such as a backup,
    may stop everything too; that the pool is stuck is no such thing. Of a stuck pool requests may be completed all the
    same: those before it was, and what others send over the extra port; fewer than in the window before it.
    """
    trial, reading = memory.trial, observation.reading
    if trial is None or memory.expected != trial.candidate:
        return None
    if beside_the_pool(observation.hindrances):
        return None
    if observation.hindrances and (reading is None or reading.throughput_per_s < trial.befores[-1].throughput_per_s):
        return f"under {memory.expected} {observation.hindrances[0]}"
    if reading is None or reading.throughput_per_s > 0.0:
        return None
    return f"nothing was completed under {memory.expected}, where {memory.incumbent} has completed requests"


def _doubted(memory: Memory, observation: Observation, rules: Rules) -> Memory:
    """A trial under which the server was lost is not made again for a while, whoever is to blame."""
    candidate_in_force = memory.trial is not None and memory.expected == memory.trial.candidate
    return _without_trial(memory, observation, rules) if candidate_in_force else memory


def _without_trial(memory: Memory, observation: Observation, rules: Rules) -> Memory:
    """What is being tried, if anything, is not tried again for a while, whatever runs."""
    trial, until_s = memory.trial, observation.at_s + rules.guard.retry_after_s
    if trial is None:
        return memory
    refusal = Refusal(pool_tuple=trial.candidate, until_s=until_s, whatever_runs=True)
    known = memory.known if memory.recall is None else memory.known.missed(memory.recall)
    return memory.but(refusals=(*memory.refusals, refusal), known=known)


def _restarted(in_force: PoolTuple, observation: Observation, memory: Memory) -> Step:
    """What the file says is in force; where nobody has changed the file, what was verified gets its chance at once."""
    known = memory.known.numbered(memory.present)
    may = known is not None and known.best.core == memory.incumbent.core and in_force.core == memory.initial.core
    returning = memory.present if may else None
    anew = _begun_anew(in_force, observation, memory).but(
        returning=returning,
        **_wary_of(memory),  # what a server was lost under may be what has ended it
        **_still_waiting(observation, memory),
    )
    goes_on = "" if anew.state is State.WATCH else f"; {anew.state} goes on"
    return anew, anew.decision(f"the server was restarted: {in_force} is in force{goes_on}")


def _wary_of(memory: Memory) -> dict[str, object]:
    return {name: getattr(memory, name) for name in WARY_OF}


def _still_waiting(observation: Observation, memory: Memory) -> dict[str, object]:
    """The pause that a restart does not end: what a person has said, and an open circuit."""
    if memory.state is State.STAND_DOWN:
        waits = {"wait_until_s": memory.wait_until_s, "circuit_ends_s": memory.circuit_ends_s}
        return {"state": State.STAND_DOWN, "paused": memory.paused, **waits}
    if (until_s := memory.circuit_open_until_s(observation.at_s)) is None:
        return {}
    return {"state": State.OPEN_CIRCUIT, "paused": State.OPEN_CIRCUIT, "wait_until_s": until_s}


def _begun_anew(in_force: PoolTuple, observation: Observation, memory: Memory) -> Memory:
    """What is in force is somebody's wish, as what a configuration file says after a restart is."""
    return Memory.begin(in_force, observation.at_s, memory.known).but(
        workload=memory.workload + 1, lost_requests=booked(memory), cpus=memory.cpus
    )


def _stood_down(in_force: PoolTuple, observation: Observation, memory: Memory, rules: Rules) -> Step:
    """Somebody has set another tuple: it stays, and is the incumbent from now on.

    What was being tried when they stepped in does not stay beside it, is not tried again for a while, and an open
    circuit goes on afterwards.
    """
    if rules.mode is not Mode.APPLY:
        memory = _begun_anew(in_force, observation, memory)
        return memory, memory.decision(f"somebody has set {in_force}")
    theirs = _theirs(in_force, observation, memory, rules)
    seconds = rules.guard.stand_down_s
    until_s = None if seconds is None else observation.at_s + seconds
    circuit_ends_s = memory.circuit_open_until_s(observation.at_s)
    memory = _without_trial(memory, observation, rules)
    memory = _begun_anew(theirs, observation, memory).but(
        state=State.STAND_DOWN,
        lately=None if theirs == in_force else in_force,
        cleans_up=theirs != in_force,
        wait_until_s=until_s,
        paused=State.COOL_DOWN if circuit_ends_s is None else State.OPEN_CIRCUIT,
        circuit_ends_s=circuit_ends_s,
        **_wary_of(memory),
    )
    until = "until it is started again" if seconds is None else f"for {seconds:g} s"
    without = "" if theirs == in_force else f", which is {theirs} without what was being tried"
    return memory, memory.decision(f"a person has set {in_force}{without}: the tuner leaves the pool alone {until}")


def _theirs(in_force: PoolTuple, observation: Observation, memory: Memory, rules: Rules) -> PoolTuple:
    """What a person has set, with the incumbent for each knob that only a trial has changed, where that may be set."""
    unset = observation.refused is not None or observation.overtaken  # so that they have changed what was tried last
    ours = memory.lately if unset and memory.lately is not None else memory.expected
    tried, incumbent = ours.as_dict(), memory.incumbent.as_dict()
    now = in_force.as_dict().items()
    theirs = PoolTuple.from_dict({name: incumbent[name] if value == tried[name] else value for name, value in now})
    return theirs if rules.envelope.allows(theirs) else in_force


def _killed(observation: Observation, memory: Memory, rules: Rules) -> Step:
    """Nothing new is set until the switch is back, and no earlier than any other pause ends.

    A roll-back comes to its end first, so that the pause after it, or the open circuit, is among these.
    """
    if memory.state is State.ROLL_BACK:
        if observation.in_force != memory.expected or observation.refused is not None:
            return _not_taken(observation, memory, rules)
        memory, _ = rolled_back(observation, memory, rules)
    memory = abandon(observation, memory)
    for_good = memory.state is State.STAND_DOWN and memory.wait_until_s is None
    until_s = None if for_good else max(memory.wait_until_s or 0.0, observation.at_s)
    memory = memory.but(state=State.STAND_DOWN, wait_until_s=until_s)
    stays = "stays in force" if observation.in_force == memory.incumbent else "comes back"
    return memory, memory.decision(f"a person has thrown the kill switch: {memory.incumbent} {stays}")


def _not_taken(observation: Observation, memory: Memory, rules: Rules) -> Step:
    """What was decided is not in force: the incumbent comes back, and is tried to be set again where it is not."""
    wanted, in_force = memory.expected, observation.in_force
    if memory.cleans_up and in_force is not None:
        memory = memory.but(initial=in_force, incumbent=in_force, expected=in_force, lately=None, cleans_up=False)
        return memory, memory.decision(f"{wanted} could not be set: {in_force} stays, which a person has set in part")
    if wanted == memory.incumbent:
        memory = memory.but(state=State.ROLL_BACK, trial=None, other=0, lost_requests=booked(memory))
        why = "" if observation.refused is None else f": {observation.refused}"
        return memory, memory.decision(f"{wanted} is not back in force yet{why}")
    refusal = Refusal(pool_tuple=wanted, until_s=observation.at_s + rules.guard.retry_after_s, whatever_runs=True)
    memory = abandon(observation, memory).but(refusals=(*memory.refusals, refusal))
    return memory, memory.decision(
        f"{wanted} could not be set: {observation.refused or 'another configuration is in force'}"
    )


def _hindered(reason: str, observation: Observation, memory: Memory) -> Step:
    """A window that says nothing about tuples: a trial ends, and a wait goes on."""
    memory = abandon(observation, memory)
    if memory.state is State.HOLD:
        memory = memory.but(other=0)
    return memory, memory.decision(f"nothing is changed now: {reason}")
