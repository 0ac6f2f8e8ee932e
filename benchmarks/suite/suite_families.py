"""The open families of the suite; the sealed ones are among the test families of the test server.

Training families know some of them under other names; the others are compositions of their own, for validation. None of
them is in `FAMILIES`, so nothing learns from them unasked.
"""

from poolpilot.lab.light_sql_families import beside_sleepers, in_bursts, paused
from poolpilot.lab.side.side_job import SideJob
from poolpilot.lab.sql_family import SLOW_DISK_US, SqlFamily
from suite.suite_draws import (
    alone,
    beside_scans,
    bursts,
    few_readers,
    half_loaded,
    hot_rows_256,
    mixed_beside_analytics,
    orders,
    shift,
    sleeps_and_locks,
)

SLOW_FLUSH_US = (0, 0, 5000)
"""A disk whose flushes take 5 ms and which is fast otherwise."""

OPEN: tuple[SqlFamily, ...] = (
    SqlFamily("points_beside_scans", "train", "point selects beside saturating scans", beside_scans(0.0)),
    SqlFamily("pausing_beside_scans", "train", "point selects with think time beside scans", beside_scans(10.0)),
    SqlFamily("mixed_beside_analytics", "train", "reads and updates beside analytics", mixed_beside_analytics),
    SqlFamily("hot_rows_256", "train", "hot rows at 256 connections", hot_rows_256),
    SqlFamily("orders_2", "train", "order entry on 2 warehouses", orders(2)),
    SqlFamily("orders_20", "train", "order entry on 20 warehouses", orders(20), dataset="orders"),
    SqlFamily(
        "slow_flushes",
        "train",
        "updates bound by flushes of 5 ms",
        alone("oltp_update_index", 80.0, 64, 96, 128),
        slow_disk_us=SLOW_FLUSH_US,
    ),
    SqlFamily(
        "slow_disk_orders",
        "train",
        "reading and writing on a slow disk",
        alone("oltp_read_write", 400.0, 64, 96),
        slow_disk_us=SLOW_DISK_US,
    ),
    SqlFamily(
        "disk_bound_reads",
        "train",
        "point selects from disk",
        alone("oltp_point_select", 40.0, 64, 96),
        dataset="large",
    ),
    SqlFamily("sleeps_and_locks", "validation", "SLEEP and GET_LOCK", sleeps_and_locks),
    SqlFamily("half_loaded", "train", "transactions at half of the capacity", half_loaded),
    SqlFamily("overload_bursts", "validation", "reads between 40 and 150 % of the capacity", bursts),
    SqlFamily(
        "mostly_idle",
        "train",
        "1,000 connections that mostly pause",
        alone("oltp_point_select", 30.0, 1000, think_ms=500.0),
    ),
    SqlFamily(
        "altered_table",
        "validation",
        "transactions beside ALTER TABLE",
        alone("oltp_read_write", 120.0, 32, 64),
        side=SideJob("alter_table", rest_s=1.0),
    ),
    SqlFamily(
        "backup_locks",
        "validation",
        "transactions beside the locks of a backup",
        alone("oltp_read_write", 120.0, 32, 64),
        side=SideJob("backup_stage", hold_s=0.7, rest_s=1.3),
    ),
    SqlFamily(
        "locked_table",
        "validation",
        "point selects of which a quarter piles up behind a lock of their table",
        alone("oltp_point_select", 50.0, 64, 128),
        side=SideJob("table_lock", hold_s=1.0, rest_s=1.0),
    ),
    SqlFamily("eight_connections", "train", "cached reads on eight connections", few_readers),
    SqlFamily("shifting", "validation", "scans beside, hot rows and updates in turns", shift),
    SqlFamily(
        "points_at_5",
        "train",
        "point selects with pauses at 5 % of the capacity",
        paused("oltp_point_select", 20.0, 20, 64, 128, shares=(0.05,)),
    ),
    SqlFamily(
        "orders_at_20",
        "train",
        "order entry with pauses at 20 % of the capacity",
        paused("tpcc", 150.0, 16, 32, 64, shares=(0.2,)),
    ),
    SqlFamily(
        "points_at_50",
        "train",
        "point selects with pauses at 50 % of the capacity",
        paused("oltp_point_select", 20.0, 32, 64, 128, shares=(0.5,)),
    ),
    SqlFamily(
        "transactions_at_80",
        "train",
        "transactions with pauses at 80 % of the capacity",
        paused("oltp_read_write", 100.0, 32, 64, 128, shares=(0.8,)),
    ),
    SqlFamily(
        "sleepers_at_20",
        "train",
        "updates with pauses at 20 % of the capacity beside connections that hardly send",
        beside_sleepers(paused("oltp_update_index", 60.0, 16, 32, 64, shares=(0.2,))),
    ),
    SqlFamily(
        "bursts_at_50",
        "validation",
        "short ranges at 50 % of the capacity in two seconds of ten",
        in_bursts(paused("ranges", 20.0, 32, 64, 96, shares=(0.5,))),
    ),
)
