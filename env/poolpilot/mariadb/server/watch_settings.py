"""How a MariaDB server is observed."""

from pydantic import BaseModel, ConfigDict, Field


class WatchSettings(BaseModel):
    """How a server is observed, and what must be left to it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sample_every_s: float = Field(
        default=0.2, gt=0.0, description="Seconds from one reading of the groups to the next while a window runs."
    )
    scheduled_threads: int = Field(
        default=32,
        ge=0,
        le=65_536,
        description="Most threads of a server on this host whose run-queue delay is read; each costs 2 us a reading.",
    )
    wait_events: bool = Field(
        default=False,
        description="Read performance_schema too where it is on; that costs as much as the rest of a reading.",
    )
    spare_threads: int = Field(
        default=16,
        ge=0,
        description="Threads that thread_pool_max_threads must leave above what a configuration can ask for.",
    )
    disturbances_every_s: float | None = Field(
        default=None,
        gt=0.0,
        description="Seconds between checks for backups, changes of tables, locks on everything, lag and a stuck pool "
        "while a window runs, two statements each; never if not given.",
    )
    most_replica_lag_s: float = Field(
        default=10.0, ge=0.0, description="Replication lag in seconds from which on it is one of these."
    )


LONG_WATCH = WatchSettings(scheduled_threads=4096, wait_events=True, disturbances_every_s=0.5)
"""For who looks at few windows of seconds: everything that the server shows, whatever a look costs."""
