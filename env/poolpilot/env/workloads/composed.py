"""Workloads composed step by step at random: what no family of ours was made for.

One composition in `HELD_OUT_ONE_IN`, chosen by its text, is held out for evaluation, and so is every composition of a
held-out family of the embedded pool (`composition.py` says what a composition is). Half of those chosen by their text
are to choose models by, so that what is told of a model rests on the others.
"""

import hashlib
from functools import cache

import numpy as np

from poolpilot.env.workloads.composition import composition
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.env.workloads.ingredients import cpu_step, log_uniform
from poolpilot.env.workloads.light_load import PAUSE_MS, pausing
from poolpilot.native_pool.workload import RequestClass, Step

HELD_OUT_ONE_IN = 3
"""One composition in so many is held out."""

DRAWS = 30
"""Workloads of a family that are looked at for its compositions."""

LATCHES = 2
"""Different latches of a workload at most."""


def draw_composed(rng: np.random.Generator, *, held_out: bool = False) -> tuple[RequestClass, ...]:
    """Draws one to three classes whose composition is, or is not, among those held out."""
    while True:
        classes = _drawn(rng)
        if is_held_out(composition(classes)) == held_out:
            return classes


def draw_to_choose_by(rng: np.random.Generator) -> tuple[RequestClass, ...]:
    """Draws one to three classes whose composition is held out and may choose a model."""
    while True:
        classes = draw_composed(rng, held_out=True)
        if chooses(composition(classes)):
            return classes


def draw_pausing(rng: np.random.Generator, *, to_choose_by: bool = False) -> tuple[RequestClass, ...]:
    """Draws one to three classes whose clients all pause.

    A pause does not make another workload of what is held out: nothing is learned from such classes unless their
    composition is not held out with its pauses, and not without either.

    Args:
        rng: Source of the draws.
        to_choose_by: Draws what is held out both ways and may choose a model, instead of what is learned from.
    """
    while True:
        classes = pausing(_drawn(rng), PAUSE_MS[0])
        bare, text = composition(pausing(classes, 0.0)), composition(classes)
        held_out = is_held_out(bare), is_held_out(text)
        if (all(held_out) and chooses(bare)) if to_choose_by else not any(held_out):
            return classes


def is_held_out(text: str) -> bool:
    """Whether nothing may be learned from workloads of a composition."""
    return text in _of_held_out_families() or _number(text) % HELD_OUT_ONE_IN == 0


def chooses(text: str) -> bool:
    """Whether a composition that is held out may choose between models; none of a held-out family may."""
    return text not in _of_held_out_families() and _number(text) % (2 * HELD_OUT_ONE_IN) == 0


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


@cache
def _of_held_out_families() -> frozenset[str]:
    held_out = [family for family in FAMILIES.values() if family.split != "train"]
    return frozenset(
        composition(draw_workload(family, 0, number).classes) for family in held_out for number in range(DRAWS)
    )


def _drawn(rng: np.random.Generator) -> tuple[RequestClass, ...]:
    programs = [_program(rng) for _ in range(int(rng.choice([1, 2, 3], p=[0.45, 0.4, 0.15])))]
    alone_ms = [max(sum(step.us for step in steps) / 1e3, 0.01) for steps in programs]
    shares = rng.dirichlet(np.full(len(programs), 3.0))
    weighted = rng.random() < 0.5
    return tuple(
        RequestClass(
            f"class_{place}",
            steps,
            share=float(shares[place]),
            # A long completion is worth a part of its time, in short ones: else the corner that starves it wins.
            weight=max(alone / min(alone_ms), 1.0) * rng.uniform(0.3, 1.0) if weighted and len(programs) > 1 else 1.0,
            think_ms=log_uniform(rng, 1, 50) if rng.random() < 1 / 3 else 0.0,
            target_ms=max(alone * log_uniform(rng, 5, 40), 5.0) if rng.random() < 0.5 else None,
        )
        for place, (steps, alone) in enumerate(zip(programs, alone_ms, strict=True))
    )


def _program(rng: np.random.Generator) -> tuple[Step, ...]:
    return tuple(step for _ in range(int(rng.integers(1, 5))) for step in _part(rng))


def _part(rng: np.random.Generator) -> tuple[Step, ...]:
    """Processor time, a wait that the pool is told of or not, or a section under a latch."""
    kind = rng.choice(["cpu", "silent", "told", "latch"], p=[0.4, 0.25, 0.15, 0.2])
    if kind == "cpu":
        return (cpu_step(log_uniform(rng, 30, 5000), rng.uniform(0.0, 1.2)),)
    if kind != "latch":
        us, variation = log_uniform(rng, 200, 20_000), rng.uniform(0.0, 1.0)
        return (Step("wait", us=us, variation=variation, kind="disk_io", reported=bool(kind == "told")),)
    latch, spin_us = int(rng.integers(LATCHES)), int(log_uniform(rng, 20, 1500))
    acquire = Step("acquire", latch=latch, spin_us=spin_us, waiter_cost_us=log_uniform(rng, 0.5, 60))
    return (acquire, cpu_step(log_uniform(rng, 10, 300), 0.2), Step("release", latch=latch))
