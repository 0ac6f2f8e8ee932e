"""The workloads of the demonstration: one CPU-heavy, one of silent waits, one of contended latches."""

from poolpilot.env.families import FAMILIES, Family, draw_workload
from poolpilot.native_pool.workload import Workload

NATURES = ("cpu", "silent", "latch")

SEED_OFFSET = 1_000_000
"""Keeps the seeds of the demonstration apart from those of the sealed test workloads."""


def demo_families() -> list[Family]:
    """The held-out family of each nature."""
    return [
        next(family for family in FAMILIES.values() if family.split == "test" and family.nature == nature)
        for nature in NATURES
    ]


def demo_workloads(seed: int) -> list[Workload]:
    """Draws the workloads; the same seed gives the same ones."""
    return [draw_workload(family, SEED_OFFSET + seed, seed + place) for place, family in enumerate(demo_families())]
