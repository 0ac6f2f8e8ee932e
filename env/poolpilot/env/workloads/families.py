"""Workload families: how the workloads of staging are drawn, and which families are held out.

A family is a composition of ingredients (CPU, silent waits, reported waits, latches, think time). Validation
and test families combine ingredients in ways no training family does, so that a score on them says something
about workloads nobody has seen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol

import numpy as np
from typing_extensions import TypeVar

from poolpilot.native_pool.workload import RequestClass, Step, Workload

Split = Literal["train", "validation", "test"]
Classes = tuple[tuple[RequestClass, ...], dict[str, float]]
Draw = Callable[[np.random.Generator, "Scale"], Classes]

CONNECTIONS = (16, 24, 32, 48, 64, 96, 128)
CPUS = (1, 2)


@dataclass(frozen=True, slots=True)
class Scale:
    """Who sends and who serves: what a family needs to place its load between idle and saturated."""

    connections: int
    cpus: int


@dataclass(frozen=True, slots=True)
class Family:
    """A named distribution of workloads.

    Attributes:
        name: Name in records and tables.
        split: The split all its workloads belong to.
        nature: What bounds it, for the choice of the demonstration: CPU, silent waits, latches or other.
        description: One sentence for people.
        draw: Draws the classes and the parameters to record.
    """

    name: str
    split: Split
    nature: Literal["cpu", "silent", "latch", "other"]
    description: str
    draw: Draw


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


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draws from `low`..`high`, uniform in the logarithm."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def cpu_step(us: float, variation: float = 0.5) -> Step:
    """A step of CPU time."""
    return Step("cpu", us=us, variation=variation)


def _silent(us: float, variation: float = 0.3) -> Step:
    return Step("wait", us=us, variation=variation)


def _reported(us: float, variation: float = 0.3) -> Step:
    return Step("wait", us=us, variation=variation, kind="disk_io", reported=True)


def _latched(us: float, spin_us: float, waiter_cost_us: float, latch: int = 0, spread: int = 1) -> tuple[Step, ...]:
    acquire = Step("acquire", latch=latch, spread=spread, spin_us=int(spin_us), waiter_cost_us=waiter_cost_us)
    return (acquire, cpu_step(us, 0.2), Step("release", latch=latch, spread=spread))


def _draw_latch(rng: np.random.Generator) -> dict[str, float]:
    return {
        "hold_us": log_uniform(rng, 80, 400),
        "spin_us": log_uniform(rng, 100, 1500),
        "waiter_cost_us": log_uniform(rng, 5, 60),
    }


def _latched_by(latch: Mapping[str, float], number: int = 0, spread: int = 1) -> tuple[Step, ...]:
    return _latched(latch["hold_us"], latch["spin_us"], latch["waiter_cost_us"], number, spread)


def _one(*steps: Step, think_ms: float = 0.0, target_ms: float | None = None) -> tuple[RequestClass, ...]:
    return (RequestClass("all", steps, think_ms=think_ms, target_ms=target_ms),)


def _short_and_long(
    short: tuple[Step, ...], long: tuple[Step, ...], *, short_us: float, long_us: float, share: float, target_ms: float
) -> tuple[RequestClass, ...]:
    # A long completion is worth half the CPU it takes, in short ones: else the corner that starves it wins.
    return (
        RequestClass("short", short, share=1.0 - share, target_ms=target_ms),
        RequestClass("long", long, share=share, weight=0.5 * long_us / short_us),
    )


def _cpu_single(rng: np.random.Generator, _: Scale) -> Classes:
    cpu_us = log_uniform(rng, 300, 4000)
    return _one(cpu_step(cpu_us, rng.uniform(0, 1))), {"cpu_us": cpu_us}


def _short_beside_long(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "short_us": log_uniform(rng, 150, 600),
        "long_us": log_uniform(rng, 10_000, 50_000),
        "share": rng.uniform(0.1, 0.35),
        "target_ms": log_uniform(rng, 20, 80),
    }
    return _short_and_long((cpu_step(drawn["short_us"]),), (cpu_step(drawn["long_us"]),), **drawn), drawn


def _silent_single(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 80, 600), "wait_us": log_uniform(rng, 2000, 20_000)}
    return _one(cpu_step(drawn["cpu_us"]), _silent(drawn["wait_us"])), drawn


def _reported_single(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 80, 600), "wait_us": log_uniform(rng, 2000, 20_000)}
    half = drawn["cpu_us"] / 2
    return _one(cpu_step(half), _reported(drawn["wait_us"]), cpu_step(half)), drawn


def _latch_single(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 50, 500)} | _draw_latch(rng)
    return _one(cpu_step(drawn["cpu_us"]), *_latched_by(drawn)), drawn


def _silent_then_latch(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 50, 300), "wait_us": log_uniform(rng, 800, 8000)} | _draw_latch(rng)
    return _one(cpu_step(drawn["cpu_us"]), _silent(drawn["wait_us"]), *_latched_by(drawn)), drawn


def _reported_then_latch(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 50, 300), "wait_us": log_uniform(rng, 800, 8000)} | _draw_latch(rng)
    return _one(cpu_step(drawn["cpu_us"]), _reported(drawn["wait_us"]), *_latched_by(drawn)), drawn


def _cpu_with_think(rng: np.random.Generator, population: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 300, 2000), "utilisation": rng.uniform(0.3, 0.95)}
    busy_ms = drawn["cpu_us"] / 1000
    # Closed loop: connections / think time is the rate, rate * CPU time / CPUs the utilisation.
    think_ms = population.connections * busy_ms / (population.cpus * drawn["utilisation"])
    return _one(cpu_step(drawn["cpu_us"]), think_ms=think_ms, target_ms=max(20.0, 15 * busy_ms)), drawn


def _silent_beside_cpu(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 200, 2000),
        "wait_us": log_uniform(rng, 2000, 15_000),
        "share": rng.uniform(0.2, 0.7),
    }
    classes = (
        RequestClass("compute", (cpu_step(drawn["cpu_us"]),), share=1.0 - drawn["share"]),
        RequestClass("waiting", (cpu_step(100), _silent(drawn["wait_us"])), share=drawn["share"], weight=4.0),
    )
    return classes, drawn


def _latch_beside_cpu(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 200, 2000), "share": rng.uniform(0.3, 0.8)} | _draw_latch(rng)
    classes = (
        RequestClass("compute", (cpu_step(drawn["cpu_us"]),), share=1.0 - drawn["share"]),
        RequestClass("locking", (cpu_step(50), *_latched_by(drawn)), share=drawn["share"]),
    )
    return classes, drawn


def _mixture_steps(rng: np.random.Generator) -> tuple[Step, ...]:
    """A random program; what the held-out families are made of (two latches, two silent waits) never comes up."""
    waits = [(), (_silent(log_uniform(rng, 500, 12_000)),), (_reported(log_uniform(rng, 500, 12_000)),)]
    latch = _draw_latch(rng)
    latches = [_latched_by(latch, number) for number in range(int(rng.choice([0, 0, 1, 3])))]
    blocks = [waits[int(rng.integers(len(waits)))], *latches]
    order = rng.permutation(len(blocks))
    steps = [cpu_step(log_uniform(rng, 50, 1500), rng.uniform(0, 1))]
    for place in order:
        steps.extend((*blocks[int(place)], cpu_step(log_uniform(rng, 20, 200))))
    return tuple(steps)


def _cpu_us_of(steps: tuple[Step, ...]) -> float:
    return sum(step.us for step in steps if step.op == "cpu")


def _mixture(rng: np.random.Generator, classes: int) -> Classes:
    programs = [_mixture_steps(rng) for _ in range(classes)]
    cheapest_us = min(map(_cpu_us_of, programs))
    drawn: dict[str, float] = {"classes": float(classes)}
    made = []
    for number, steps in enumerate(programs):
        cpu_us = _cpu_us_of(steps)
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
    return _one(cpu_step(half), _silent(drawn["silent_us"]), cpu_step(half), _reported(drawn["reported_us"])), drawn


def _two_latches(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 50, 400)} | _draw_latch(rng)
    return _one(cpu_step(drawn["cpu_us"]), *_latched_by(drawn, 0), cpu_step(80), *_latched_by(drawn, 1)), drawn


def _short_beside_silent_long(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "short_us": log_uniform(rng, 150, 600),
        "long_us": log_uniform(rng, 8000, 30_000),
        "share": rng.uniform(0.1, 0.4),
        "target_ms": log_uniform(rng, 20, 80),
    }
    half = drawn["long_us"] / 2
    return _short_and_long((cpu_step(drawn["short_us"]),), (cpu_step(half), _silent(half)), **drawn), drawn


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
    steps = (cpu_step(drawn["cpu_us"] / rounds), _silent(drawn["wait_us"], 0.8)) * rounds
    return _one(*steps), drawn


def _hot_counter(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 50, 300), "share": rng.uniform(0.6, 0.9)} | _draw_latch(rng)
    half = drawn["cpu_us"] / 2
    classes = (
        RequestClass("counting", (cpu_step(half), *_latched_by(drawn, 0), cpu_step(half), *_latched_by(drawn, 1)),
                     share=drawn["share"]),
        RequestClass("reading", (cpu_step(400),), share=1.0 - drawn["share"], weight=0.5),
    )  # fmt: skip
    return classes, drawn


def _commit_path(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {"cpu_us": log_uniform(rng, 100, 500), "wait_us": log_uniform(rng, 1000, 6000)} | _draw_latch(rng)
    steps = (cpu_step(drawn["cpu_us"]), _silent(drawn["wait_us"]), *_latched_by(drawn, 0, spread=2), _reported(1000))
    return _one(*steps), drawn


FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("cpu_single", "train", "cpu", "one class of CPU", _cpu_single),
        Family("short_beside_long", "train", "cpu", "short CPU beside long CPU", _short_beside_long),
        Family("silent_single", "train", "silent", "CPU and a wait the pool is not told of", _silent_single),
        Family("reported_single", "train", "other", "CPU and a wait the pool is told of", _reported_single),
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
        Family("reports", "test", "cpu", "short, middle and long CPU classes", _reports),
        Family("page_faults", "test", "silent", "several silent waits of wide spread", _page_faults),
        Family("hot_counter", "test", "latch", "two latches, and a class that takes none", _hot_counter),
        Family("commit_path", "test", "other", "silent wait, one of two latches, reported wait", _commit_path),
    )
}  # fmt: skip


def draw_workload(family: Family, seed: int, number: int = 0) -> Workload:
    """Draws one workload of a family; the same arguments give the same workload.

    Args:
        family: The family.
        seed: Seed of the set.
        number: Which workload of the set; CPUs alternate with it.
    """
    key = sum(ord(letter) << (8 * (place % 4)) for place, letter in enumerate(family.name))
    rng = np.random.default_rng([seed, number, key])
    population = Scale(int(rng.choice(CONNECTIONS)), CPUS[number % len(CPUS)])
    classes, parameters = family.draw(rng, population)
    return Workload(
        name=f"{family.name}-{seed}-{number}",
        family=family.name,
        classes=classes,
        connections=population.connections,
        cpus=population.cpus,
        seed=int(rng.integers(2**31)),
        parameters=parameters,
    )


def workload_set(seed: int, counts: Mapping[Split, int]) -> list[PlannedWorkload]:
    """Draws the workloads of every split, dealt evenly to its families.

    Args:
        seed: Seed of the whole set.
        counts: Workloads wanted per split.
    """
    planned: list[PlannedWorkload] = []
    for split, count in counts.items():
        families = [family for family in FAMILIES.values() if family.split == split]
        for index in range(count):
            family = families[index % len(families)]
            planned.append(PlannedWorkload(split, draw_workload(family, seed, index // len(families))))
    return planned
