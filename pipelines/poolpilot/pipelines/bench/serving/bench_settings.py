"""Settings of `poolpilot bench pool`."""

from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from poolpilot.env.program_settings import ProgramSettings

Part = Literal["handlers", "reconnect", "null", "known", "throttling", "shares", "priorities", "overload"]
PARTS: tuple[Part, ...] = get_args(Part)

Connections = Annotated[int, Field(ge=1, le=65_536)]


class PoolBenchSettings(ProgramSettings):
    """Settings of `poolpilot bench pool`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_BENCH_POOL_")

    parts: tuple[Part, ...] = Field(default=PARTS, min_length=1, description="What to measure.")
    connections: tuple[Connections, ...] = Field(
        default=(1, 16, 64, 256, 1024, 4096, 16_384), min_length=1, description="Connections under each handler."
    )
    reconnecting: tuple[Connections, ...] = Field(
        default=(16, 256), description="Clients that open a connection for each request."
    )
    null_connections: tuple[Connections, ...] = Field(
        default=(16, 256), min_length=1, description="Connections that send requests for nothing to each server."
    )
    known_connections: int = Field(
        default=64, ge=2, le=65_536, description="Connections whose classes are to be known."
    )
    throttled: tuple[Connections, ...] = Field(
        default=(16, 32, 64, 128, 256, 512, 1024, 2048), min_length=1, description="Connections that want one latch."
    )
    throttled_to: int = Field(default=8, ge=1, le=65_536, description="Transactions that a limit lets inside.")
    mix_connections: int = Field(
        default=128, ge=1, le=32_768, description="Connections of each class of a mix under priorities."
    )
    mix_settle_s: float = Field(default=0.3, gt=0.0, description="Seconds before the window of a mix.")
    mix_window_s: float = Field(default=0.5, gt=0.0, description="Length of the window of a mix in seconds.")
    overload_connections: int = Field(
        default=1024, ge=1, le=32_768, description="Connections of each class under overload."
    )
    overload_window_s: float = Field(default=2.0, gt=0.0, description="Length of a window under overload in seconds.")
    repeats: int = Field(default=5, ge=1, description="Interleaved repeats; intervals need two.")
    settle_s: float = Field(default=0.5, gt=0.0, description="Seconds between the first request and a window.")
    window_s: float = Field(default=1.5, gt=0.0, description="Length of a window in seconds.")
    server_cpus: tuple[int, ...] = Field(default=(0,), min_length=1, description="Processors of the server.")
    load_cpus: tuple[int, ...] = Field(default=(1,), min_length=1, description="Processors of the load.")
    keep_awake: bool = Field(
        default=True, description="Keep idle processors awake, as root on Linux: waking one is the machine's cost."
    )
    lab: Path = Field(default=Path("lab"), description="Folder of the private MariaDB; made where it is missing.")
    runs: Path | None = Field(default=None, description="File that keeps every trial; run again to go on.")
