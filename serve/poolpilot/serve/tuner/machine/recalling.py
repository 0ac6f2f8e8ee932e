"""A workload that comes back: the tuple that was verified for it then is tried first, in one move."""

from poolpilot.serve.tuner.known.known_workloads import KnownWorkload, hour_of_week
from poolpilot.serve.tuner.machine.decision import Mode, State
from poolpilot.serve.tuner.machine.evidence.look import Look
from poolpilot.serve.tuner.machine.evidence.paired_trial import noise_of
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.steps import Step, begin_try
from poolpilot.serve.tuner.machine.why_not import Rules, why_not


def recognised(look: Look, memory: Memory, rules: Rules) -> Memory:
    """With the number of the workload in force, where it is known and what was verified for it is in force already."""
    found = _match(look, memory, rules)
    if found is None or found.best.core != memory.verified.core:
        return memory
    return memory.but(present=found.number)


def recall(look: Look, memory: Memory, rules: Rules) -> Step | None:
    """The try of what was verified for the workload in force when it was here before; None where it is not known.

    That tuple needs no steps, as it was verified, but must lie within the ranges of today; it is compared and taken
    back as every other.
    """
    found = _match(look, memory, rules) or _before_restart(memory, rules)
    if found is None:
        return None
    candidate = memory.verified.with_core(found.best.core)
    if candidate == memory.verified or memory.refuses(candidate) or not rules.envelope.allows(candidate):
        return None
    if (no := why_not(candidate, look, memory, rules)) is not None:
        memory = memory.but(state=State.HOLD, pending=candidate, recall=found.number)
        return memory, memory.decision(no)
    here = "the server was restarted" if found.number == memory.returning else "this workload was here before"
    said = f"{here}: {candidate}, verified then, is tried beside {memory.verified}"
    return begin_try(candidate, look, memory, rules, said, homeward=False, recall=found.number)


def known_again(otherwise: str, look: Look, memory: Memory, rules: Rules) -> Step:
    """The try of what was verified for another workload that has come; where there is none, a reason why not to act."""
    memory = recognised(look, memory, rules)
    return recall(look, memory, rules) or (memory, memory.decision(otherwise))


def file_verified(look: Look, memory: Memory, rules: Rules) -> Memory:
    """Keeps what is verified as what the workload in force is to get when it comes back."""
    if rules.mode is not Mode.APPLY or not memory.baseline:
        return memory
    sights = (*memory.sights, memory.sight())
    noise, hour = noise_of(memory.baseline), hour_of_week(look.unix_s)
    known, number = memory.known.filed(memory.present, sights, memory.verified, noise, hour, memory.cpus)
    return memory.but(known=known, present=number, sights=())


def _before_restart(memory: Memory, rules: Rules) -> KnownWorkload | None:
    """The workload that was in force when the server was restarted: as a rule it still is."""
    if rules.mode is not Mode.APPLY or memory.present is not None or not memory.baseline:
        return None
    known = memory.known.numbered(memory.returning)
    return known if known is not None and known.is_on(memory.cpus) else None


def _match(look: Look, memory: Memory, rules: Rules) -> KnownWorkload | None:
    if rules.mode is Mode.OBSERVE or memory.present is not None or not memory.baseline:
        return None
    return memory.known.match(memory.sight(), hour_of_week(look.unix_s), memory.cpus)
