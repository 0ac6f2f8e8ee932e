"""`poolpilot bench climbers`."""

from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import terminal, write_json

if TYPE_CHECKING:
    from poolpilot.pipelines.bench.climbers import ClimbersBenchSettings


def run(settings: "ClimbersBenchSettings", json_path: Path | None) -> None:
    """Compares, prints the table and the cells that ours loses, and writes both."""
    from poolpilot.pipelines.bench.climbers import bench_climbers, losing_table, table_of
    from poolpilot.pipelines.bench.climbing.plots import draw

    comparison = bench_climbers(settings)
    console = terminal()
    console.print(table_of(comparison))
    if comparison.ancestors():
        console.print(losing_table(comparison))
    if settings.plots is not None:
        for path in draw(comparison, settings.plots):
            console.print(f"wrote {path}")
    write_json(json_path, comparison.as_dict())
