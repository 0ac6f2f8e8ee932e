"""Families of transactions that get in each other's way: where a limit on those inside is worth having.

The pool is told of every wait here, so it starts a thread for whoever comes, and no pool size keeps them out. They are
apart from `families.FAMILIES`: what models learn and are evaluated by stays as it is.
"""

from collections.abc import Mapping

import numpy as np

from poolpilot.env.workloads.family import Classes, Family, Scale
from poolpilot.env.workloads.ingredients import cpu_step, log_uniform
from poolpilot.native_pool.workload import RequestClass, Step, Workload

CONNECTIONS = 512
"""Far more than may be inside."""

CPUS = 4


def _contended(drawn: Mapping[str, float], spread: int = 1) -> Step:
    """The latch or row that all of them want; its holder walks the list of those who wait for it."""
    return Step("acquire", spread=spread, waiter_cost_us=drawn["waiter_cost_us"], reported=True)


def _round_trip(us: float) -> Step:
    return Step("wait", us=us, variation=0.5, kind="net", reported=True)


def _latch_convoy(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 40, 120),
        "wait_us": log_uniform(rng, 400, 1200),
        "hold_us": log_uniform(rng, 60, 150),
        "waiter_cost_us": log_uniform(rng, 1.0, 3.0),
    }
    steps = (
        Step("begin"),
        cpu_step(drawn["cpu_us"]),
        Step("wait", us=drawn["wait_us"], variation=0.5, kind="disk_io", reported=True),
        _contended(drawn),
        cpu_step(drawn["hold_us"], 0.2),
        Step("release"),
        cpu_step(drawn["cpu_us"]),
        Step("commit"),
    )
    return (RequestClass("convoy", steps),), drawn


def _hot_rows(rng: np.random.Generator, _: Scale) -> Classes:
    drawn = {
        "cpu_us": log_uniform(rng, 40, 120),
        "rows": float(rng.integers(1, 5)),
        "round_trip_us": log_uniform(rng, 200, 600),
        "waiter_cost_us": log_uniform(rng, 2.0, 4.0),
    }
    steps = (
        Step("begin"),
        cpu_step(drawn["cpu_us"]),
        _contended(drawn, int(drawn["rows"])),
        _round_trip(drawn["round_trip_us"]),
        cpu_step(drawn["cpu_us"]),
        Step("commit"),
    )
    return (RequestClass("rows", steps),), drawn


ADMISSION_FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("latch_convoy", "test", "latch", "a wait, then one latch whose holder pays for every waiter",
               _latch_convoy),
        Family("hot_rows", "test", "latch", "one of a few rows, held over a round trip until the commit", _hot_rows),
    )
}  # fmt: skip


def draw_transactions(family: Family, seed: int, connections: int = CONNECTIONS) -> Workload:
    """Draws one workload of a family; the same arguments give the same workload."""
    rng = np.random.default_rng([seed, *family.name.encode()])
    classes, parameters = family.draw(rng, Scale(connections, CPUS))
    return Workload(
        name=f"{family.name}-{seed}",
        family=family.name,
        classes=classes,
        connections=connections,
        cpus=CPUS,
        seed=int(rng.integers(2**31)),
        parameters=parameters,
    )
