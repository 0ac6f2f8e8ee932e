"""What became of a decision in production, as staging takes it in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window

Became = Literal["kept", "rolled back", "not tried"]

OF_BEFORE: Mapping[str, Became] = {"taken back": "rolled back"}
"""Verdicts as releases before 0.2.0 have kept them, and as they are called today."""


@dataclass(frozen=True, slots=True)
class ProductionOutcome:
    """One decision and what came of it.

    Attributes:
        id: Its name; the same one is taken in once.
        server_id: The server, as it calls itself.
        propensity: Probability with which what was set had been chosen, above 0 and at most 1.
        model_digest: Digest of what decided.
        verdict: Whether what was set has stayed.
        before: The window before.
        after: The window after.
        limits: Knobs of the server.
        objective: What counts on it.
    """

    id: str
    server_id: str
    propensity: float
    model_digest: str
    verdict: Became
    before: Window
    after: Window
    limits: KnobSpace
    objective: Objective

    @property
    def gain(self) -> float:
        """What J had gained in the window after."""
        return self.objective.value(self.after) - self.objective.value(self.before)

    @property
    def realised(self) -> float:
        """What that was worth: what was rolled back has gained nothing, and has cost what its window lost."""
        return self.gain if self.verdict == "kept" else min(self.gain, 0.0) if self.verdict == "rolled back" else 0.0

    def as_row(self, request: str) -> Mapping[str, Any]:
        """The row of `OUTCOME_SCHEMA`.

        Args:
            request: JSON of the request that it was reported with.
        """
        return {
            "id": self.id,
            "server_id": self.server_id,
            "server_kind": self.before.server_kind,
            "cpus": self.limits.processors,
            "propensity": self.propensity,
            "model_digest": self.model_digest,
            "verdict": self.verdict,
            "tuple_before": str(self.before.pool_tuple),
            "tuple_after": str(self.after.pool_tuple),
            "throughput_before_per_s": self.before.throughput_per_s,
            "throughput_after_per_s": self.after.throughput_per_s,
            "gain": self.gain,
            "request": request,
        }
