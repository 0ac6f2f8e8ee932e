"""`poolpilot bench pool`."""

from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import terminal, write_json

if TYPE_CHECKING:
    from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings


def run(settings: "PoolBenchSettings", json_path: Path | None) -> None:
    """Benchmarks the live pool and shows a table for each part."""
    from poolpilot.pipelines.bench.pool import bench_pool

    bench = bench_pool(settings)
    terminal().print(bench.tables())
    write_json(json_path, bench.as_dict())
