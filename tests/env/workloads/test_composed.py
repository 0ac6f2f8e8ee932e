"""Composed workloads: one composition in three is never learned from, nor is that of any held-out family."""

import numpy as np
import pytest

from poolpilot.env.workloads.composed import HELD_OUT_ONE_IN, chooses, draw_composed, draw_to_choose_by, is_held_out
from poolpilot.env.workloads.composition import composition
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.native_pool.workload import Workload

DRAWS = 300


def drawn(number: int, *, held_out: bool = False) -> str:
    return composition(draw_composed(np.random.default_rng([7, number]), held_out=held_out))


def sealed() -> set[str]:
    """Compositions of the held-out families of the embedded pool."""
    families = [family for family in FAMILIES.values() if family.split != "train"]
    return {composition(draw_workload(family, 3).classes) for family in families}


@pytest.mark.parametrize("held_out", [False, True])
def test_a_composition_is_either_learned_from_or_held_out(held_out: bool) -> None:
    texts = {drawn(number, held_out=held_out) for number in range(DRAWS)}
    assert {is_held_out(text) for text in texts} == {held_out}
    assert len(texts) > DRAWS / 4


def test_about_one_composition_in_three_is_held_out() -> None:
    either = {drawn(number, held_out=held_out) for number in range(DRAWS) for held_out in (False, True)}
    plain = [text for text in either if " | " in text]
    assert plain
    share = np.mean([is_held_out(f"{text} | x{number}") for number, text in enumerate(sorted(either))])
    assert share == pytest.approx(1.0 / HELD_OUT_ONE_IN, abs=0.08)


@pytest.mark.parametrize("family", [one for one in FAMILIES.values() if one.split != "train"], ids=lambda one: one.name)
def test_compositions_of_held_out_families_are_held_out(family: object) -> None:
    named = next(one for one in FAMILIES.values() if one is family)
    assert is_held_out(composition(draw_workload(named, 3).classes))


def test_half_of_the_compositions_that_are_held_out_by_their_text_choose_models() -> None:
    held_out = {drawn(number, held_out=True) for number in range(DRAWS)} - sealed()
    share = np.mean([chooses(text) for text in held_out])
    assert share == pytest.approx(0.5, abs=0.1)
    to_choose_by = {composition(draw_to_choose_by(np.random.default_rng([3, number]))) for number in range(DRAWS)}
    assert all(is_held_out(text) and chooses(text) for text in to_choose_by)
    assert not any(chooses(text) for text in sealed() | {drawn(number) for number in range(DRAWS)})


def test_classes_make_a_workload_and_the_seed_decides_them() -> None:
    for number in range(50):
        classes = draw_composed(np.random.default_rng([9, number]))
        assert classes == draw_composed(np.random.default_rng([9, number]))
        Workload("w", "w", classes, connections=16, cpus=2, seed=1)
        assert sum(one.share for one in classes) == pytest.approx(1.0)
