"""What methods may know of a workload that is held out: all response curves but those of its family or composition."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol, Self

from poolpilot.agent.baselines.ratio_trees import RatioTrees
from poolpilot.agent.baselines.trees import TreesSettings
from poolpilot.models.latent.response_curves import ResponseCurves

TREES = TreesSettings(iterations=100)


class HeldOut(Protocol):
    """A workload that is held out."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def kind(self) -> str:
        """The set that it belongs to; what is held out of one set is known in another."""

    @property
    def family(self) -> str:
        """What intervals are clustered by, and what is held out."""

    @property
    def composition(self) -> str:
        """What it is composed of."""


class Known(NamedTuple):
    """What methods know.

    Attributes:
        curves: Response curves.
        trees: Trees that have learned from them; None where they hold no ratios.
    """

    curves: ResponseCurves
    trees: RatioTrees | None

    @classmethod
    def of(cls, curves: ResponseCurves) -> Self:
        """The curves with trees fitted to them."""
        ratios = any(curve.ratios for curve in curves.curves)
        return cls(curves, RatioTrees.fit(curves, TREES) if ratios else None)


class Knowledge:
    """What methods may know of each held-out workload.

    Args:
        curves: All curves.
        cases: All workloads that are held out.
        together: Kinds of which all workloads are held out at once; of the others it is one family at a time.
    """

    def __init__(self, curves: ResponseCurves, cases: Sequence[HeldOut], together: Collection[str] = ()) -> None:
        self._curves = curves
        self._together = together
        self._families: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._compositions: dict[tuple[str, str], set[str]] = defaultdict(set)
        for case in cases:
            self._families[self._key(case)] |= {case.family, f"twin_{case.family}", case.family.removeprefix("twin_")}
            self._compositions[self._key(case)].add(case.composition)
        self._latest: tuple[tuple[str, str], Known] | None = None

    def of(self, case: HeldOut) -> Known:
        """What may be known; the latest is kept, so that workloads should come family by family."""
        key = self._key(case)
        if self._latest is None or self._latest[0] != key:
            self._latest = key, Known.of(self._left(key))
        return self._latest[1]

    def _left(self, key: tuple[str, str]) -> ResponseCurves:
        families, compositions = self._families[key], self._compositions[key]
        left = [
            curve
            for curve in self._curves.curves
            if curve.family not in families and (curve.composition == "" or curve.composition not in compositions)
        ]
        return ResponseCurves(grid=self._curves.grid, source=self._curves.source, curves=tuple(left))

    def _key(self, case: HeldOut) -> tuple[str, str]:
        return case.kind, "" if case.kind in self._together else case.family
