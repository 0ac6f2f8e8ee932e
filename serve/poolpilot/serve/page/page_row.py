"""One decision as the page shows it: numbered, and small enough to keep thousands of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from sys import intern
from typing import Any, Self

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.page.gist import gist
from poolpilot.serve.page.tuner_status import TunerStatus
from poolpilot.serve.tuner.decision_log import LoggedDecision
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Proposal, Reading

LONGEST_REASON = 500
"""Characters."""

MOST_CLASSES, LONGEST_CLASS = 6, 40
"""Classes of requests that are shown, as many as the page has styles of lines, and characters of the name of one."""

Core = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class PageRow:
    """What one decision was made by, and what it says.

    Attributes:
        number: Its number in the history of its server, from 1.
        unix_s: When, by the clock of the tuner.
        state: What the tuner is doing after it.
        lost_trial: Whether a lost connection has ended a trial: while nothing is reached, and until the incumbent is
            back, which the tuner calls a roll-back, though nobody has found the trial worse.
        entered: Whether it stood elsewhere before.
        began: Whether it is the first one of a tuner.
        says_new: Whether state or reason differ from the decision before, numbers that run on left out.
        reason: Why, as a sentence.
        in_force: The tuple as read from the server; None where it could not be reached.
        incumbent: The tuple that comes back should the tuner end now.
        would: The tuple that would be tried were it allowed; None where there is none.
        throughput_per_s: Of the window before it; None where there is no window.
        latency_ms: Of that window; None where it is not known.
        tails_ms: The 95th percentile of each of its classes, at most six; None where no client reports classes.
        by_time: Whether that latency is the mean time that requests spend in the system.
        expected_gain: What the predictor promises for what it proposes, as a share of the goodput; None where it was
            not asked, or gives no number.
        expected_low: Lower end of the interval of that; None where it is not told.
        expected_high: Upper end of it.
        most_lost: Requests that what was decided can cost at most.
    """

    number: int
    unix_s: float
    state: State
    lost_trial: bool
    entered: bool
    began: bool
    says_new: bool
    reason: str
    in_force: Core | None
    incumbent: Core
    would: Core | None
    throughput_per_s: float | None
    latency_ms: float | None
    tails_ms: Mapping[str, float] | None
    by_time: bool
    expected_gain: float | None
    expected_low: float | None
    expected_high: float | None
    most_lost: float

    @classmethod
    def of(cls, number: int, logged: LoggedDecision, before: "PageRow | None", *, began: bool) -> Self:
        """A row of the page.

        Args:
            number: Its number.
            logged: The decision.
            before: The row before it; None for the first one.
            began: Whether it is the first one of a tuner.
        """
        observation, decision = logged.observation, logged.decision
        reason = decision.reason[:LONGEST_REASON]
        before_status = None if began or before is None else TunerStatus(before.state, before.lost_trial)
        status = TunerStatus.of(observation, decision.state, before_status)
        entered = status.is_entered_from(before_status)
        if before is not None and reason == before.reason:
            reason = before.reason  # kept once
        hindered = bool(observation.hindrances)
        repeats = before is not None and gist(reason, hindered=hindered) == gist(before.reason, hindered=hindered)
        return cls(
            number=number,
            unix_s=observation.unix_s,
            state=decision.state,
            lost_trial=status.lost_trial,
            entered=entered,
            began=began,
            says_new=entered or not (repeats or decision.routine),
            reason=reason,
            in_force=_core(observation.in_force),
            incumbent=decision.incumbent.core,
            would=_core(decision.would),
            most_lost=decision.most_lost,
            **_measured(observation.reading),
            **_promised(observation.proposal),
        )

    def as_dict(self) -> dict[str, Any]:
        """The row fit for JSON, without what is not known or not so."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value is not None and value is not False}


def _measured(reading: Reading | None) -> dict[str, Any]:
    if reading is None:
        return dict.fromkeys(("throughput_per_s", "latency_ms", "tails_ms")) | {"by_time": False}
    shown = list(reading.tails_ms.items())[:MOST_CLASSES]
    return {
        "throughput_per_s": reading.throughput_per_s,
        "latency_ms": reading.latency_ms,
        "tails_ms": {intern(name[:LONGEST_CLASS]): tail_ms for name, tail_ms in shown} or None,
        "by_time": reading.by_time,
    }


def _promised(proposal: Proposal | None) -> dict[str, Any]:
    if proposal is None:
        return dict.fromkeys(("expected_gain", "expected_low", "expected_high"))
    return {
        "expected_gain": _share(proposal.gain),
        "expected_low": _share(proposal.gain_low),
        "expected_high": _share(proposal.gain_high),
    }


def _core(pool_tuple: PoolTuple | None) -> Core | None:
    return None if pool_tuple is None else pool_tuple.core


def _share(gain: float | None) -> float | None:
    """A gain in ln goodput as a share; None where nobody could read it."""
    return None if gain is None or gain > math.log(1e6) else math.expm1(gain)
