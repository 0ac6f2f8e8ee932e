"""A roll-back: the incumbent comes back into force, and nothing, or little, is tried for a while."""

import math

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.known.known_workloads import sight_of
from poolpilot.serve.tuner.machine.another_workload import left_so, watched_anew
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.aftermath import Aftermath
from poolpilot.serve.tuner.machine.evidence.paired_trial import KEPT_SHARE
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Reading, beside_the_pool
from poolpilot.serve.tuner.machine.memory import Memory, Refusal
from poolpilot.serve.tuner.machine.steps import Step
from poolpilot.serve.tuner.machine.why_not import Rules

MOST_DOUBLINGS = 32
"""Beyond these the longest pause is reached, whatever the settings."""

MOST_SEEN = 2
"""Ratios of the workload that are kept of a trial that was rolled back: before it, and once the incumbent is back."""


def roll_back(
    reason: str,
    bad: PoolTuple,
    observation: Observation,
    memory: Memory,
    rules: Rules,
    *,
    counted: bool,
    starved_by: float | None = None,
    further: Reading | None = None,
) -> Step:
    """Brings back the incumbent, and does not try the bad tuple again for a while.

    Args:
        reason: Why, as a sentence.
        bad: The tuple that is rolled back.
        observation: What was found out last.
        memory: What is remembered.
        rules: What is allowed.
        counted: Whether it counts as a roll-back, of which several open the circuit.
        starved_by: How far ln rows read a second have fallen, where it is rolled back for that.
        further: The window that it is rolled back for, where its trial does not hold it.
    """
    until_s, trial = observation.at_s + rules.guard.retry_after_s, memory.trial
    more = (
        starved_by is None and trial is not None and bool(trial.candidates) and trial.by_completions().gain()[0] > 0.0
    )
    refusal = Refusal(pool_tuple=bad, until_s=until_s, completed_more=more)
    memory = memory.but(
        state=State.ROLL_BACK,
        trial=None,
        backward=False,
        recall=None,
        goal=None,
        exploring=False,
        expected=memory.incumbent,
        pending=None,
        exposed=_exposed(memory, rules, further),
        refusals=(*memory.refusals, refusal),
        roll_backs_s=(*memory.roll_backs_s, observation.at_s) if counted else memory.roll_backs_s,
        rolled_back_under=(memory.sight(),) if memory.baseline else (),
        was_rolled_back=True,
        aftermath=None if starved_by is not None else _aftermath(memory),
        blamed=(further or _blamed(observation, memory)) if counted else None,
        starved_by=starved_by if counted else None,
    )
    return memory, memory.decision(f"{reason}: back to {memory.incumbent}")


def _aftermath(memory: Memory) -> Aftermath | None:
    """That of the trial that is rolled back; what was verified on probation has left its own, and no windows."""
    return Aftermath.of(memory.baseline, memory.risen, memory.gained) or memory.aftermath


def rolled_back(observation: Observation, memory: Memory, rules: Rules) -> Step:
    """Once the incumbent is in force again: a while without trials, a long one after several roll-backs.

    Nobody is acquitted by a window in which something else held the server up; by a pool that is stuck under what is
    verified, too, everybody is. A longer pause than this one goes on.
    """
    blamed, reading, starved_by = memory.blamed, observation.reading, memory.starved_by
    opens = memory.half_open and memory.was_rolled_back
    memory = memory.but(blamed=None, starved_by=None, was_rolled_back=False)
    heard = None if observation.hindrances else reading
    if blamed is not None and heard is not None and fell_alike(blamed, heard, rules, starved_by):
        memory = memory.but(roll_backs_s=memory.roll_backs_s[:-1])
        if (left := left_so(heard, memory, rules)) is None:
            return _watched_anew(heard, observation, memory, rules)
        memory = left
    elif blamed is not None and observation.hindrances and not beside_the_pool(observation.hindrances):
        memory = memory.but(roll_backs_s=memory.roll_backs_s[:-1])
    if reading is not None:
        seen = (*memory.rolled_back_under, sight_of(memory.incumbent, [reading.ratios]))
        memory = memory.but(rolled_back_under=seen[-MOST_SEEN:])
    if opens or len(memory.roll_backs_s) >= rules.guard.breaker_roll_backs:
        return _opened(observation, memory, rules)
    return _paused(observation, memory, rules)


