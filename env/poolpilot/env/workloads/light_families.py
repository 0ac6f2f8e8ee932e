"""Families of simulated workloads under light and half load, and how plans draw them: every third workload is of one.

Their programs are those of the other families, half of them composed step by step at random. They are families of their
own, so that what the others draw for a seed and a number stays what it was.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

import numpy as np

from poolpilot.env.workloads.composed import draw_pausing
from poolpilot.env.workloads.family import Scale
from poolpilot.env.workloads.light_load import SHAPES, SHARES, LightLoad
from poolpilot.env.workloads.simulated_families import (
    SIMULATED_FAMILIES,
    Drawn,
    SimulatedFamily,
    any_machine,
)

Draw = Callable[[np.random.Generator, Scale], Drawn]

Place = tuple[SimulatedFamily, int]
"""A family and the number of a workload within it."""

LIGHT_EVERY = 3
"""One workload in so many is under light or half load."""

LOADS = tuple(LightLoad(*values) for values in product(SHAPES, SHARES, (False, True)))

IN_WORDS = {
    "pauses": "clients that pause",
    "sleepers": "many connections, few of which send",
    "bursts": "bursts of two seconds in ten",
}

PROGRAMS = (
    "sim_cpu_bound",
    "sim_io_bound",
    "sim_short_beside_long",
    "sim_hot_latch",
    "sim_hot_rows",
    "sim_commit_bound",
    "twin_cpu_single",
    "twin_short_beside_long",
    "twin_silent_single",
    "twin_reported_single",
    "twin_latch_single",
    "twin_silent_then_latch",
    "twin_reported_then_latch",
    "twin_silent_beside_cpu",
    "twin_latch_beside_cpu",
)
"""Families whose programs are sent lightly: others bring a load of their own, or compose at random as the half does."""


def _programs(rng: np.random.Generator, population: Scale) -> Drawn:
    if rng.random() < 0.5:
        return Drawn(draw_pausing(rng), {})
    return SIMULATED_FAMILIES[PROGRAMS[int(rng.integers(len(PROGRAMS)))]].draw(rng, population)


def _programs_apart(rng: np.random.Generator, _: Scale) -> Drawn:
    return Drawn(draw_pausing(rng, to_choose_by=True), {})


def _family(load: LightLoad, draw: Draw = _programs, suffix: str = "") -> SimulatedFamily:
    where = " in the bursts" if load.shape == "bursts" else ""
    whose = "the default" if load.of_default else "the best pool"
    words = f"{IN_WORDS[load.shape]}; {load.share:.0%} of what {whose} can give is asked for{where}"
    stock = "_stock" if load.of_default else ""
    return SimulatedFamily(f"sim_{load.shape}_{100 * load.share:.0f}{stock}{suffix}", words, draw, any_machine, load)


LIGHT_FAMILIES: Mapping[str, SimulatedFamily] = {family.name: family for family in map(_family, LOADS)}

LIGHT_CHOOSING_FAMILIES: Mapping[str, SimulatedFamily] = {
    family.name: family for family in (_family(load, _programs_apart, "_apart") for load in LOADS)
}
"""Families that models are chosen by beside `CHOOSING_FAMILY`; nothing learns from them."""


def dealt(families: Iterable[SimulatedFamily], count: int) -> list[Place]:
    """So many workloads, dealt evenly to families: each with its number within its family."""
    among = list(families)
    return [(among[index % len(among)], index // len(among)) for index in range(count)]


def in_turns(full: Sequence[Place], light: Sequence[Place]) -> list[Place]:
    """Both, each spread evenly over the whole, so that a run that is cut short has some of either."""
    spread = [((index + 0.5) / len(part), one) for part in (full, light) for index, one in enumerate(part)]
    return [one for _, one in sorted(spread, key=lambda each: each[0])]
