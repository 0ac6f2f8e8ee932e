"""The nine sealed families of the test server: compositions that no other family has, drawn once and read once.

Each holds something that no training family knows: a wait that the pool is never told of, a dump, a lock held over a
round trip, a binary log, logins, clients that read slowly. Three are of light and half load.
"""

import numpy as np

from poolpilot.env.workloads.ingredients import log_uniform
from poolpilot.lab.light_sql_families import beside_sleepers, in_bursts, paused
from poolpilot.lab.sql_family import LONG_SHARE, SqlFamily, drawn_connections
from poolpilot.lab.sql_workload import SqlClass

CALL_MS = 20.0


def _remote_calls(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    connections = drawn_connections(rng, 64, 96, 128)
    wait_ms = round(CALL_MS * float(rng.uniform(0.8, 1.25)), 1)
    return (SqlClass("calls", "remote_call", connections, target_ms=10.0 * wait_ms, options={"wait_ms": wait_ms}),)


def _dump_beside(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    reads = SqlClass("reads", "oltp_point_select", drawn_connections(rng, 32, 64, 96), target_ms=40.0)
    options = {"rows": round(log_uniform(rng, 1e4, 4e4))}
    return (reads, SqlClass("dump", "dump", int(rng.integers(2, 5)), min_share=LONG_SHARE, options=options))


def _hot_round_trips(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    trip_ms = round(float(rng.uniform(1.0, 3.0)), 2)
    options: dict[str, float | str] = {"rows": int(rng.integers(16, 49)), "updates": 3, "round_trip_ms": trip_ms}
    connections = drawn_connections(rng, 64, 128, 256)
    return (SqlClass("hot", "hot_rows", connections, target_ms=round(5.0 * connections), options=options),)


def _binlog_commits(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    updates = SqlClass("updates", "oltp_update_index", drawn_connections(rng, 32, 64, 128), target_ms=60.0)
    return (updates, SqlClass("orders", "oltp_read_write", int(rng.integers(8, 17)), target_ms=150.0, weight=5.0))


def _connection_storms(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    storm = SqlClass(
        "logins",
        "reconnect",
        drawn_connections(rng, 32, 64),
        target_ms=100.0,
        burst_period_s=1.0,
        burst_share=round(float(rng.uniform(0.3, 0.6)), 2),
    )
    think_ms = round(float(rng.uniform(2.0, 6.0)), 1)
    return (SqlClass("reads", "oltp_point_select", 64, target_ms=30.0, think_ms=think_ms), storm)


def _slow_readers(rng: np.random.Generator) -> tuple[SqlClass, ...]:
    options: dict[str, float | str] = {
        "rows": round(log_uniform(rng, 1e4, 3e4)),
        "rows_per_s": round(log_uniform(rng, 1e4, 4e4)),
    }
    slow = SqlClass("exports", "slow_reader", int(rng.integers(8, 25)), min_share=LONG_SHARE, options=options)
    return (SqlClass("reads", "oltp_point_select", drawn_connections(rng, 32, 64), target_ms=30.0), slow)


SEALED: tuple[SqlFamily, ...] = (
    SqlFamily("remote_calls", "test", "procedures that wait 20 ms without telling the pool", _remote_calls),
    SqlFamily("dump_beside", "test", "point selects beside a dump larger than memory", _dump_beside, dataset="large"),
    SqlFamily("hot_round_trips", "test", "rows locked over the client's round trips", _hot_round_trips),
    SqlFamily("binlog_commits", "test", "commits of a binary log, in groups", _binlog_commits, log_bin=True),
    SqlFamily("connection_storms", "test", "point selects with think time beside bursts of logins", _connection_storms),
    SqlFamily("slow_readers", "test", "point selects beside large results that are read slowly", _slow_readers),
    SqlFamily(
        "quiet_binlog",
        "test",
        "commits of a binary log with pauses, 5 to 50 % of the capacity",
        paused("oltp_update_index", 60.0, 32, 64, shares=(0.05, 0.2, 0.5)),
        log_bin=True,
    ),
    SqlFamily(
        "sleepers_from_disk",
        "test",
        "point selects from disk with pauses beside connections that hardly send, 5 to 50 % of the capacity",
        beside_sleepers(paused("oltp_point_select", 60.0, 32, 64, shares=(0.05, 0.2, 0.5))),
        dataset="large",
    ),
    SqlFamily(
        "logins_in_bursts",
        "test",
        "logins in bursts of two seconds in ten, 20 or 50 % of the capacity in a burst",
        in_bursts(paused("reconnect", 100.0, 32, 64, shares=(0.2, 0.5))),
    ),
)
"""In the order of the suite's page."""
