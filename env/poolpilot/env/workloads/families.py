"""Workload families: how the workloads of staging are drawn, and which families are held out.

A family is a composition of ingredients (CPU, silent waits, reported waits, latches, think time). Validation
and test families combine ingredients in ways no training family does, so that a score on them says something
about workloads nobody has seen.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol

import numpy as np
from typing_extensions import TypeVar

from poolpilot.env.workloads.family import Classes, Family, Scale, Split
from poolpilot.env.workloads.ingredients import (
    cpu_step,
    cpu_us_of,
    draw_latch,
    latched,
    log_uniform,
    one_class,
    reported_step,
    short_and_long,
    silent_step,
)
from poolpilot.env.workloads.sealed_families import SEALED_FAMILIES
from poolpilot.native_pool.workload import RequestClass, Step, Workload

CONNECTIONS = (16, 24, 32, 48, 64, 96, 128)
CPUS = (1, 2)


class StagedWorkload(Protocol):
    """What staging must know of a workload, whatever server it is sent to."""

    @property
    def name(self) -> str:
        """Unique name."""

    @property
    def family(self) -> str:
        """Family it was drawn from."""

    @property
    def seed(self) -> int:
        """Seed of its load."""

    def as_dict(self) -> dict[str, Any]:
        """Its definition, fit for JSON."""


W = TypeVar("W", bound=StagedWorkload, default=Workload)


@dataclass(frozen=True)
class PlannedWorkload(Generic[W]):
    """A workload with the split it was drawn for."""

    split: Split
    workload: W


def _cpu_single(rng: np.random.Generator, _: Scale) -> Classes:
    cpu_us = log_uniform(rng, 300, 4000)
    return one_class(cpu_step(cpu_us, rng.uniform(0, 1))), {"cpu_us": cpu_us}


def _short_beside_long(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "short_us": log_uniform(rng, 150, 600),
        "long_us": log_uniform(rng, 10_000, 50_000),
        "share": rng.uniform(0.1, 0.35),
        "target_ms": log_uniform(rng, 20, 80),
    }
    return short_and_long((cpu_step(drawn["short_us"]),), (cpu_step(drawn["long_us"]),), **drawn), drawn


def _silent_single(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 80, 600), "wait_us": log_uniform(rng, 2000, 20_000)}
    return one_class(cpu_step(drawn["cpu_us"]), silent_step(drawn["wait_us"])), drawn


def _reported_single(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 80, 600), "wait_us": log_uniform(rng, 2000, 20_000)}
    half = drawn["cpu_us"] / 2
    return one_class(cpu_step(half), reported_step(drawn["wait_us"]), cpu_step(half)), drawn


def _latch_single(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 50, 500)} | draw_latch(rng)
    return one_class(cpu_step(drawn["cpu_us"]), *latched(drawn)), drawn


def _silent_then_latch(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 50, 300), "wait_us": log_uniform(rng, 800, 8000)} | draw_latch(rng)
    return one_class(cpu_step(drawn["cpu_us"]), silent_step(drawn["wait_us"]), *latched(drawn)), drawn


def _reported_then_latch(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 50, 300), "wait_us": log_uniform(rng, 800, 8000)} | draw_latch(rng)
    return one_class(cpu_step(drawn["cpu_us"]), reported_step(drawn["wait_us"]), *latched(drawn)), drawn


def _cpu_with_think(rng: np.random.Generator, population: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 300, 2000), "utilisation": rng.uniform(0.3, 0.95)}
    think_ms = population.think_ms(drawn["cpu_us"], drawn["utilisation"])
    target_ms = max(20.0, 15 * drawn["cpu_us"] / 1000)
    return one_class(cpu_step(drawn["cpu_us"]), think_ms=think_ms, target_ms=target_ms), drawn


def _silent_beside_cpu(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 200, 2000),
        "wait_us": log_uniform(rng, 2000, 15_000),
        "share": rng.uniform(0.2, 0.7),
    }
    classes = (
        RequestClass("compute", (cpu_step(drawn["cpu_us"]),), share=1.0 - drawn["share"]),
        RequestClass("waiting", (cpu_step(100), silent_step(drawn["wait_us"])), share=drawn["share"], weight=4.0),
    )
    return classes, drawn


def _latch_beside_cpu(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 200, 2000), "share": rng.uniform(0.3, 0.8)} | draw_latch(rng)
    classes = (
        RequestClass("compute", (cpu_step(drawn["cpu_us"]),), share=1.0 - drawn["share"]),
        RequestClass("locking", (cpu_step(50), *latched(drawn)), share=drawn["share"]),
    )
    return classes, drawn


def _mixture_steps(rng: np.random.Generator) -> tuple[Step, ...]:
    """A random program; what the held-out families are made of (two latches, two silent waits) never comes up."""
    waits = [(), (silent_step(log_uniform(rng, 500, 12_000)),), (reported_step(log_uniform(rng, 500, 12_000)),)]
    latch = draw_latch(rng)
    latches = [latched(latch, number) for number in range(int(rng.choice([0, 0, 1, 3])))]
    blocks = [waits[int(rng.integers(len(waits)))], *latches]
    order = rng.permutation(len(blocks))
    steps = [cpu_step(log_uniform(rng, 50, 1500), rng.uniform(0, 1))]
    for place in order:
        steps.extend((*blocks[int(place)], cpu_step(log_uniform(rng, 20, 200))))
    return tuple(steps)


def _mixture(rng: np.random.Generator, classes: int) -> Classes:
    programs = [_mixture_steps(rng) for _ in range(classes)]
    cheapest_us = min(map(cpu_us_of, programs))
    drawn: dict[str, float] = {"classes": float(classes)}
    made = []
    for number, steps in enumerate(programs):
        cpu_us = cpu_us_of(steps)
        drawn[f"cpu_us_{number}"] = cpu_us
        weight = max(1.0, 0.5 * cpu_us / cheapest_us)
        made.append(RequestClass(f"class{number}", steps, share=rng.uniform(0.2, 1.0), weight=weight))
    return tuple(made), drawn


def _mixture_of_one(rng: np.random.Generator, _: Scale) -> Classes:
    return _mixture(rng, 1)


def _mixture_of_classes(rng: np.random.Generator, _: Scale) -> Classes:
    return _mixture(rng, int(rng.integers(2, 4)))


def _silent_and_reported(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 100, 500),
        "silent_us": log_uniform(rng, 1000, 10_000),
        "reported_us": log_uniform(rng, 1000, 10_000),
    }
    half = drawn["cpu_us"] / 2
    return one_class(
        cpu_step(half), silent_step(drawn["silent_us"]), cpu_step(half), reported_step(drawn["reported_us"])
    ), drawn


def _two_latches(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 50, 400)} | draw_latch(rng)
    return one_class(cpu_step(drawn["cpu_us"]), *latched(drawn, 0), cpu_step(80), *latched(drawn, 1)), drawn


def _short_beside_silent_long(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "short_us": log_uniform(rng, 150, 600),
        "long_us": log_uniform(rng, 8000, 30_000),
        "share": rng.uniform(0.1, 0.4),
        "target_ms": log_uniform(rng, 20, 80),
    }
    half = drawn["long_us"] / 2
    return short_and_long((cpu_step(drawn["short_us"]),), (cpu_step(half), silent_step(half)), **drawn), drawn


def _reports(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "short_us": log_uniform(rng, 150, 500),
        "middle_us": log_uniform(rng, 2000, 5000),
        "long_us": log_uniform(rng, 15_000, 60_000),
        "share": rng.uniform(0.1, 0.3),
        "target_ms": log_uniform(rng, 25, 80),
    }
    short_us, share = drawn["short_us"], drawn["share"]
    classes = (
        RequestClass("short", (cpu_step(short_us, 0.8),), share=1.0 - 2 * share, target_ms=drawn["target_ms"]),
        RequestClass(
            "middle", (cpu_step(drawn["middle_us"]),), share=share, weight=0.5 * drawn["middle_us"] / short_us
        ),
        RequestClass("long", (cpu_step(drawn["long_us"]),), share=share, weight=0.5 * drawn["long_us"] / short_us),
    )
    return classes, drawn


def _page_faults(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 100, 500),
        "wait_us": log_uniform(rng, 800, 6000),
        "rounds": float(rng.integers(2, 5)),
    }
    rounds = int(drawn["rounds"])
    steps = (cpu_step(drawn["cpu_us"] / rounds), silent_step(drawn["wait_us"], 0.8)) * rounds
    return one_class(*steps), drawn


def _hot_counter(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 50, 300), "share": rng.uniform(0.6, 0.9)} | draw_latch(rng)
    half = drawn["cpu_us"] / 2
    classes = (
        RequestClass("counting", (cpu_step(half), *latched(drawn, 0), cpu_step(half), *latched(drawn, 1)),
                     share=drawn["share"]),
        RequestClass("reading", (cpu_step(400),), share=1.0 - drawn["share"], weight=0.5),
    )  # fmt: skip
    return classes, drawn


def _commit_path(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 100, 500), "wait_us": log_uniform(rng, 1000, 6000)} | draw_latch(rng)
    steps = (
        cpu_step(drawn["cpu_us"]),
        silent_step(drawn["wait_us"]),
        *latched(drawn, 0, spread=2),
        reported_step(1000),
    )
    return one_class(*steps), drawn


FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("cpu_single", "train", "cpu", "one class of CPU", _cpu_single),
        Family("short_beside_long", "train", "cpu", "short CPU beside long CPU", _short_beside_long),
        Family("silent_single", "train", "silent", "CPU and an unreported wait", _silent_single),
        Family("reported_single", "train", "other", "CPU and a reported wait", _reported_single),
        Family("latch_single", "train", "latch", "CPU and one hot latch", _latch_single),
        Family("silent_then_latch", "train", "silent", "a silent wait, then a hot latch", _silent_then_latch),
        Family("reported_then_latch", "train", "latch", "a reported wait, then a hot latch", _reported_then_latch),
        Family("cpu_with_think", "train", "other", "CPU with pauses of the clients", _cpu_with_think),
        Family("silent_beside_cpu", "train", "silent", "a silent class beside a CPU class", _silent_beside_cpu),
        Family("latch_beside_cpu", "train", "latch", "a locking class beside a CPU class", _latch_beside_cpu),
        Family("mixture_of_one", "train", "other", "one random program", _mixture_of_one),
        Family("mixture_of_classes", "train", "other", "two or three random programs", _mixture_of_classes),
        Family("silent_and_reported", "validation", "silent", "both kinds of wait", _silent_and_reported),
        Family("two_latches", "validation", "latch", "two latches in a row", _two_latches),
        Family("short_beside_silent_long", "validation", "cpu", "short CPU beside long waiting",
               _short_beside_silent_long),
        Family("reports", "validation", "cpu", "short, middle and long CPU classes", _reports),
        Family("page_faults", "validation", "silent", "several silent waits of wide spread", _page_faults),
        Family("hot_counter", "validation", "latch", "two latches, and a class that takes none", _hot_counter),
        Family("commit_path", "validation", "other", "silent wait, one of two latches, reported wait", _commit_path),
        *SEALED_FAMILIES.values(),
    )
}  # fmt: skip
"""All families of the embedded pool, by name.

