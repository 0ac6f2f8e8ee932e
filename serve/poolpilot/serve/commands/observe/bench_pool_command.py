"""`poolpilot bench pool`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import terminal, write_json
from poolpilot.serve.commands.options.settings_command import as_command

if TYPE_CHECKING:
    from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings

HELP = (
    "Connection handlers of the live pool from one connection to thousands, what a request for nothing costs beside an "
    "epoll loop, Redis and MariaDB, and what it costs to know a request's class."
)

PANELS = {
    "Connections": ("connections", "reconnecting", "null_connections", "known_connections"),
    "Throttling, mixes and overload": (
        *("throttled", "throttled_to", "mix_connections", "mix_settle_s", "mix_window_s"),
        *("overload_connections", "overload_window_s"),
    ),
    "Windows": ("repeats", "settle_s", "window_s"),
    "Machine": ("server_cpus", "load_cpus", "keep_awake", "lab"),
    "Files": ("runs", "config", "json_path"),
}
"""The groups of the help."""


def build() -> Callable[..., None]:
    """The command `poolpilot bench pool`."""
    from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings

    return as_command(PoolBenchSettings, run, HELP, panels=PANELS)


def run(settings: "PoolBenchSettings", json_path: Path | None) -> None:
    """Benchmarks the live pool and shows a table for each part."""
    from poolpilot.pipelines.bench.pool import bench_pool

    bench = bench_pool(settings)
    terminal().print(bench.tables())
    write_json(json_path, bench.as_dict())
