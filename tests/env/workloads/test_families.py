"""Families draw reproducible workloads that a live pool can serve, and no family stands in two splits."""

from collections import Counter, defaultdict

import pytest

from poolpilot.env.objective import Objective
from poolpilot.env.workloads.families import CPUS, FAMILIES, draw_workload, workload_set
from poolpilot.env.workloads.family import Family

COUNTS = {"train": 80, "validation": 15, "test": 20}


def test_set_holds_what_was_asked_dealt_evenly_and_split_by_family() -> None:
    planned = workload_set(1, {"train": 80, "validation": 15, "test": 20})
    assert Counter(plan.split for plan in planned) == COUNTS
    assert len({plan.workload.name for plan in planned}) == sum(COUNTS.values())
    splits_of = defaultdict(set)
    for plan in planned:
        splits_of[plan.workload.family].add(plan.split)
    assert all(len(splits) == 1 for splits in splits_of.values())
    per_family = Counter(plan.workload.family for plan in planned)
    for split in COUNTS:
        counts = [per_family[family.name] for family in FAMILIES.values() if family.split == split]
        assert max(counts) - min(counts) <= 1


def test_affinity_varies_in_every_family() -> None:
    families = Counter(family.split for family in FAMILIES.values())
    planned = workload_set(1, {split: len(CPUS) * count for split, count in families.items()})
    for family in FAMILIES:
        assert {plan.workload.cpus for plan in planned if plan.workload.family == family} == set(CPUS)
    assert len(set(CPUS)) > 1


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_draws_depend_on_nothing_but_their_arguments(family: Family) -> None:
    assert draw_workload(family, 3, 1) == draw_workload(family, 3, 1)
    assert draw_workload(family, 3, 1) != draw_workload(family, 4, 1)
    assert draw_workload(family, 3, 1).classes != draw_workload(family, 3, 3).classes


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_latches_taken_are_released_and_shares_are_positive(family: Family) -> None:
    for number in range(20):
        workload = draw_workload(family, 7, number)
        for request_class in workload.classes:
            taken = Counter(step.op for step in request_class.steps)
            assert taken["acquire"] == taken["release"]
            assert request_class.share > 0
            assert sum(step.us for step in request_class.steps) < 1e6
        Objective.of_classes(workload.classes)


@pytest.mark.parametrize("split", ["validation", "test"])
def test_held_out_families_are_of_every_nature(split: str) -> None:
    assert {family.nature for family in FAMILIES.values() if family.split == split} == {
        "cpu",
        "silent",
        "latch",
        "other",
    }


def test_families_that_were_looked_into_are_sealed_no_more() -> None:
    assert {FAMILIES[name].split for name in ("reports", "page_faults", "hot_counter", "commit_path")} == {"validation"}


def test_a_collection_holds_the_workloads_of_the_older_validation_families_as_before() -> None:
    names = {one.workload.name for one in workload_set(1, {"validation": 35})}
    assert {"two_latches-1-4", "short_beside_silent_long-1-0", "commit_path-1-4"} <= names


def test_processors_may_be_named_and_more_of_them_have_more_connections() -> None:
    one, many = (draw_workload(FAMILIES["cpu_single"], 1, 3, cpus) for cpus in (1, 16))
    assert (one.cpus, many.cpus, many.connections) == (1, 16, 8 * one.connections)
    assert one.name != many.name != draw_workload(FAMILIES["cpu_single"], 1, 3).name
