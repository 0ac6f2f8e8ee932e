"""One decision as the page shows it: numbered, and small enough to keep thousands of them."""

import math
from dataclasses import dataclass
from typing import Any, Self

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.decision_log import LoggedDecision
from poolpilot.serve.tuner.machine.decision import State

LONGEST_REASON = 500
"""Characters."""

ROUTINE = ("watching:",)
"""Beginnings of reasons that every window repeats with other numbers."""

Core = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class PageRow:
    """What one decision was made by, and what it says.

    Attributes:
        number: Its number in the history of its server, from 1.
        unix_s: When, by the clock of the tuner.
        state: Where the tuner stands after it.
        entered: Whether it stood elsewhere before.
        began: Whether it is the first one of a tuner.
        says_new: Whether state or reason differ from the decision before, the counting of windows left out.
        reason: Why, as a sentence.
        in_force: The tuple as read from the server; None where it could not be reached.
        verified: The tuple that comes back should the tuner end now.
        would: The tuple that would be tried were it allowed; None where there is none.
        throughput_per_s: Of the window before it; None where there is no window.
        latency_ms: Of that window; None where it is not known.
        expected_gain: What the predictor promises for what it proposes, as a share of the goodput; None where it was
            not asked, or gives no number.
        most_lost: Requests that what was decided can cost at most.
    """

    number: int
    unix_s: float
    state: State
    entered: bool
    began: bool
    says_new: bool
    reason: str
    in_force: Core | None
    verified: Core
    would: Core | None
    throughput_per_s: float | None
    latency_ms: float | None
    expected_gain: float | None
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
        look, decision = logged.look, logged.decision
        reason = decision.reason[:LONGEST_REASON]
        entered = began or before is None or decision.state is not before.state
        if before is not None and reason == before.reason:
            reason = before.reason  # kept once
        repeats = before is not None and reason is before.reason
        return cls(
            number=number,
            unix_s=look.unix_s,
            state=decision.state,
            entered=entered,
            began=began,
            says_new=entered or not (repeats or reason.startswith(ROUTINE)),
            reason=reason,
            in_force=_core(look.in_force),
            verified=decision.verified.core,
            would=_core(decision.would),
            throughput_per_s=None if look.reading is None else look.reading.throughput_per_s,
            latency_ms=None if look.reading is None else look.reading.latency_ms,
            expected_gain=_share(None if look.proposal is None else look.proposal.gain),
            most_lost=decision.most_lost,
        )

    def as_dict(self) -> dict[str, Any]:
        """The row fit for JSON, without what is not known or not so."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value is not None and value is not False}


def _core(pool_tuple: PoolTuple | None) -> Core | None:
    return None if pool_tuple is None else pool_tuple.core


def _share(gain: float | None) -> float | None:
    """A gain in ln goodput as a share; None where nobody could read it."""
    return None if gain is None or gain > math.log(1e6) else math.expm1(gain)
