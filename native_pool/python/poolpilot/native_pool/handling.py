"""The connection handler of a pool, live or simulated, and what it is told."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from poolpilot.native_pool._core import LivePool
from poolpilot.native_pool.setting_field import setting_field

_ROWS = {row["name"]: row for row in LivePool.fields()}


class ConnectionHandling(BaseModel):
    """Which thread serves a connection; defaults, ranges and meanings are the pool's own.

    The fields are options of `LivePool` and `SimulatedPool`. The handler is chosen at the start: under
    `per_connection` the pool tuple has no effect, under `hybrid` `pool_size` is the number of pools,
    `timer_interval_ms` how often it looks at silent clients and at the length of turns, and `idle_timeout_s` how
    long a pool without connections keeps its last threads.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    handler: Literal["per_connection", "pool", "hybrid"] = setting_field(_ROWS["handler"])
    thread_cache_size: int = setting_field(_ROWS["thread_cache_size"])
    hybrid_max_threads: int = setting_field(_ROWS["hybrid_max_threads"])
    hybrid_min_waiting: int = setting_field(_ROWS["hybrid_min_waiting"])
    hybrid_keep_excess_ms: int = setting_field(_ROWS["hybrid_keep_excess_ms"])
    hybrid_share_below_us: int = setting_field(_ROWS["hybrid_share_below_us"])
