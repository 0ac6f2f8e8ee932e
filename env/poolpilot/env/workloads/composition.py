"""What a workload is composed of, as one canonical text: what is held out is a composition, not a name.

A class is written as its waits, latches and transactions in their order, `think` before them where its clients pause:
`silent latch0 told`, `transaction(latch0* told)`. Processor time is everywhere, so it is written only where a class has
nothing else (`cpu`). Classes are joined by ` | `. Durations, shares, targets, the names of classes, their order and the
numbers that latches happen to have do not matter.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, permutations, product

from poolpilot.native_pool.workload import RequestClass, Step

BESIDE = " | "

KNOWN_OVERLAPS: Mapping[str, str] = {
    "short_beside_silent_long": "its composition, cpu | silent, is that of the training family silent_beside_cpu, and "
    "mixture_of_classes draws it; what differs are targets, weights and durations",
    "reports": "its composition, cpu | cpu | cpu, is drawn by mixture_of_classes now and then; what differs are "
    "targets, weights and durations",
}
"""Held-out families whose composition does occur among training families, with what is different about them."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """A composition that is both learned from and evaluated on.

    Attributes:
        composition: The composition.
        held_out: Families of the validation or test split that have it.
        training: Families of the training split that have it.
    """

    composition: str
    held_out: tuple[str, ...]
    training: tuple[str, ...]

    @property
    def is_known(self) -> bool:
        """Whether all families that are evaluated on it are among `KNOWN_OVERLAPS`."""
        return all(family in KNOWN_OVERLAPS for family in self.held_out)


def composition(classes: Iterable[RequestClass]) -> str:
    """The canonical text of what some classes are composed of.

    Args:
        classes: The classes of one workload, in any order.

    Examples:
        >>> wait, burn = Step("wait", us=500.0, reported=True), Step("cpu", us=80.0)
        >>> composition([RequestClass("reading", (burn, wait, burn)), RequestClass("short", (burn,), think_ms=3.0)])
        'think cpu | told'
    """
    # Latches that classes share must stay shared: they are numbered over all classes, in the order of the least text.
    ordered = sorted(classes, key=_unnumbered)
    alike = [(text, list(group)) for text, group in groupby(ordered, key=_unnumbered)]
    orders = product(*(permutations(group) if "latch" in text else [group] for text, group in alike))
    return min(_joined(list(chain.from_iterable(order))) for order in orders)


def overlaps(found: Iterable[tuple[str, str, str]]) -> list[Overlap]:
    """Compositions that are both learned from and evaluated on.

    Args:
        found: Split, family and composition of every workload.
    """
    training: dict[str, set[str]] = {}
    held_out: dict[str, set[str]] = {}
    for split, family, text in found:
        (training if split == "train" else held_out).setdefault(text, set()).add(family)
    return [
        Overlap(text, tuple(sorted(held_out[text])), tuple(sorted(training[text])))
        for text in sorted(training.keys() & held_out.keys())
    ]


def _unnumbered(request_class: RequestClass) -> str:
    return _written(request_class, _Numbers(numbered=False))


def _joined(classes: Sequence[RequestClass]) -> str:
    numbers = _Numbers()
    return BESIDE.join(_written(each, numbers) for each in classes)


@dataclass
class _Numbers:
    """New numbers of latches, by first appearance."""

    numbered: bool = True
    _of: dict[int, int] = field(default_factory=dict)

    def __call__(self, latch: int) -> str:
        return str(self._of.setdefault(latch, len(self._of))) if self.numbered else ""


def _written(request_class: RequestClass, numbers: _Numbers) -> str:
    parts = _parts(request_class.steps, numbers) or ["cpu"]
    return " ".join([*(["think"] if request_class.think_ms > 0.0 else []), *parts])


def _parts(steps: Sequence[Step], numbers: _Numbers) -> list[str]:
    """The words of a program; what opens and is not closed ends with it, as a row lock does at the commit."""
    open_words: list[str] = []
    inside: list[list[str]] = [[]]
    for step in steps:
        if step.op == "wait":
            inside[-1].append("told" if step.reported else "silent")
        elif step.op in ("acquire", "begin"):
            open_words.append(_opening(step, numbers))
            inside.append([])
        elif step.op == "release" or (step.op == "commit" and open_words):
            _close(open_words, inside, everything=step.op == "commit")
    _close(open_words, inside, everything=True)
    return inside[0]


def _opening(step: Step, numbers: _Numbers) -> str:
    if step.op == "begin":
        return "transaction"
    return f"{'told-' if step.reported else ''}latch{numbers(step.latch)}{'*' if step.spread > 1 else ''}"


def _close(open_words: list[str], inside: list[list[str]], *, everything: bool) -> None:
    while open_words:
        word, within = open_words.pop(), inside.pop()
        inside[-1].append(f"{word}({' '.join(within)})" if within else word)
        if not everything or word == "transaction":
            return
