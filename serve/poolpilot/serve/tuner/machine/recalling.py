"""A workload that comes back: the tuple that was verified for it then is tried first, in one move."""

from poolpilot.serve.tuner.known.known_workloads import KnownWorkload, hour_of_week
from poolpilot.serve.tuner.machine.decision import Mode, State
from poolpilot.serve.tuner.machine.evidence.paired_trial import noise_of
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.steps import Step, begin_trial
from poolpilot.serve.tuner.machine.why_not import Rules, why_not


def recognised(observation: Observation, memory: Memory, rules: Rules) -> Memory:
    """With the number of the workload in force, where it is known and what was verified for it is in force already."""
    found = _match(observation, memory, rules)
    if found is None or found.best.core != memory.incumbent.core:
        return memory
    return memory.but(present=found.number)


def recall(observation: Observation, memory: Memory, rules: Rules) -> Step | None:
    """The trial of what was verified for the workload in force when it was here before; None where it is not known.

    That tuple needs no steps, as it was verified, but must lie within the ranges of today; it is compared and taken
    back as every other.
    """
    found = _match(observation, memory, rules) or _before_restart(memory, rules)
    if found is None:
        return None
    candidate = memory.incumbent.with_core(found.best.core)
    if candidate == memory.incumbent or memory.refuses(candidate) or not rules.envelope.allows(candidate):
        return None
    if (no := why_not(candidate, observation, memory, rules)) is not None:
        memory = memory.but(state=State.HOLD, pending=candidate, recall=found.number)
        return memory, memory.decision(no)
    here = "the server was restarted" if found.number == memory.returning else "this workload was here before"
    said = f"{here}: {candidate}, verified then, is tried beside {memory.incumbent}"
    return begin_trial(candidate, observation, memory, rules, said, backward=False, recall=found.number)


def known_again(otherwise: str, observation: Observation, memory: Memory, rules: Rules) -> Step:
    """The trial of what was verified for another workload that has come; where there is none, why nothing is done."""
    memory = recognised(observation, memory, rules)
    return recall(observation, memory, rules) or (memory, memory.decision(otherwise))


def file_verified(observation: Observation, memory: Memory, rules: Rules) -> Memory:
    """Keeps the incumbent as what the workload in force is to get when it comes back."""
    if rules.mode is not Mode.APPLY or not memory.baseline:
        return memory
    sights = (*memory.sights, memory.sight())
    noise, hour = noise_of(memory.baseline), hour_of_week(observation.unix_s)
    known, number = memory.known.filed(memory.present, sights, memory.incumbent, noise, hour, memory.cpus)
    return memory.but(known=known, present=number, sights=())


def _before_restart(memory: Memory, rules: Rules) -> KnownWorkload | None:
    """The workload that was in force when the server was restarted: as a rule it still is."""
    if rules.mode is not Mode.APPLY or memory.present is not None or not memory.baseline:
        return None
    known = memory.known.numbered(memory.returning)
    return known if known is not None and known.is_on(memory.cpus) else None


def _match(observation: Observation, memory: Memory, rules: Rules) -> KnownWorkload | None:
    if rules.mode is Mode.OBSERVE or memory.present is not None or not memory.baseline:
        return None
    return memory.known.match(memory.sight(), hour_of_week(observation.unix_s), memory.cpus)