def _watched_anew(reading: Reading, observation: Observation, memory: Memory, rules: Rules) -> Step:
    memory = watched_anew(reading, observation, memory, rules)
    return memory, memory.decision(
        f"{memory.incumbent} is back in force and does no better: the workload is another one, watching begins anew"
    )


def _paused(observation: Observation, memory: Memory, rules: Rules) -> Step:
    until_s, paused = observation.at_s + rules.guard.cool_down_s * memory.exposed, State.COOL_DOWN
    if memory.wait_until_s is not None and memory.wait_until_s > until_s:
        until_s, paused = memory.wait_until_s, memory.paused
    memory = memory.but(state=paused, paused=paused, wait_until_s=until_s)
    return memory, memory.decision(
        f"{memory.incumbent} is back in force; no trial for {until_s - observation.at_s:.0f} s"
    )


def _opened(observation: Observation, memory: Memory, rules: Rules) -> Step:
    """An open circuit, twice as long each time in a row: whoever is wrong so often is asked less and less."""
    guard = rules.guard
    many = f"{guard.breaker_roll_backs} trials were rolled back within an hour"
    why = "the first trial since the circuit was open was rolled back" if memory.half_open else many
    seconds = min(
        guard.circuit_open_s * 2.0 ** min(memory.openings, MOST_DOUBLINGS),
        max(guard.circuit_most_s, guard.circuit_open_s),
    )
    memory = memory.but(
        state=State.OPEN_CIRCUIT,
        paused=State.OPEN_CIRCUIT,
        wait_until_s=observation.at_s + seconds,
        circuit_ends_s=None,
        roll_backs_s=(),
        openings=memory.openings + 1,
        half_open_until_s=None,
    )
    return memory, memory.decision(f"{why}: no trial for {seconds:g} s")


def _blamed(observation: Observation, memory: Memory) -> Reading | None:
    """The latest window of what is rolled back; a verdict may fall on one of what it was tried beside."""
    trial = memory.trial
    if memory.state is State.TRIAL and trial is not None and trial.candidates:
        return trial.candidates[-1]
    return observation.reading


def fell_alike(blamed: Reading, back: Reading, rules: Rules, starved_by: float | None = None) -> bool:
    """Whether going back has brought nothing, so that what fell is not to be blamed on the tuple that was rolled back.

    Args:
        blamed: The window for which it was rolled back.
        back: The first one since.
        rules: What a trial may lose; half of it counts as something.
        starved_by: How far ln rows read a second had fallen, where it was rolled back for that; half of it counts.
    """
    if min(blamed.throughput_per_s, back.throughput_per_s) <= 0.0:
        return False
    rows = (blamed.rows_read_per_s, back.rows_read_per_s)
    if starved_by is not None and rows[0] is not None and rows[1] is not None:
        return math.log(rows[1] / rows[0]) <= KEPT_SHARE * starved_by
    something = -math.log1p(-KEPT_SHARE * rules.guard.most_drop)
    pairs = ((blamed, back), (blamed.by_completions(), back.by_completions()))
    if any(math.log(now.goodput_per_s / then.goodput_per_s) > something for then, now in pairs):
        return False
    if blamed.latency_ms is None or back.latency_ms is None:
        return True
    return math.log(blamed.latency_ms / back.latency_ms) <= math.log1p(KEPT_SHARE * rules.guard.most_latency_rise)


def _exposed(memory: Memory, rules: Rules, further: Reading | None) -> float:
    """Share of the longest trial that the one that is rolled back has lasted."""
    if memory.trial is None:
        return 1.0
    windows = len(memory.trial.candidates) + len(memory.held_on) + (further is not None)
    return min(windows / (rules.pace.most_pairs + rules.pace.verify_windows), 1.0)
