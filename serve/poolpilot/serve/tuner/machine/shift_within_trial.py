"""Another workload that comes in the middle of a trial: the trial says nothing of it, and nobody is to blame.

Both tuples complete more then, or fewer, than before, and a pair of windows on either side of the shift tells that for
the candidate's doing. Goodput cannot say whose doing it is, as a trial may free a pool, or leave it poorer;
what requests look like can, once each window is held against earlier ones of its own tuple in the same try. Windows
from before the trial are no such ones: the candidate's threads are still there in the first window of the incumbent,
and the pool may be in another of its states. Where that window looks different from those before the trial, the trial
begins anew with it, whichever it is: what was before no longer says what the candidate is to be compared with.
"""

from poolpilot.serve.tuner.machine.another_workload import apart_from, watched_anew
from poolpilot.serve.tuner.machine.evidence.paired_trial import PairedTrial
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Reading
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.recalling import known_again
from poolpilot.serve.tuner.machine.steps import Step
from poolpilot.serve.tuner.machine.why_not import Rules

SURE = 2
"""Windows in a row that must look different: a single one may be of a job that runs now and then."""


def with_observation(reading: Reading, memory: Memory, rules: Rules) -> Memory:
    """With what a window of a trial tells of the workload, in `Memory.other`.

    Args:
        reading: The window.
        memory: What is remembered, with the trial as it was before that window.
        rules: How much is another workload.
    """
    assert memory.trial is not None
    trial = memory.trial
    usual = trial.candidates if memory.expected == trial.candidate else trial.befores_within
    differs = bool(usual) and apart_from(reading, usual, rules, memory.watched) > 0.0
    return memory.but(other=memory.other + 1 if differs else 0)


def begins_anew(trial: PairedTrial, memory: Memory, rules: Rules) -> bool:
    """Whether the first window of the incumbent since the trial began looks different from those before it.

    Where it also completes less, that is told by what is completed (`PairedTrial.held_to`).
    """
    if len(trial.befores_within) != 1 or trial.next != trial.candidate or trial.anew:
        return False
    if trial.left_behind(memory.baseline, rules.guard):
        return False
    return apart_from(trial.befores[-1], memory.baseline, rules, memory.watched) > 0.0


def is_another_workload(memory: Memory) -> bool:
    """Whether the workload of a trial has surely gone."""
    return memory.other >= SURE


def ended_by_shift(reading: Reading, observation: Observation, memory: Memory, rules: Rules, *, sure: bool) -> Step:
    """Ends a trial that another workload has come into; the incumbent comes back, and may be known for that one.

    A pause goes on: only what was found at first is tried in one, and another workload is no leave for more.

    Args:
        reading: The window that tells it.
        observation: What was found out last.
        memory: What is remembered once the trial is over.
        rules: What is allowed.
        sure: Whether two windows tell it; by a single one what was refused stays so, as in a pause.
    """
    paused = memory.is_paused(observation.at_s)
    anew = watched_anew(reading, observation, memory, rules)
    if observation.in_force != memory.incumbent:
        anew = anew.but(baseline=())
    if paused or not sure:
        anew = anew.but(refusals=memory.refusals, rolled_back_under=memory.rolled_back_under)
    said = f"requests look different from those before in the trial: back to {memory.incumbent}, watching begins anew"
    if paused:
        anew = anew.but(state=memory.paused)
        return anew, anew.decision(said)
    return known_again(said, observation, anew, rules)
