"""How the open families of the suite are drawn."""

from dataclasses import replace

import numpy as np

from poolpilot.env.workloads.ingredients import log_uniform
from poolpilot.lab.sql_family import LONG_SHARE, Draw, drawn_connections
from poolpilot.lab.sql_workload import Script, SqlClass

POINTS = SqlClass("points", "oltp_point_select", 1, target_ms=20.0)
SHIFT_S = 12.0
"""Seconds of a shift's cycle; each of its three loads has a third of it."""


def alone(script: Script, target_ms: float, *connections: int, think_ms: float = 0.0) -> Draw:
    """One class in a closed loop."""

    def draw(rng: np.random.Generator) -> tuple[SqlClass, ...]:
        name, number = script.removeprefix("oltp_"), drawn_connections(rng, *connections)
        pause_ms = round(think_ms * float(rng.uniform(0.8, 1.25)), 1)
        return (SqlClass(name, script, number, target_ms=target_ms, think_ms=pause_ms),)

    return draw


def few_readers(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    """Eight connections that read from memory, one script or another."""
    scripts: tuple[Script, ...] = ("oltp_point_select", "ranges", "oltp_read_only")
    script = scripts[int(rng.integers(len(scripts)))]
    return (SqlClass("reads", script, 8, target_ms=30.0),)


def beside_scans(think_ms: float) -> Draw:
    """Point selects beside scans that saturate both processors."""

    def draw(rng: np.random.Generator) -> tuple[SqlClass, ...]:
        pause_ms = round(think_ms * float(rng.uniform(0.7, 1.4)), 1)
        points = replace(POINTS, connections=drawn_connections(rng, 56, 88, 120), think_ms=pause_ms)
        return (points, scans(rng))

    return draw


def scans(rng: np.random.Generator) -> SqlClass:
    """A few scans of 100 ms or more each."""
    options: dict[str, float | str] = {"query": "scan", "rows": round(log_uniform(rng, 5e4, 1e5)), "passes": 4}
    return SqlClass("scans", "analytic", int(rng.integers(4, 9)), min_share=LONG_SHARE, options=options)


def mixed_beside_analytics(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    """Reads and updates beside analytic queries."""
    options: dict[str, float | str] = {"query": "group", "rows": round(log_uniform(rng, 5e4, 1e5)), "passes": 2}
    return (
        SqlClass("reads", "oltp_point_select", drawn_connections(rng, 32, 64), target_ms=20.0, think_ms=2.0),
        SqlClass("updates", "oltp_update_index", 32, target_ms=60.0, weight=2.0, think_ms=4.0),
        SqlClass("analytics", "analytic", int(rng.integers(4, 9)), min_share=LONG_SHARE, options=options),
    )


def hot_rows_256(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    """Two updates of about twenty rows on 256 connections."""
    options: dict[str, float | str] = {"rows": int(rng.integers(15, 26)), "updates": 2}
    return (SqlClass("hot", "hot_rows", 256, target_ms=200.0, options=options),)


def orders(warehouses: int) -> Draw:
    """All five transactions of order entry on so many warehouses."""

    def draw(rng: np.random.Generator) -> tuple[SqlClass, ...]:
        connections = drawn_connections(rng, 64, 96, 128)
        options: dict[str, float | str] = {"warehouses": warehouses}
        return (SqlClass("orders", "tpcc", connections, target_ms=40.0 + 2.0 * connections, options=options),)

    return draw


def sleeps_and_locks(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    """Sleeping requests beside requests that want one of a few user locks."""
    sleep_ms = round(log_uniform(rng, 5.0, 20.0), 1)
    hold_ms = round(float(rng.uniform(1.0, 3.0)), 2)
    locks: dict[str, float | str] = {"locks": int(rng.integers(6, 13)), "hold_ms": hold_ms}
    return (
        SqlClass("sleeps", "waiting", 48, target_ms=10.0 * sleep_ms, options={"sleep_ms": sleep_ms}),
        SqlClass("locks", "user_lock", drawn_connections(rng, 32, 48), target_ms=100.0, options=locks),
    )


def half_loaded(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    """Transactions at half of what the server completes."""
    share = round(float(rng.uniform(0.45, 0.55)), 3)
    return (SqlClass("orders", "oltp_read_write", 64, target_ms=50.0, capacity_share=share),)


def bursts(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    """Reads at 40 % of the capacity, and at 150 % in bursts; half of the connections send the surplus."""
    surge = SqlClass(
        "surge",
        "ranges",
        64,
        target_ms=20.0,
        capacity_share=1.1,
        burst_period_s=round(float(rng.uniform(0.8, 1.2)), 2),
        burst_share=0.3,
    )
    return (SqlClass("steady", "ranges", 64, target_ms=20.0, capacity_share=0.4), surge)


def shift(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    """Point selects beside scans, then hot rows, then single updates, a third of the time each."""
    long = scans(rng)
    hot = SqlClass("hot", "hot_rows", 128, target_ms=100.0, weight=4.0, options={"rows": 20, "updates": 2})
    updates = SqlClass("updates", "oltp_update_index", 64, target_ms=40.0, weight=2.0)
    points = replace(POINTS, connections=drawn_connections(rng, 56, 88))
    return tuple(
        replace(one, burst_period_s=SHIFT_S, burst_share=1.0 / 3.0, burst_offset=turn / 3.0)
        for turn, one in ((0, points), (0, long), (1, hot), (2, updates))
    )
