"""Another workload that comes in the middle of a try: the try says nothing of it, and nobody is to blame.

Both tuples complete more then, or fewer, than before, and a pair of windows on either side of the shift tells that for
the candidate's doing. Goodput cannot say whose doing it is, as a try may free a pool, or leave it poorer (decision 40);
what requests look like can, once each window is held against earlier ones of its own tuple in the same try. Windows
from before the try are no such ones: the candidate's threads are still there in the first window of the verified tuple,
and the pool may be in another of its states. Where that window looks different from those before the try, the try
begins anew with it, whichever it is: what was before no longer says what the candidate is to be compared with. Where
that window is like another workload that is known, the try ends.
"""

from poolpilot.serve.tuner.known.known_workloads import hour_of_week, sight_of
from poolpilot.serve.tuner.machine.another_workload import apart_from, watched_anew
from poolpilot.serve.tuner.machine.evidence.look import Look, Reading
from poolpilot.serve.tuner.machine.evidence.paired_trial import PairedTrial
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.recalling import recall, recognised
from poolpilot.serve.tuner.machine.steps import Step
from poolpilot.serve.tuner.machine.why_not import Rules

SURE = 2
"""Windows in a row that must look different: a single one may be of a job that runs now and then."""


def with_look(reading: Reading, memory: Memory, rules: Rules) -> Memory:
    """With what a window of a try tells of the workload, in `Memory.other`.

    Args:
        reading: The window.
        memory: What is remembered, with the try as it was before that window.
        rules: How much is another workload.
    """
    assert memory.trial is not None
    trial = memory.trial
    usual = trial.candidates if memory.expected == trial.candidate else trial.befores_within
    differs = bool(usual) and apart_from(reading, usual, rules, memory.watched) > 0.0
    return memory.but(other=memory.other + 1 if differs else 0)


def begins_anew(trial: PairedTrial, memory: Memory, rules: Rules) -> bool:
    """Whether the first window of the verified tuple since the try began looks different from those before it.

    Where it also completes less, that is told by what is completed (`PairedTrial.held_to`).
    """
    if len(trial.befores_within) != 1 or trial.next != trial.candidate or trial.anew:
        return False
    if trial.left_behind(memory.baseline, rules.guard):
        return False
    return apart_from(trial.befores[-1], memory.baseline, rules, memory.watched) > 0.0


def known_has_come(reading: Reading, look: Look, memory: Memory) -> bool:
    """Whether a window of the verified tuple is of a workload that is known, and not of that which was in force."""
    sight = sight_of(memory.verified, [reading.ratios])
    found = memory.known.match(sight, hour_of_week(look.unix_s))
    return found is not None and found.number not in (memory.present, memory.recall)


def is_another_workload(memory: Memory) -> bool:
    """Whether the workload of a try has surely gone."""
    return memory.other >= SURE


def ended_by_shift(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Step:
    """Ends a try that another workload has come into; what is verified comes back, and may be known for that one.

    Args:
        reading: The window that has made it sure.
        look: What was found out last.
        memory: What is remembered once the try is over.
        rules: What is allowed.
    """
    of_verified = look.in_force == memory.verified
    memory = watched_anew(reading, look, memory, rules)
    said = f"requests look different from those before in the try: back to {memory.verified}, watching begins anew"
    if not of_verified:
        return memory.but(baseline=()), memory.decision(said)
    memory = recognised(look, memory, rules)
    if (step := recall(look, memory, rules)) is not None:
        return step
    return memory, memory.decision(said)
