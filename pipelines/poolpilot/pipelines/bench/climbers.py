"""`poolpilot bench climbers`: controllers of the pool size beside each other on curves, simulated and live pools."""

import os
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.table import Table

from poolpilot.env.program_settings import ProgramSettings
from poolpilot.pipelines.bench.climbing.arena import Arena
from poolpilot.pipelines.bench.climbing.cells import STARTS, Noise
from poolpilot.pipelines.bench.climbing.contest import contest
from poolpilot.pipelines.bench.climbing.curve_arena import ABLATIONS, CurveArena
from poolpilot.pipelines.bench.climbing.rivals import RIVALS, SPECTRAL
from poolpilot.pipelines.bench.climbing.shapes import SHAPES
from poolpilot.pipelines.bench.climbing.summary import Comparison


class ClimbersBenchSettings(ProgramSettings):
    """Settings of `poolpilot bench climbers`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_BENCH_CLIMBERS_")

    backend: Literal["curve", "simulated", "native"] = Field(default="curve", description="Where they climb.")
    controllers: tuple[str, ...] = Field(default=(SPECTRAL, *RIVALS), description="Who takes part.")
    ablations: bool = Field(default=False, description="Our climber with one improvement switched off each instead.")
    shapes: tuple[str, ...] = Field(default=tuple(SHAPES), description="Curves.")
    scales: tuple[int, ...] = Field(default=(2, 8, 32, 128, 512, 1024), description="Largest sizes of the pool.")
    noises: tuple[float, ...] = Field(
        default=(0.0, 0.02, 0.05, 0.1), description="Standard deviations of one sample, relative."
    )
    correlated_noise: float = Field(default=0.05, ge=0.0, description="One more noise, whose samples hang together;")
    correlation: float = Field(default=0.9, ge=0.0, lt=1.0, description="correlation of its neighbouring samples.")
    starts: tuple[str, ...] = Field(default=STARTS, description="Where runs begin.")
    seeds: int = Field(default=10, ge=2, description="Repeats of a noisy cell.")
    samples: int = Field(default=600, ge=32, description="Length of a run in samples.")
    price_of_thread: float = Field(default=0.02, ge=0.0, le=1.0, description="e of the objective.")
    margin: float = Field(default=0.02, ge=0.0, description="Loss against an ancestor that is still not inferior.")
    processes: int = Field(default=len(os.sched_getaffinity(0)), ge=1, description="Processes beside each other.")
    runs: Path | None = Field(default=None, description="File that keeps every run; run again to go on.")
    plots: Path | None = Field(default=None, description="Folder for plots.")


def arena_of(settings: ClimbersBenchSettings) -> Arena:
    """The cells of the backend that is asked for."""
    return CurveArena(
        controllers=tuple(ABLATIONS) if settings.ablations else settings.controllers,
        shapes=settings.shapes,
        scales=settings.scales,
        noises=(*map(Noise, settings.noises), Noise(settings.correlated_noise, settings.correlation)),
        starts=settings.starts,
        seeds=settings.seeds,
        samples=settings.samples,
        price_of_thread=settings.price_of_thread,
        variants=ABLATIONS if settings.ablations else {},
    )


def bench_climbers(settings: ClimbersBenchSettings) -> Comparison:
    """Runs the comparison.

    Raises:
        KeyboardInterrupt: The user ended it; `settings.runs` holds what is done.
    """
    arena = arena_of(settings)
    return Comparison.of(arena, contest(arena, settings.processes, settings.runs), settings.margin)


def table_of(comparison: Comparison) -> Table:
    """The means by controller, as people read them."""
    summary = comparison.summary()
    table = Table(
        "controller", "objective lost", "throughput lost", "lost at rest", "samples to stay", "stays",
        "size / smallest", "changes", "wrong moves", "ours won / tied / lost",
        title=f"{summary['cells']} cells; ours loses least in {100 * summary['spectral_best_share']:.0f} % of them",
    )  # fmt: skip
    for name, row in sorted(summary["means"].items(), key=lambda item: item[1]["objective_lost"]):
        verdicts = summary["verdicts"].get(name)
        table.add_row(
            name,
            *(f"{100 * row[key]:.2f} %" for key in ("objective_lost", "throughput_lost", "end_lost")),
            "-" if row["samples_to_stay"] is None else f"{row['samples_to_stay']:.0f}",
            f"{100 * row['stays']:.0f} %",
            f"{row['size_over_smallest']:.2f}",
            *(f"{row[key]:.1f}" for key in ("changes", "wrong_moves")),
            "" if verdicts is None else " / ".join(str(verdicts[one]) for one in ("won", "tied", "lost")),
        )
    return table
