"""`poolpilot bench climbers`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import terminal, write_json
from poolpilot.serve.commands.options.settings_command import as_command

if TYPE_CHECKING:
    from poolpilot.pipelines.bench.climbers import ClimbersBenchSettings

HELP = "Controllers of the pool size beside each other, ours, reference controllers and baselines: what each loses."

PANELS = {
    "Who climbs": ("controllers", "ablations", "price_of_thread", "margin"),
    "Curves": ("shapes", "scales", "noises", "correlated_noise", "correlation", "shift_scales"),
    "Pools": ("families", "period_s"),
    "Runs": ("starts", "seeds", "samples", "processes"),
    "Files": ("runs", "plots", "config", "json_path"),
}
"""The groups of the help."""


def build() -> Callable[..., None]:
    """The command `poolpilot bench climbers`."""
    from poolpilot.pipelines.bench.climbers import ClimbersBenchSettings

    return as_command(ClimbersBenchSettings, run, HELP, panels=PANELS)


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
