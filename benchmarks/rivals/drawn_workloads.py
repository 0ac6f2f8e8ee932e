"""Workload files of compositions that no curve that ships is of, for `poolpilot evaluate --workloads`.

A workload is one or two classes whose steps are drawn one by one: processor time, waits that the pool is told of or
not, sections under one of two latches, pauses of the clients. The curves of composed workloads leave out one
composition in three, and these are of that third; where another family's curves have a composition all the same, the
workload is left out. The same seed and curves write the same files. Its composition is the family of a workload, by
which intervals are clustered.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.env.workloads.composed import is_held_out
from poolpilot.env.workloads.composition import composition
from poolpilot.env.workloads.ingredients import log_uniform
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.workload import Workload

CPUS = (1, 2, 3, 6, 12, 24, 48, 96)
"""Processors, in turn."""

LATENCY_FACTOR = 12.0
"""A class's target is so many times what a request takes alone."""


def write_drawn(
    folder: Path, seed: int, *, server: str = "simulated", number: int = 20, cpus: Sequence[int] | None = None
) -> None:
    """Draws workloads and writes one file each; those of a composition that a curve knows are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    known = {curve.composition for curve in load_curves().curves}
    for place in range(number):
        processors = (cpus or CPUS)[place % len(cpus or CPUS)]
        workload = drawn(np.random.default_rng([seed, place]), processors, place)
        if composition_of(workload) in known:
            continue
        of_family = {"family": composition_of(workload), **workload}
        text = json.dumps({"server": server, "workload": of_family}, indent=1)
        (folder / f"drawn_{seed}_{place:02d}_{processors}cpus.json").write_text(text + "\n")


def drawn(rng: np.random.Generator, cpus: int, number: int) -> dict[str, Any]:
    """One workload whose composition is held out."""
    while True:
        workload = drawn_of_any(rng, cpus, number)
        if is_held_out(composition_of(workload)):
            return workload


def composition_of(workload: dict[str, Any]) -> str:
    """What a drawn workload is composed of."""
    made = Workload.from_dict({"name": "drawn", "family": "drawn", **workload})
    return composition(made.classes)


def drawn_of_any(rng: np.random.Generator, cpus: int, number: int) -> dict[str, Any]:
    """One workload of any composition."""
    count = int(rng.integers(1, 3))
    shares = rng.dirichlet(np.full(count, 3.0))
    classes = [drawn_class(rng, f"class_{place}", float(share)) for place, share in enumerate(shares)]
    connections = int(np.clip(round(cpus * log_uniform(rng, 8, 64)), 16, 2048))
    return {"classes": classes, "connections": connections, "cpus": cpus, "seed": number}


def drawn_class(rng: np.random.Generator, name: str, share: float) -> dict[str, Any]:
    """A class of two to four steps, with a target that it would meet alone."""
    steps: list[dict[str, Any]] = []
    for _ in range(int(rng.integers(2, 5))):
        steps += drawn_step(rng)
    alone_ms = sum(step.get("us", 0.0) for step in steps) / 1000.0
    think_ms = float(rng.choice([0.0, 0.0, log_uniform(rng, 1, 30)]))
    return {
        "name": name,
        "steps": steps,
        "share": round(share, 3),
        "think_ms": round(think_ms, 2),
        "target_ms": round(max(LATENCY_FACTOR * alone_ms, 5.0), 1),
    }


def drawn_step(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Processor time, a wait, or a section under a latch."""
    kind = rng.choice(["cpu", "silent", "told", "latch"], p=[0.4, 0.25, 0.15, 0.2])
    if kind == "cpu":
        return [{"op": "cpu", "us": round(log_uniform(rng, 50, 2000), 1), "variation": 0.5}]
    if kind in ("silent", "told"):
        us = round(log_uniform(rng, 300, 10_000), 1)
        return [{"op": "wait", "us": us, "variation": 0.4, "kind": "disk_io", "reported": bool(kind == "told")}]
    latch = int(rng.integers(2))
    spin_us, waiter_cost_us = int(log_uniform(rng, 100, 1500)), round(log_uniform(rng, 5, 60), 1)
    return [
        {"op": "acquire", "latch": latch, "spin_us": spin_us, "waiter_cost_us": waiter_cost_us},
        {"op": "cpu", "us": round(log_uniform(rng, 50, 300), 1), "variation": 0.2},
        {"op": "release", "latch": latch},
    ]
