"""What an environment serves when it is told no more than a family."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.errors import SettingError
from poolpilot.native_pool.workload import Workload

T = TypeVar("T")


def given_or_drawn(given: Sequence[T] | None, family: str | None, seed: int, made: Callable[[Workload], T]) -> list[T]:
    """What was given or, without it, what is made of drawn workloads.

    Args:
        given: What to draw episodes from.
        family: Family to draw a workload from; one of every training family if None.
        seed: Seed of that draw.
        made: Makes of a workload what is drawn from.

    Raises:
        SettingError: There is no such family, or both something and a family are given.
    """
    if given is None:
        return [made(workload) for workload in drawn_workloads(family, seed)]
    if family is not None:
        raise SettingError(f"give either a family ({family!r}) or what to draw episodes from, not both")
    return list(given)


def drawn_workloads(family: str | None, seed: int) -> list[Workload]:
    """A workload of one family, or one of every training family.

    Raises:
        SettingError: There is no such family.

    Examples:
        >>> [workload.name for workload in drawn_workloads("page_faults", seed=3)]
        ['page_faults-3-0']
    """
    if family is None:
        return [draw_workload(family, seed) for family in FAMILIES.values() if family.split == "train"]
    if family not in FAMILIES:
        raise SettingError(f"there is no family {family!r}; there are {', '.join(sorted(FAMILIES))}")
    return [draw_workload(FAMILIES[family], seed)]