`reports`, `page_faults`, `hot_counter` and `commit_path` were the test families of the shipped records. Three models
were evaluated on them and their results looked into, so they are validation families since; records keep the split
that they were measured for.
"""


def draw_workload(family: Family, seed: int, number: int = 0, cpus: int | None = None) -> Workload:
    """Draws one workload of a family; the same arguments give the same workload.

    Args:
        family: The family.
        seed: Seed of the set.
        number: Which workload of the set.
        cpus: Processors of the server, which more connections ask where there are more than two; one and two in turns
            if not given.
    """
    key = sum(ord(letter) << (8 * (place % 4)) for place, letter in enumerate(family.name))
    rng = np.random.default_rng([seed, number, key])
    connections, wanted = int(rng.choice(CONNECTIONS)), cpus or CPUS[number % len(CPUS)]
    population = Scale(connections * max(wanted // 2, 1), wanted)
    classes, parameters = family.draw(rng, population)
    return Workload(
        name=f"{family.name}-{seed}-{number}{'' if cpus is None else f'-{cpus}cpus'}",
        family=family.name,
        classes=classes,
        connections=population.connections,
        cpus=population.cpus,
        seed=int(rng.integers(2**31)),
        parameters=parameters,
    )


def workload_set(seed: int, counts: Mapping[Split, int], cpus: int | None = None) -> list[PlannedWorkload]:
    """Draws the workloads of every split, dealt evenly to its families.

    Args:
        seed: Seed of the whole set.
        counts: Workloads wanted per split.
        cpus: Processors of the server; see `draw_workload`.
    """
    planned: list[PlannedWorkload] = []
    for split, count in counts.items():
        families = [family for family in FAMILIES.values() if family.split == split]
        for index in range(count):
            family = families[index % len(families)]
            planned.append(PlannedWorkload(split, draw_workload(family, seed, index // len(families), cpus)))
    return planned
