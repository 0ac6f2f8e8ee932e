"""What speaks against a try that a predictor proposes: the first reason that holds, as a sentence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import Mode
from poolpilot.serve.tuner.machine.envelope import Envelope
from poolpilot.serve.tuner.machine.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.hours import Hours
from poolpilot.serve.tuner.machine.look import Look, Proposal
from poolpilot.serve.tuner.machine.memory import Memory


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
    """

    mode: Mode
    guard: GuardSettings
    pace: PaceSettings
    envelope: Envelope
    hours: Sequence[Hours] = ()
    approval: bool = False


def candidate_of(proposal: Proposal, memory: Memory, rules: Rules) -> PoolTuple | str:
    """The next step towards what is proposed, or why there is none."""
    verified = memory.verified
    if proposal.abstained:
        return f"no advice: {proposal.reason}"
    if proposal.pool_tuple.core == verified.core:
        return f"{verified} stays: {proposal.reason}"
    if proposal.gain is not None and proposal.gain < math.log1p(rules.guard.min_gain):
        return (
            f"{proposal.pool_tuple} promises {100 * math.expm1(proposal.gain):.1f} %, less than the "
            f"{100 * rules.guard.min_gain:g} % that a try must"
        )
    candidate = rules.envelope.step(verified, proposal.pool_tuple)
    if candidate == verified:
        return f"no step from {verified} towards {proposal.pool_tuple} is within what is allowed"
    if memory.refuses(candidate):
        return f"{candidate}, the step towards {proposal.pool_tuple}, was taken back not long ago"
    return candidate


def why_not(candidate: PoolTuple, look: Look, memory: Memory, rules: Rules) -> str | None:
    """Why a step may not be tried now; None where it may."""
    if rules.mode is not Mode.APPLY:
        return f"would try {candidate}, but the mode is {rules.mode}"
    if rules.hours and not any(each.hold(datetime.fromtimestamp(look.unix_s)) for each in rules.hours):
        return f"would try {candidate}, but not before the hours: {', '.join(each.text for each in rules.hours)}"
    if len(memory.tries_s) >= rules.guard.tries_per_hour:
        return f"would try {candidate}, but {rules.guard.tries_per_hour} configurations were tried within an hour"
    if rules.approval and look.approved != str(candidate):
        return f"would try {candidate}, which waits for approval"
    return None
