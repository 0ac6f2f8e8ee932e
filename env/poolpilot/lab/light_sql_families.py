"""Light and half load for the test server: shares of what a server completes, by pauses, beside sleepers, in bursts.

Every third family of the test server is of these. What a server completes is measured before its load begins
(`capacity.py`), so that a share is the same on any machine.
"""

from dataclasses import replace

import numpy as np

from poolpilot.env.workloads.light_load import BURST_PART, BURST_PERIOD_S, CALM_FACTOR, SHARES
from poolpilot.lab.sql_family import Draw, SqlFamily
from poolpilot.lab.sql_workload import Script, SqlClass

SLEEPERS = (200, 400, 800)
"""Connections that hardly send, beside those that do."""

SLEEP_MS = 60_000.0
"""Mean pause of a sleeper."""


def paused(script: Script, target_ms: float, *connections: int, shares: tuple[float, ...] = SHARES) -> Draw:
    """One class in a closed loop whose pauses leave a share of the capacity to be asked for."""

    def draw(rng: np.random.Generator) -> tuple[SqlClass, ...]:
        number, share = int(rng.choice(connections)), float(rng.choice(shares))
        name = script.removeprefix("oltp_")
        return (SqlClass(name, script, number, target_ms=target_ms, capacity_share=share, share_by="pauses"),)

    return draw


def beside_sleepers(senders: Draw) -> Draw:
    """The same beside hundreds of connections that send once in a minute."""

    def draw(rng: np.random.Generator) -> tuple[SqlClass, ...]:
        classes = senders(rng)
        number = int(rng.choice(SLEEPERS))
        sleeper = SqlClass("sleepers", "oltp_point_select", number, target_ms=100.0, think_ms=SLEEP_MS)
        return (*classes, sleeper)

    return draw


def in_bursts(senders: Draw) -> Draw:
    """The same as an offered rate in two seconds of ten, and a tenth of it all the time."""

    def draw(rng: np.random.Generator) -> tuple[SqlClass, ...]:
        (one,) = senders(rng)
        number, share = max(one.connections // 4, 1), one.capacity_share / CALM_FACTOR
        steady = replace(one, name="steady", connections=number, capacity_share=share, share_by="rate")
        burst = replace(one, burst_period_s=BURST_PERIOD_S, burst_share=BURST_PART)
        return (steady, replace(burst, capacity_share=one.capacity_share - share, share_by="rate"))

    return draw


def transactions(transaction: str, senders: Draw) -> Draw:
    """One of the transactions of order entry."""

    def draw(rng: np.random.Generator) -> tuple[SqlClass, ...]:
        return tuple(replace(one, options={"transaction": transaction}) for one in senders(rng))

    return draw


LIGHT: tuple[SqlFamily, ...] = (
    SqlFamily("pausing_points", "train", "point selects with pauses", paused("oltp_point_select", 20.0, 20, 64, 200)),
    SqlFamily(
        "pausing_reads", "train", "reads of fourteen statements with pauses", paused("oltp_read_only", 80.0, 16, 64)
    ),
    SqlFamily("pausing_updates", "train", "indexed updates with pauses", paused("oltp_update_index", 40.0, 32, 128)),
    SqlFamily(
        "pausing_writers", "train", "transactions that write, with pauses", paused("oltp_write_only", 80.0, 32, 128)
    ),
    SqlFamily("pausing_orders", "train", "order entry with pauses", paused("tpcc", 150.0, 16, 64)),
    SqlFamily(
        "points_and_sleepers",
        "train",
        "point selects with pauses beside connections that hardly send",
        beside_sleepers(paused("oltp_point_select", 20.0, 16, 64)),
    ),
    SqlFamily(
        "transactions_and_sleepers",
        "train",
        "transactions with pauses beside connections that hardly send",
        beside_sleepers(paused("oltp_read_write", 100.0, 16, 64)),
    ),
    SqlFamily(
        "points_in_bursts",
        "train",
        "point selects in bursts of two seconds in ten",
        in_bursts(paused("oltp_point_select", 20.0, 32, 96)),
    ),
    SqlFamily(
        "transactions_in_bursts",
        "train",
        "transactions in bursts of two seconds in ten",
        in_bursts(paused("oltp_read_write", 100.0, 32, 96)),
    ),
    SqlFamily("pausing_ranges", "validation", "short ranges with pauses", paused("ranges", 20.0, 20, 64, 200)),
    SqlFamily(
        "payments_and_sleepers",
        "validation",
        "payments with pauses beside connections that hardly send",
        beside_sleepers(transactions("payment", paused("tpcc", 100.0, 16, 64))),
    ),
    SqlFamily(
        "ranges_in_bursts",
        "validation",
        "short ranges in bursts of two seconds in ten",
        in_bursts(paused("ranges", 20.0, 32, 96)),
    ),
)
"""Those that are drawn to learn from and to choose by; three more are sealed."""
