"""How load is put on a server, whatever the workload: fields of the native table, and those of the parent."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.native_pool._core import LoadGenerator
from poolpilot.native_pool.setting_field import setting_field

_ROWS = {row["name"]: row for row in LoadGenerator.fields()}


class LoadSettings(BaseModel):
    """How load is put on a server, whatever the workload."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ramp_s: float = setting_field(_ROWS["ramp_s"])
    backlog_limit: int = setting_field(_ROWS["backlog_limit"])
    drain_timeout_s: float = setting_field(_ROWS["drain_timeout_s"])
    connect_timeout_s: float = setting_field(_ROWS["connect_timeout_s"])
    reconnect: bool = setting_field(_ROWS["reconnect"])
    reset_on_close: bool = setting_field(_ROWS["reset_on_close"])
    processes: int | None = Field(
        default=None, ge=1, le=LoadGenerator.MAX_PARTS, description="Processes the load is dealt to; None chooses."
    )
    start_timeout_s: float = Field(
        default=30.0, gt=0, description="How long the processes may take until all is connected."
    )
    reply_timeout_s: float = Field(default=10.0, gt=0, description="How long a process may take to answer a command.")

    late_after_ms: float = Field(
        default=1.0, ge=0, description="A request that leaves so long after it was due is late by the generator."
    )
    late_share: float = Field(
        default=0.01, ge=0, le=1, description="Share of late requests above which a report warns of the generator."
    )
    busy_share: float = Field(
        default=0.9, ge=0, le=1, description="Share of its time that a process may be busy before a report warns of it."
    )

    def of_child(self) -> dict[str, Any]:
        """The fields that a load process itself needs."""
        return self.model_dump(include=set(_ROWS))
