"""What a predictor answers: advice for one server at one time, and who gives it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

Verdict = Literal["change", "leave it", "no advice"]
"""What a prediction comes to; not to know is no advice to leave things alone."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Advice for one server at one time.

    Attributes:
        pool_tuple: The tuple to set; the one in force when it abstains or would leave things alone.
        in_force: The tuple of the latest window.
        abstained: Whether the predictor does not know, so that only trying tells: a sweep or a climb in staging.
        reasons: Why, as sentences for a DBA; the first is the main one.
        model_digest: Digest of what answered.
        expected_gain: J of `pool_tuple` minus J of the first window's tuple, about the logarithm of their ratio
            of goodput; None where the predictor does not estimate it or abstains.
        gain_low: Lower end of the gain's interval.
        gain_high: Upper end of the gain's interval.
        expires_s: Seconds after which the advice is stale.
        improvement: Regret that trying `pool_tuple` is expected to take off what is kept, as a share of the goodput: a
            try may be worth its while though that tuple alone promises little. None where it is not estimated.
        most_gain: The most that any tuple can bring over the one in force, in ln goodput (`GainBound`); None where
            nothing that was seen bounds it.
    """

    pool_tuple: PoolTuple
    in_force: PoolTuple
    abstained: bool
    reasons: tuple[str, ...]
    model_digest: str
    expected_gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    expires_s: float = 300.0
    improvement: float | None = None
    most_gain: float | None = None

    @property
    def keeps(self) -> bool:
        """Whether the advice is to leave the core tuple as it is."""
        return self.pool_tuple.core == self.in_force.core

    @property
    def verdict(self) -> Verdict:
        """Whether it advises to change the tuple, or to leave it, or has no advice."""
        if self.abstained:
            return "no advice"
        return "leave it" if self.keeps else "change"

    def as_dict(self) -> dict[str, Any]:
        """The fields, `keeps` and the verdict, fit for JSON."""
        return {
            **{name: getattr(self, name) for name in self.__slots__},
            "pool_tuple": self.pool_tuple.as_dict(),
            "in_force": self.in_force.as_dict(),
            "reasons": list(self.reasons),
            "keeps": self.keeps,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class Ranking:
    """What may be set on a server, the most promising first, or why nothing is.

    Attributes:
        first: What is answered to whoever takes one answer.
        further: What else promises something, each less than the one before.
    """

    first: Prediction
    further: tuple[Prediction, ...] = ()

    @property
    def candidates(self) -> tuple[Prediction, ...]:
        """What may be set, each with its promise, the interval of that and its reason; none where it is silent."""
        return (self.first, *self.further) if self.first.verdict == "change" else ()

    @property
    def silence(self) -> str | None:
        """Why there is no candidate, as a sentence; None where there is one."""
        return None if self.candidates else next(iter(self.first.reasons), None)


class Predictor(Protocol):
    """Anything that names a tuple for a response set: the advisor, and the baselines that it is compared with."""

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple.

        Args:
            windows: Measured windows of one workload, oldest first, at least one; the latest is in force.
            limits: The knobs of the server and their ranges.
            objective: What counts.

        Raises:
            SettingError: There is no window, or the limits allow no tuple.
        """


@runtime_checkable
class ProbingPredictor(Predictor, Protocol):
    """A predictor that also knows where it may be wrong."""

    def probe(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> PoolTuple | None:
        """The tuple that may be better than all measured ones; None when there is none left to try.

        Args:
            windows: Measured windows, as for `predict`.
            limits: The knobs of the server and their ranges.
            objective: What counts.
        """
