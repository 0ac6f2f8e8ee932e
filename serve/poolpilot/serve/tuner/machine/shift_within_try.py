"""Another workload that comes in the middle of a try: the try says nothing of it, and nobody is to blame.

Both tuples complete more then, or fewer, than before, and a pair of windows on either side of the shift tells that for
the candidate's doing. Goodput cannot say whose doing it is, as a try may free a pool, or leave it poorer;
what requests look like can, once each window is held against earlier ones of its own tuple in the same try. Windows
from before the try are no such ones: the candidate's threads are still there in the first window of the verified tuple,
and the pool may be in another of its states. Where that window looks different from those before the try, the try
begins anew with it, whichever it is: what was before no longer says what the candidate is to be compared with.
"""

from poolpilot.serve.tuner.machine.another_workload import apart_from, watched_anew
from poolpilot.serve.tuner.machine.evidence.look import Look, Reading
from poolpilot.serve.tuner.machine.evidence.paired_trial import PairedTrial
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.recalling import known_again
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


def is_another_workload(memory: Memory) -> bool:
    """Whether the workload of a try has surely gone."""
    return memory.other >= SURE


def ended_by_shift(reading: Reading, look: Look, memory: Memory, rules: Rules, *, sure: bool) -> Step:
    """Ends a try that another workload has come into; what is verified comes back, and may be known for that one.

    A pause goes on: only what was found at first is tried in one, and another workload is no leave for more.

    Args:
        reading: The window that tells it.
        look: What was found out last.
        memory: What is remembered once the try is over.
        rules: What is allowed.
        sure: Whether two windows tell it; by a single one what was refused stays so, as in a pause.
    """
    paused = memory.is_paused(look.at_s)
    anew = watched_anew(reading, look, memory, rules)
    if look.in_force != memory.verified:
        anew = anew.but(baseline=())
    if paused or not sure:
        anew = anew.but(refusals=memory.refusals, taken_back_under=memory.taken_back_under)
    said = f"requests look different from those before in the try: back to {memory.verified}, watching begins anew"
    if paused:
        anew = anew.but(state=memory.paused)
        return anew, anew.decision(said)
    return known_again(said, look, anew, rules)
