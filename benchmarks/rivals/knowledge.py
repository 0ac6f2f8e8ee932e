"""What methods may know of a held-out workload: all response curves but those of its family, composition or machine."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from poolpilot.agent.baselines.ratio_trees import RatioTrees
from poolpilot.agent.baselines.trees import TreesSettings
from poolpilot.env.workloads.composition import composition
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves

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

    @property
    def held_out_cpus(self) -> int | None:
        """Processors; every machine with as many is held out. None where no size of machine is."""


Key = tuple[str, str]
"""Kind, and family where its families are held out one at a time."""

Without = tuple[tuple[Key, ...], int | None]
"""What is left out at once: workloads by their keys, and machines by their processors."""


class Known(NamedTuple):
    """What methods know.

    Attributes:
        curves: Response curves.
        trees: Trees that have learned from them, or from fewer; None where they hold no ratios.
    """

    curves: ResponseCurves
    trees: RatioTrees | None


class Knowledge:
    """What methods may know of each held-out workload.

    Args:
        curves: All curves.
        cases: All workloads that are held out.
        together: Kinds of which all workloads are held out at once; of the others it is one family at a time.
        tree_group: Families of a kind that trees are fitted without at once, since fitting is dear.
    """

    def __init__(
        self,
        curves: ResponseCurves,
        cases: Sequence[HeldOut],
        together: Collection[str] = (),
        tree_group: int = 1,
    ) -> None:
        self._curves = curves
        self._together = together
        self._families: dict[Key, set[str]] = defaultdict(set)
        self._compositions: dict[Key, set[str]] = defaultdict(set)
        for case in cases:
            self._families[self._key(case)] |= {case.family, f"twin_{case.family}", case.family.removeprefix("twin_")}
            self._compositions[self._key(case)].add(case.composition)
        self._group_of = {
            key: group
            for kind in dict.fromkeys(kind for kind, _ in self._families)
            for group in batched([key for key in self._families if key[0] == kind], tree_group)
            for key in group
        }
        self._known: tuple[Without, Known] | None = None
        self._trees: tuple[Without, RatioTrees | None] | None = None

    def of(self, case: HeldOut) -> Known:
        """What may be known; the latest is kept: workloads should come family by family and machine by machine."""
        key, cpus = self._key(case), case.held_out_cpus
        without = (key,), cpus
        if self._known is None or self._known[0] != without:
            self._known = without, Known(self._left(without), self._fitted((self._group_of[key], cpus)))
        return self._known[1]

    def _fitted(self, without: Without) -> RatioTrees | None:
        if self._trees is None or self._trees[0] != without:
            curves = self._left(without)
            ratios = any(curve.ratios for curve in curves.curves)
            self._trees = without, RatioTrees.fit(curves, TREES) if ratios else None
        return self._trees[1]

    def _left(self, without: Without) -> ResponseCurves:
        keys, cpus = without
        families = set().union(*(self._families[key] for key in keys))
        compositions = set().union(*(self._compositions[key] for key in keys))
        left = [
            curve
            for curve in self._curves.curves
            if curve.family not in families
            and (curve.composition == "" or curve.composition not in compositions)
            and curve.cpus != cpus
        ]
        return ResponseCurves(grid=self._curves.grid, source=self._curves.source, curves=tuple(left))

    def _key(self, case: HeldOut) -> Key:
        return case.kind, "" if case.kind in self._together else case.family


def batched(keys: Sequence[Key], size: int) -> list[tuple[Key, ...]]:
    """Keys in their order, so many at a time."""
    return [tuple(keys[start : start + size]) for start in range(0, len(keys), size)]


def with_compositions(curves: ResponseCurves) -> ResponseCurves:
    """Curves that all say what they are composed of: those of recorded workloads do not, but these can be drawn again.

    What no family of the embedded pool has drawn, such as a workload of MariaDB, is composed of nothing known here.
    """
    named = tuple(curve if curve.composition else _named(curve) for curve in curves.curves)
    return curves.model_copy(update={"curves": named})


def _named(curve: ResponseCurve) -> ResponseCurve:
    family = FAMILIES.get(curve.family)
    if family is None:
        return curve
    seed, number = map(int, curve.name.removeprefix(f"{family.name}-").split("-"))
    return curve.model_copy(update={"composition": composition(draw_workload(family, seed, number).classes)})
