"""A composition is what a workload is made of, whatever its numbers and names; none is both learned from and sealed."""

from dataclasses import replace
from functools import cache

import pytest

from poolpilot.env.workloads.composition import KNOWN_OVERLAPS, composition, overlaps
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.env.workloads.light_families import LIGHT_CHOOSING_FAMILIES, LIGHT_FAMILIES
from poolpilot.env.workloads.light_load import pausing
from poolpilot.env.workloads.simulated_families import SIMULATED_FAMILIES, draw_scenario
from poolpilot.native_pool.workload import RequestClass, Step

CPU = Step("cpu", us=100.0)
SILENT = Step("wait", us=500.0)
TOLD = Step("wait", us=500.0, kind="disk_io", reported=True)
BEGIN, COMMIT = Step("begin"), Step("commit")
DRAWN_OFTEN = 1500
"""Of families whose composition is random; the rarest of `mixture_of_classes` come up once in some hundred."""


def draws_of(family: str) -> range:
    return range(DRAWN_OFTEN if "mixture" in family or "composed" in family else 30)


def latch(number: int, *inside: Step, spread: int = 1, reported: bool = False) -> tuple[Step, ...]:
    acquire = Step("acquire", latch=number, spread=spread, reported=reported)
    return (acquire, *inside, Step("release", latch=number, spread=spread))


def of(*programs: tuple[Step, ...]) -> str:
    return composition([RequestClass(f"class_{place}", steps) for place, steps in enumerate(programs)])


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ((), "cpu"),
        ((CPU, CPU), "cpu"),
        ((CPU, SILENT, CPU), "silent"),
        ((SILENT, CPU, SILENT, TOLD), "silent silent told"),
        ((CPU, *latch(7, CPU)), "latch0"),
        ((*latch(5), CPU, *latch(3), TOLD, *latch(5)), "latch0 latch1 told latch0"),
        (latch(1, CPU, SILENT, spread=4), "latch0*(silent)"),
        (latch(1, *latch(0, TOLD)), "latch0(latch1(told))"),
        ((BEGIN, CPU, TOLD, COMMIT, SILENT), "transaction(told) silent"),
        ((BEGIN, COMMIT), "transaction"),
        ((BEGIN, Step("acquire", reported=True), SILENT, COMMIT, TOLD), "transaction(told-latch0(silent)) told"),
        ((Step("acquire"), SILENT), "latch0(silent)"),
    ],
)
def test_text_says_the_order_of_waits_latches_and_transactions(steps: tuple[Step, ...], text: str) -> None:
    assert of(steps) == text


def test_order_and_names_of_classes_and_durations_do_not_matter() -> None:
    classes = [RequestClass("a", (CPU, SILENT)), RequestClass("b", latch(3, CPU)), RequestClass("c", (CPU,))]
    again = [replace(one, name=one.name * 2, weight=3.0, target_ms=5.0, share=0.1) for one in reversed(classes)]
    slower = [replace(one, steps=tuple(replace(step, us=9.0, variation=1.0) for step in one.steps)) for one in again]
    assert composition(slower) == composition(classes) == "cpu | latch0 | silent"


def test_pauses_of_the_clients_are_part_of_it() -> None:
    assert composition([RequestClass("a", (CPU,), think_ms=1.0)]) == "think cpu"


def test_classes_that_share_a_latch_differ_from_those_with_one_each() -> None:
    assert of(latch(2), (CPU, *latch(2))) == "latch0 | latch0"
    assert of(latch(2), (CPU, *latch(9))) == "latch0 | latch1"
    crossing = [(*latch(1), *latch(2)), (*latch(2), *latch(1)), latch(2)]
    assert {of(*crossing), of(*reversed(crossing)), of(crossing[1], crossing[2], crossing[0])} == {of(*crossing)}


def test_many_classes_alike_take_no_time_of_note() -> None:
    assert of(*[(CPU, SILENT)] * 64) == " | ".join(["silent"] * 64)


def test_overlaps_are_what_is_learned_from_and_evaluated_on() -> None:
    found = [
        ("train", "a", "cpu"),
        ("train", "b", "silent"),
        ("validation", "reports", "cpu"),
        ("test", "c", "silent"),
        ("test", "d", "silent"),
        ("test", "e", "told"),
    ]
    (known, leaked) = overlaps(found)
    assert (known.composition, known.is_known) == ("cpu", True)
    assert (leaked.training, leaked.held_out, leaked.is_known) == (("b",), ("c", "d"), False)


@cache
def live_compositions() -> list[tuple[str, str, str]]:
    return [
        (family.split, family.name, composition(draw_workload(family, 11, number).classes))
        for family in FAMILIES.values()
        for number in draws_of(family.name)
    ]


@cache
def simulated_compositions() -> list[tuple[str, str, str]]:
    return [
        ("train", family.name, composition(draw_scenario(family, 11, number).workload.classes))
        for family in (*SIMULATED_FAMILIES.values(), *LIGHT_FAMILIES.values())
        for number in draws_of(family.name)
    ]


def light_compositions(*, bare: bool = False) -> list[tuple[str, str, str]]:
    families = [("train", one) for one in LIGHT_FAMILIES.values()]
    apart = [("validation", one) for one in LIGHT_CHOOSING_FAMILIES.values()]
    drawn = [
        (split, family.name, draw_scenario(family, 11, number).workload.classes)
        for split, family in (*families, *apart)
        for number in range(30)
    ]
    return [(split, name, composition(pausing(classes, 0.0) if bare else classes)) for split, name, classes in drawn]


@pytest.mark.parametrize("bare", [False, True])
def test_nothing_is_learned_of_what_is_held_out_by_adding_pauses_or_taking_them_off(bare: bool) -> None:
    # Live training families have what is held out by its text alone: without pauses they are no business of this.
    live = [one for one in live_compositions() if one[0] != "train" or not bare]
    found = overlaps(live + light_compositions(bare=bare))
    assert [overlap for overlap in found if not overlap.is_known] == []


def test_no_held_out_composition_is_learned_from_but_the_known_ones() -> None:
    found = overlaps(live_compositions() + simulated_compositions())
    assert [overlap for overlap in found if not overlap.is_known] == []
    assert {family for overlap in found for family in overlap.held_out} == set(KNOWN_OVERLAPS)


def test_sealed_compositions_are_nowhere_else_and_no_two_are_alike() -> None:
    live = live_compositions()
    sealed = {text: family for split, family, text in live if split == "test"}
    elsewhere = {text for split, _, text in live + simulated_compositions() if split != "test"}
    families = {family.name for family in FAMILIES.values() if family.split == "test"}
    assert len(families) >= 8
    assert set(sealed.values()) == families
    assert len(sealed) == len(families)
    assert sealed.keys() & elsewhere == set()
