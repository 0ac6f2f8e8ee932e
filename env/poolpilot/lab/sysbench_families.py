"""Families of the test server: how its workloads are drawn, and which families are held out.

Validation and test families are compositions that no training family has: another long query beside other short ones,
other transactions on hot rows, another way to offer the load. Six of them (`joins_beside` to `payments`) were test
families until they had been looked into; those of `sealed_sql_families.py` have been chosen since.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.env.workloads.family import Split
from poolpilot.env.workloads.ingredients import log_uniform
from poolpilot.errors import SettingError
from poolpilot.lab.light_sql_families import LIGHT
from poolpilot.lab.sealed_sql_families import SEALED
from poolpilot.lab.sql_family import LONG_SHARE, SLOW_DISK_US, Draw, SqlFamily, drawn_connections
from poolpilot.lab.sql_workload import Script, SqlClass, SqlWorkload


def _closed(script: Script, base_ms: float, ms_per_connection: float, *among: int) -> Draw:
    """One class in a closed loop; its target grows with what a connection must wait for the others."""

    def draw(rng: np.random.Generator) -> tuple[SqlClass, ...]:
        connections = drawn_connections(rng, *among)
        target_ms = round(base_ms + ms_per_connection * connections, 1)
        return (SqlClass(script.removeprefix("oltp_"), script, connections, target_ms=target_ms),)

    return draw


def _hot(updates: int) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[SqlClass, ...]:
        connections, rows = drawn_connections(rng, 64, 128, 256), int(rng.integers(8, 33))
        target_ms = round(10.0 + 0.3 * updates * connections, 1)
        options: dict[str, float | str] = {"rows": rows, "updates": updates}
        return (SqlClass("hot", "hot_rows", connections, target_ms=target_ms, options=options),)

    return draw


def _beside_long(short: SqlClass, query: str, rows: tuple[float, float], passes: int = 1) -> Draw:
    """Short requests on most of 64, 128 or 256 connections, long queries on a few."""

    def draw(rng: np.random.Generator) -> tuple[SqlClass, ...]:
        connections = short.connections if short.connections > 1 else drawn_connections(rng, 32, 64, 128)
        long = int(rng.integers(3, 9))
        think_ms = round(short.think_ms * float(rng.uniform(0.5, 1.5)), 1) if short.think_ms else 0.0
        rate_per_s = round(short.rate_per_s * float(rng.uniform(0.6, 1.2))) if short.rate_per_s else 0.0
        options: dict[str, float | str] = {"query": query, "rows": round(log_uniform(rng, *rows)), "passes": passes}
        return (
            replace(short, connections=connections - long, think_ms=think_ms, rate_per_s=rate_per_s),
            SqlClass("long", "analytic", long, min_share=LONG_SHARE, options=options),
        )

    return draw


def _bursty(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    connections = drawn_connections(rng, 64, 128, 256)
    short = SqlClass(
        "point_select",
        "oltp_point_select",
        connections - 8,
        target_ms=15.0,
        burst_period_s=0.4,
        burst_share=round(float(rng.uniform(0.3, 0.7)), 2),
    )
    return (short, SqlClass("read_write", "oltp_read_write", 8, target_ms=60.0, weight=5.0))


def _think_heavy(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    connections = drawn_connections(rng, 128, 256, 512)
    think_ms = round(connections / log_uniform(rng, 1.0, 3.0), 1)
    return (SqlClass("read_only", "oltp_read_only", connections, target_ms=40.0, think_ms=think_ms),)


def _offered(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    rate_per_s = round(log_uniform(rng, 300.0, 1200.0))
    return (SqlClass("read_write", "oltp_read_write", 64, target_ms=50.0, rate_per_s=rate_per_s),)


def _sleeping(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    sleep_ms = round(log_uniform(rng, 2.0, 20.0), 1)
    waiting = SqlClass(
        "waiting",
        "waiting",
        drawn_connections(rng, 64, 128, 256),
        target_ms=10.0 * sleep_ms,
        options={"sleep_ms": sleep_ms},
    )
    return (waiting,)


def _sleeping_mix(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    return (*_sleeping(rng), SqlClass("point_select", "oltp_point_select", 32, target_ms=10.0))


def _tpcc(transaction: str, base_ms: float, ms_per_connection: float, *among: int) -> Draw:
    """One of the transactions of order entry alone."""

    def draw(rng: np.random.Generator) -> tuple[SqlClass, ...]:
        connections = drawn_connections(rng, *among)
        target_ms = round(base_ms + ms_per_connection * connections, 1)
        options = {"transaction": transaction}
        return (SqlClass(transaction, "tpcc", connections, target_ms=target_ms, options=options),)

    return draw


def _naps_beside(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    sleep_ms = round(log_uniform(rng, 5.0, 40.0), 1)
    napping = SqlClass("napping", "waiting", 48, target_ms=10.0 * sleep_ms, options={"sleep_ms": sleep_ms})
    return (
        napping,
        SqlClass("read_only", "oltp_read_only", drawn_connections(rng, 8, 16, 32), target_ms=80.0, weight=5.0),
    )


def _hot_beside(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    options = {"rows": int(rng.integers(4, 17)), "updates": 2}
    hot = SqlClass("hot", "hot_rows", drawn_connections(rng, 64, 128), target_ms=80.0, think_ms=2.0, options=options)
    return (hot, SqlClass("point_select", "oltp_point_select", 16, target_ms=10.0))


def _ranges_offered(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    rate_per_s = round(log_uniform(rng, 2000.0, 20000.0))
    return (SqlClass("ranges", "ranges", drawn_connections(rng, 32, 128), target_ms=10.0, rate_per_s=rate_per_s),)


CPUS = 2
"""Processors that a server may use unless somebody says another number."""

POINT = SqlClass("short", "oltp_point_select", 1, target_ms=20.0)

FAMILIES: Mapping[str, SqlFamily] = {
    family.name: family
    for family in (
        SqlFamily("point_select", "train", "cached point selects", _closed("oltp_point_select", 5.0, 0.1)),
        SqlFamily("read_only", "train", "reads of fourteen statements", _closed("oltp_read_only", 20.0, 1.0)),
        SqlFamily("read_write", "train", "transactions of eighteen statements", _closed("oltp_read_write", 30.0, 1.5)),
        SqlFamily("write_only", "train", "transactions that write", _closed("oltp_write_only", 20.0, 0.6)),
        SqlFamily("update_index", "train", "single indexed updates", _closed("oltp_update_index", 10.0, 0.3)),
        SqlFamily("hot_rows", "train", "two updates of a few rows that all want", _hot(updates=2)),
        SqlFamily("hot_baskets", "train", "five updates of a few rows that all want", _hot(updates=5)),
        SqlFamily("hot_counter", "train", "single updates of a few rows that all want", _hot(updates=1)),
        SqlFamily("tpcc", "train", "order entry", _closed("tpcc", 40.0, 2.0, 16, 32, 64, 128)),
        SqlFamily(
            "scans_beside",
            "train",
            "point selects beside long scans",
            _beside_long(POINT, "scan", (5e4, 1e5), passes=4),
        ),
        SqlFamily(
            "sorts_beside",
            "train",
            "point selects with think time beside long sorts",
            _beside_long(replace(POINT, think_ms=8.0), "sort", (5e4, 1e5)),
        ),
        SqlFamily(
            "digests_beside",
            "train",
            "short ranges at an offered rate beside long computations",
            _beside_long(replace(POINT, script="ranges", rate_per_s=4000.0), "digest", (3e5, 3e6)),
        ),
        SqlFamily("bursty", "train", "bursts of point selects over transactions", _bursty),
        SqlFamily("think_heavy", "train", "many connections that mostly pause", _think_heavy),
        SqlFamily(
            "slow_disk",
            "train",
            "transactions on a slow disk",
            _closed("oltp_read_write", 100.0, 4.0, 32, 64, 128),
            slow_disk_us=SLOW_DISK_US,
        ),
        SqlFamily(
            "larger_than_memory",
            "train",
            "point selects of which most read the disk",
            _closed("oltp_point_select", 10.0, 0.3, 32, 64, 128),
            dataset="large",
        ),
        SqlFamily("order_status", "train", "reads of order entry", _tpcc("order_status", 10.0, 0.2, 16, 64, 128, 256)),
        SqlFamily("new_orders", "train", "orders of many statements", _tpcc("new_order", 60.0, 3.0, 16, 64, 128, 256)),
        SqlFamily("naps_beside", "train", "reported waits beside transactions that read", _naps_beside),
        SqlFamily("hot_beside", "train", "two updates of a few rows with pauses, beside point selects", _hot_beside),
        SqlFamily("ranges_offered", "train", "short ranges at an offered rate", _ranges_offered),
        SqlFamily("few_readers", "train", "few connections that read", _closed("oltp_read_only", 20.0, 1.0, 4, 6, 12)),
        SqlFamily(
            "updates_beside",
            "train",
            "updates with think time beside long scans",
            _beside_long(
                SqlClass("short", "oltp_update_index", 1, target_ms=30.0, think_ms=10.0), "scan", (5e4, 1e5), passes=3
            ),
        ),
        SqlFamily(
            "groups_beside",
            "validation",
            "reads with think time beside long aggregations",
            _beside_long(
                SqlClass("short", "oltp_read_only", 1, target_ms=60.0, think_ms=40.0), "group", (5e4, 1e5), passes=2
            ),
        ),
        SqlFamily("sleeping_mix", "validation", "reported waits beside point selects", _sleeping_mix),
        SqlFamily(
            "joins_beside",
            "validation",
            "short ranges with think time beside long joins, 64 connections",
            _beside_long(SqlClass("short", "ranges", 64, target_ms=20.0, think_ms=10.0), "join", (6e4, 1e5)),
        ),
        SqlFamily("hot_transfer", "validation", "three updates of a few rows that all want", _hot(updates=3)),
        SqlFamily("cached_ranges", "validation", "short ranges from memory", _closed("ranges", 5.0, 0.15)),
        SqlFamily("sleeping", "validation", "waits that the server reports", _sleeping),
        SqlFamily("offered", "validation", "transactions at an offered rate", _offered),
        SqlFamily("payments", "validation", "payments to a few warehouses", _tpcc("payment", 20.0, 0.8, 64, 128, 256)),
        *LIGHT,
        *SEALED,
    )
}


def draw_workload(family: SqlFamily, seed: int, number: int, cpus: int = CPUS) -> SqlWorkload:
    """Draws a workload of a family; the same seed and number draw the same one.

    Args:
        family: The family.
        seed: Seed of a whole set.
        number: Which of its workloads.
        cpus: Processors the server may use.
    """
    rng = np.random.default_rng([seed, number, *family.name.encode()])
    classes = family.draw(rng)
    parameters = {"connections": float(sum(sql_class.connections for sql_class in classes))}
    return SqlWorkload(
        name=f"{family.name}-{seed}-{number}{'' if cpus == CPUS else f'-{cpus}cpus'}",
        family=family.name,
        classes=classes,
        dataset=family.dataset,
        cpus=cpus,
        slow_disk_us=family.slow_disk_us,
        log_bin=family.log_bin,
        side=family.side,
        seed=int(rng.integers(2**31)),
        parameters=parameters,
    )


def workload_set(seed: int, of_each: Mapping[Split, int], cpus: int = CPUS) -> list[PlannedWorkload[SqlWorkload]]:
    """So many workloads of every family of each split, dealt out in turns, so that a run cut short has some of all."""
    most = max(of_each.values(), default=0)
    return [
        PlannedWorkload(family.split, draw_workload(family, seed, number, cpus))
        for number in range(most)
        for family in FAMILIES.values()
        if number < of_each.get(family.split, 0)
    ]


def named_workload(name: str) -> SqlWorkload:
    """The workload of a name: a family, or `family-seed-number`.

    Raises:
        SettingError: There is no such family.
    """
    family, _, rest = name.partition("-")
    if family not in FAMILIES:
        raise SettingError(f"there is no workload {name!r}; there are {', '.join(FAMILIES)}, each with -seed-number")
    seed, _, number = rest.partition("-")
    if rest and not (seed.isdecimal() and number.isdecimal()):
        raise SettingError(f"{name!r} is no workload; name a family such as {family}, or {family}-1-0")
    return draw_workload(FAMILIES[family], int(seed or 1), int(number or 0))
