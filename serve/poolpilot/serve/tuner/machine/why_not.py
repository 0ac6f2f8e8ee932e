"""What speaks against a trial that a predictor proposes: the first reason that holds, as a sentence."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from poolpilot.env.objective import LEAST_ROWS_SHARE
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advice.reasons import at_most_in_words
from poolpilot.models.observations.used_up_quota import asks_for_more
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.guard.hours import Hours
from poolpilot.serve.tuner.guard.written_core import written_core
from poolpilot.serve.tuner.machine.decision import Mode
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Proposal
from poolpilot.serve.tuner.machine.memory import Memory

MOST_WAYS_ROUND = 3
"""Ways round steps that latency alone spoke against that are tried under one workload."""


@dataclass(frozen=True)
class Rules:
    """What the operator has laid down, and what the server allows.

    Attributes:
        mode: What the tuner may do.
        guard: How far it may go.
        pace: How long it watches.
        envelope: The tuples that may be set.
        hours: When anything may be changed; at any time where none are named.
        approval: Whether a person must approve every tuple.
        min_rows_share: Share of the rows read a second at first that must go on being read; see `Objective`.
        thread_stack_bytes: Memory that the stack of a thread may take; None where the server does not tell.
    """

    mode: Mode
    guard: GuardSettings
    pace: PaceSettings
    envelope: Envelope
    hours: Sequence[Hours] = ()
    approval: bool = False
    min_rows_share: float = LEAST_ROWS_SHARE
    thread_stack_bytes: int | None = None


@dataclass(frozen=True)
class NoStep:
    """That nothing is tried of what is proposed.

    Attributes:
        reason: Why, as a sentence.
    """

    reason: str


def candidate_of(proposal: Proposal, observation: Observation, memory: Memory, rules: Rules) -> PoolTuple | NoStep:
    """The next step towards what is proposed, or why there is none."""
    incumbent = memory.incumbent
    if proposal.abstained:
        return NoStep(f"no advice: {proposal.reason}")
    if proposal.pool_tuple.core == incumbent.core:
        return NoStep(f"{incumbent} stays: {proposal.reason}")
    if not promises(proposal, rules) and not pays(proposal, observation, memory, rules):
        return NoStep(
            f"{proposal.pool_tuple} promises {100 * math.expm1(proposal.gain or 0.0):.1f} %, less than the "
            f"{100 * rules.guard.min_gain:g} % that a trial must{_learning(proposal, memory, rules)}"
        )
    candidate = rules.envelope.step(incumbent, proposal.pool_tuple)
    if candidate == incumbent:
        return NoStep(f"no step from {incumbent} towards {proposal.pool_tuple} is within what is allowed")
    if not memory.refuses(candidate):
        return candidate
    return _way_round(candidate, memory, rules) or NoStep(
        f"{candidate}, the step towards {proposal.pool_tuple}, was rolled back not long ago, or ended a tuner"
    )


def _way_round(refused: PoolTuple, memory: Memory, rules: Rules) -> PoolTuple | None:
    """Another step where latency alone spoke against one to more threads; None where that is not so, or none is left.

    More groups complete more, and let those requests wait longer that stand behind one that has stalled: with half the
    stall limit its group goes on after half the time. A few more may let them wait longer even so, though many more
    would not: from a shorter stall limit alone the same step is less of one.
    """
    incumbent, (shortest_ms, _) = memory.incumbent, rules.envelope.ranges[2]
    if refused.active_threads <= incumbent.active_threads or not memory.only_slowed(refused):
        return None
    if memory.ways_round >= MOST_WAYS_ROUND:
        return None
    for way in (refused, incumbent) if refused.core[2] >= incumbent.core[2] else (incumbent,):
        candidate = rules.envelope.step(incumbent, way.with_core((*way.core[:2], shortest_ms)))
        if candidate not in (incumbent, refused) and not memory.refuses(candidate):
            return candidate
    return None


def promises(proposal: Proposal, rules: Rules) -> bool:
    """Whether what is proposed is itself expected to gain enough."""
    return proposal.gain is None or proposal.gain >= math.log1p(rules.guard.min_gain)


def pays(proposal: Proposal, observation: Observation, memory: Memory, rules: Rules) -> bool:
    """Whether trying what is proposed is expected to bring in more than it can cost, though it promises little itself.

    A workload is expected to last as long again as it has lasted. What it brings in over that time is set against the
    most that the steps there can lose, twice as much after every such trial that has failed since one did well.
    """
    if proposal.improvement is None or not memory.baseline or memory.failed_explorations >= rules.guard.explorations:
        return False
    steps = rules.envelope.steps_between(memory.incumbent, proposal.pool_tuple)
    price_s = steps * most_lost_windows(rules) * memory.baseline[-1].seconds * 2.0**memory.failed_explorations
    return proposal.improvement * (observation.at_s - memory.began_s) >= price_s


def promised(proposal: Proposal, rules: Rules) -> str:
    """What a trial is for, to follow on what it is towards."""
    if proposal.improvement is not None and not promises(proposal, rules):
        return f", to learn from: that is expected to take {100 * proposal.improvement:.1f} % off what is lost"
    return "" if proposal.gain is None else f", which promises {100 * math.expm1(proposal.gain):+.0f} %"


def most_lost_windows(rules: Rules) -> float:
    """Windows' worth that a trial can lose: all of the first, and of each later one what is allowed.

    More would have ended the trial.
    """
    return 1.0 + (rules.pace.most_pairs - 1 + rules.pace.verify_windows) * rules.guard.most_drop


def _learning(proposal: Proposal, memory: Memory, rules: Rules) -> str:
    """What speaks against trying it only to learn from, to follow on a sentence."""
    if not proposal.improvement or not rules.guard.explorations:
        return ""
    if memory.failed_explorations >= rules.guard.explorations:
        return f", and {memory.failed_explorations} trials to learn from have failed in a row"
    return f", and what is learned by it ({100 * proposal.improvement:.1f} %) does not pay for it yet"


def at_worst(pool_tuple: PoolTuple, rules: Rules) -> str:
    """The most that a tuple may ask of the server for what is at work; who waits has a thread beside these."""
    threads = pool_tuple.active_threads
    if rules.thread_stack_bytes is None:
        return f"{threads} threads at work at worst"
    return f"{threads} threads at work and {threads * rules.thread_stack_bytes / 2**20:.0f} MB of their stacks at worst"


def why_not(candidate: PoolTuple, observation: Observation, memory: Memory, rules: Rules) -> str | None:
    """Why a step may not be tried now; None where it may."""
    if rules.mode is not Mode.APPLY:
        return f"would try {candidate}, but the mode is {rules.mode}"
    if outside_hours(observation, rules):
        return f"would try {candidate}, but not before the hours: {hours_in_words(rules)}"
    if (too_little := _too_little(candidate, memory, rules)) is not None:
        return too_little
    if (
        asks_for_more(candidate, memory.incumbent)
        and observation.reading is not None
        and observation.reading.used_up_quota
    ):
        return f"would try {candidate}, but processors are withheld, and more threads are no more processors"
    if len(memory.trials_s) >= rules.guard.trials_per_hour:
        return f"would try {candidate}, but {rules.guard.trials_per_hour} configurations were tried within an hour"
    if rules.approval and _approved(observation) != candidate.core:
        asked = f"would try {candidate}, which waits for approval ({at_worst(candidate, rules)})"
        return f"{asked}{_approved_instead(observation)}"
    return None


def _too_little(candidate: PoolTuple, memory: Memory, rules: Rules) -> str | None:
    """Why the load is too small to tell whether a candidate does better, or for it to do better; None where it is not.

    By the latest windows of the incumbent: in one of them other programs may have taken the processors, or a burst
    may have come.
    """
    windows = memory.baseline[-rules.pace.baseline_windows :]
    if not windows:
        return None
    requests = statistics.fmean(each.requests for each in windows)
    if requests < rules.pace.least_requests:
        return f"would try {candidate}, but {requests:.0f} requests a window are too little load to tell"
    most = statistics.median(each.most_gain(memory.incumbent, candidate) for each in windows)
    if most < math.log1p(rules.guard.min_gain):
        return f"would try {candidate}, but {at_most_in_words(most)}: that is what requests wait"
    return None


def outside_hours(observation: Observation, rules: Rules) -> bool:
    """Whether hours are named in which anything may be changed, and it is none of them."""
    now = datetime.fromtimestamp(observation.unix_s)
    return bool(rules.hours) and not any(each.hold(now) for each in rules.hours)


def hours_in_words(rules: Rules) -> str:
    """The hours in which anything may be changed, as they were given."""
    return ", ".join(each.text for each in rules.hours)


def _approved(observation: Observation) -> tuple[int, int, int] | None:
    return None if observation.approved is None else written_core(observation.approved)


def _approved_instead(observation: Observation) -> str:
    """What is approved where that is not the step that waits, to follow on a sentence; the text itself is anybody's."""
    if observation.unread_approval is not None:
        return f"; the file that would hold it cannot be read: {observation.unread_approval}"
    if observation.approved is None:
        return ""
    core = _approved(observation)
    return "; what is approved is no configuration such as (4, 3, 250)" if core is None else f"; {core} is approved"
