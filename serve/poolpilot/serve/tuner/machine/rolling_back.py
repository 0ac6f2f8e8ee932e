"""The way back: what is verified comes back into force, and nothing, or little, is tried for a while."""

import math

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.known.known_workloads import sight_of
from poolpilot.serve.tuner.machine.another_workload import left_so, watched_anew
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.aftermath import Aftermath
from poolpilot.serve.tuner.machine.evidence.look import Look, Reading, beside_the_pool
from poolpilot.serve.tuner.machine.evidence.paired_trial import KEPT_SHARE
from poolpilot.serve.tuner.machine.memory import Memory, Refusal
from poolpilot.serve.tuner.machine.steps import Step
from poolpilot.serve.tuner.machine.why_not import Rules

MOST_DOUBLINGS = 32
"""Beyond these the longest pause is reached, whatever the settings."""

MOST_SEEN = 2
"""Looks of the workload that are kept of a try that was taken back: before it, and once what is verified is back."""


def taken_back(
    reason: str,
    bad: PoolTuple,
    look: Look,
    memory: Memory,
    rules: Rules,
    *,
    counted: bool,
    starved_by: float | None = None,
    further: Reading | None = None,
) -> Step:
    """Brings back what is verified, and does not try the bad tuple again for a while.

    Args:
        reason: Why, as a sentence.
        bad: The tuple that is taken back.
        look: What was found out last.
        memory: What is remembered.
        rules: What is allowed.
        counted: Whether it counts as a roll-back, of which several open the circuit.
        starved_by: How far ln rows read a second have fallen, where it is taken back for that.
        further: The window that it is taken back for, where its try does not hold it.
    """
    until_s, trial = look.at_s + rules.guard.retry_after_s, memory.trial
    more = (
        starved_by is None and trial is not None and bool(trial.candidates) and trial.by_completions().gain()[0] > 0.0
    )
    refusal = Refusal(pool_tuple=bad, until_s=until_s, completed_more=more)
    memory = memory.but(
        state=State.ROLL_BACK,
        trial=None,
        homeward=False,
        recall=None,
        goal=None,
        exploring=False,
        expected=memory.verified,
        pending=None,
        exposed=_exposed(memory, rules, further),
        refusals=(*memory.refusals, refusal),
        roll_backs_s=(*memory.roll_backs_s, look.at_s) if counted else memory.roll_backs_s,
        taken_back_under=(memory.sight(),) if memory.baseline else (),
        took_back=True,
        aftermath=None if starved_by is not None else _aftermath(memory),
        blamed=(further or _blamed(look, memory)) if counted else None,
        starved_by=starved_by if counted else None,
    )
    return memory, memory.decision(f"{reason}: back to {memory.verified}")


def _aftermath(memory: Memory) -> Aftermath | None:
    """That of the try that is taken back; what was verified on probation has left its own, and no windows."""
    return Aftermath.of(memory.baseline, memory.risen, memory.gained) or memory.aftermath


def rolled_back(look: Look, memory: Memory, rules: Rules) -> Step:
    """Once what is verified is in force again: a while without tries, a long one after several roll-backs.

    Nobody is acquitted by a window in which something else held the server up; by a pool that is stuck under what is
    verified, too, everybody is. A longer pause than this one goes on.
    """
    blamed, reading, starved_by = memory.blamed, look.reading, memory.starved_by
    opens = memory.half_open and memory.took_back
    memory = memory.but(blamed=None, starved_by=None, took_back=False)
    heard = None if look.hindrances else reading
    if blamed is not None and heard is not None and fell_alike(blamed, heard, rules, starved_by):
        memory = memory.but(roll_backs_s=memory.roll_backs_s[:-1])
        if (left := left_so(heard, memory, rules)) is None:
            return _watched_anew(heard, look, memory, rules)
        memory = left
    elif blamed is not None and look.hindrances and not beside_the_pool(look.hindrances):
        memory = memory.but(roll_backs_s=memory.roll_backs_s[:-1])
    if reading is not None:
        seen = (*memory.taken_back_under, sight_of(memory.verified, [reading.ratios]))
        memory = memory.but(taken_back_under=seen[-MOST_SEEN:])
    if opens or len(memory.roll_backs_s) >= rules.guard.breaker_roll_backs:
        return _opened(look, memory, rules)
    return _paused(look, memory, rules)


def _watched_anew(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Step:
    memory = watched_anew(reading, look, memory, rules)
    return memory, memory.decision(
        f"{memory.verified} is back in force and does no better: the workload is another one, watching begins anew"
    )


def _paused(look: Look, memory: Memory, rules: Rules) -> Step:
    until_s, paused = look.at_s + rules.guard.cool_down_s * memory.exposed, State.COOL_DOWN
    if memory.wait_until_s is not None and memory.wait_until_s > until_s:
        until_s, paused = memory.wait_until_s, memory.paused
    memory = memory.but(state=paused, paused=paused, wait_until_s=until_s)
    return memory, memory.decision(f"{memory.verified} is back in force; no try for {until_s - look.at_s:.0f} s")


def _opened(look: Look, memory: Memory, rules: Rules) -> Step:
    """An open circuit, twice as long each time in a row: whoever is wrong so often is asked less and less."""
    guard = rules.guard
    many = f"{guard.breaker_roll_backs} tries were taken back within an hour"
    why = "the first try since the circuit was open was taken back" if memory.half_open else many
    seconds = min(
        guard.circuit_open_s * 2.0 ** min(memory.openings, MOST_DOUBLINGS),
        max(guard.circuit_most_s, guard.circuit_open_s),
    )
    memory = memory.but(
        state=State.OPEN_CIRCUIT,
        paused=State.OPEN_CIRCUIT,
        wait_until_s=look.at_s + seconds,
        circuit_ends_s=None,
        roll_backs_s=(),
        openings=memory.openings + 1,
        half_open_until_s=None,
    )
    return memory, memory.decision(f"{why}: none for {seconds:g} s")


def _blamed(look: Look, memory: Memory) -> Reading | None:
    """The latest window of what is taken back; a verdict may fall on one of what it was tried beside."""
    trial = memory.trial
    if memory.state is State.TRY and trial is not None and trial.candidates:
        return trial.candidates[-1]
    return look.reading


def fell_alike(blamed: Reading, back: Reading, rules: Rules, starved_by: float | None = None) -> bool:
    """Whether going back has brought nothing, so that what fell is not to be blamed on the tuple that was taken back.

    Args:
        blamed: The window for which it was taken back.
        back: The first one since.
        rules: What a try may lose; half of it counts as something.
        starved_by: How far ln rows read a second had fallen, where it was taken back for that; half of it is something.
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
    """Share of the longest try that the one that is taken back has lasted."""
    if memory.trial is None:
        return 1.0
    windows = len(memory.trial.candidates) + len(memory.stood) + (further is not None)
    return min(windows / (rules.pace.most_pairs + rules.pace.verify_windows), 1.0)
