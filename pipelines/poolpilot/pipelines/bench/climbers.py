"""`poolpilot bench climbers`: controllers of the pool size beside each other on curves, simulated and live pools."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.box import SIMPLE_HEAD
from rich.table import Table

from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.env.workloads.families import FAMILIES
from poolpilot.env.workloads.simulated_families import SIMULATED_FAMILIES
from poolpilot.errors import SettingError
from poolpilot.pipelines.bench.climbing.cells import STARTS, Noise
from poolpilot.pipelines.bench.climbing.curve_suite import ABLATIONS, CurveSuite
from poolpilot.pipelines.bench.climbing.reference_controllers import BASELINES, SPECTRAL
from poolpilot.pipelines.bench.climbing.server_suite import STARTS as SERVER_STARTS
from poolpilot.pipelines.bench.climbing.server_suite import NativeSuite, ServerSuite, SimulatedSuite
from poolpilot.pipelines.bench.climbing.shapes import SHAPES
from poolpilot.pipelines.bench.climbing.suite import Suite, run_suite
from poolpilot.pipelines.bench.climbing.summary import Comparison
from poolpilot.pipelines.kept_runs import digest_of

SERVER_CONTROLLERS = (
    *(SPECTRAL, *BASELINES),
    *("wait_ratio", "little", "usl", "random", "bayesian", "ottertune", "nearest", "trees"),
)
"""Everybody who can climb on a pool."""

SIMULATED = (
    *("sim_io_bound", "sim_hot_latch", "sim_commit_bound"),
    *("twin_silent_single", "twin_silent_beside_cpu", "twin_silent_then_latch", "twin_latch_beside_cpu"),
)
"""Simulated families in which the pool size matters."""

LIVE = ("silent_single", "silent_beside_cpu", "latch_beside_cpu")
"""Live families in which it does."""


WHICH_RUNS = (
    *("controllers", "shapes", "scales", "noises", "starts", "shift_scales", "seeds"),
    *("margin", "processes", "runs", "plots"),
)
"""Settings that say which runs there are, or what becomes of them, and change none."""

LEAST_SCALE, MOST_SCALE = 2, 100_000
"""A pool of one size leaves nothing to choose; MariaDB has at most 100,000 thread groups."""

Scale = Annotated[int, Field(ge=LEAST_SCALE, le=MOST_SCALE)]
NoiseShare = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class ClimbersBenchSettings(ProgramSettings):
    """Settings of `poolpilot bench climbers`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_BENCH_CLIMBERS_")

    backend: Literal["curve", "simulated", "native"] = Field(default="curve", description="Where they climb.")
    controllers: tuple[str, ...] = Field(default=(), description="Who takes part; all that the backend has if none.")
    ablations: bool = Field(default=False, description="Our climber with one improvement switched off each instead.")
    families: tuple[str, ...] = Field(
        default=(), description="Families of workloads of a pool; those that suit if none."
    )
    period_s: float = Field(
        default=0.1, gt=0.0, allow_inf_nan=False, description="Length of a sample on a pool, in seconds."
    )
    shapes: tuple[str, ...] = Field(default=tuple(SHAPES), description="Curves.")
    scales: tuple[Scale, ...] = Field(
        default=(2, 8, 32, 128, 512, 1024),
        description=f"Largest sizes of the pool, {LEAST_SCALE} to {MOST_SCALE}.",
    )
    noises: tuple[NoiseShare, ...] = Field(
        default=(0.0, 0.02, 0.05, 0.1),
        description="Standard deviations of one sample, relative, 0 to 1.",
    )
    correlated_noise: NoiseShare = Field(
        default=0.05, description="One more noise, 0 to 1, whose samples hang together;"
    )
    correlation: float = Field(default=0.9, ge=0.0, lt=1.0, description="correlation of its neighbouring samples.")
    starts: tuple[str, ...] = Field(default=(), description="Where runs begin; all places of the backend if none.")
    shift_scales: tuple[Scale, ...] = Field(
        default=(32, 128, 1024),
        description=f"Largest sizes at which the workload also shifts in mid-run, {LEAST_SCALE} to {MOST_SCALE}.",
    )
    seeds: int = Field(default=10, ge=1, description="Repeats of a noisy cell, or draws of a family.")
    samples: int = Field(default=600, ge=32, description="Length of a run in samples.")
    price_of_thread: float = Field(default=0.02, ge=0.0, le=1.0, description="e of the objective.")
    margin: float = Field(
        default=0.02, ge=0.0, allow_inf_nan=False, description="Loss against an ancestor that is still not inferior."
    )
    processes: int = Field(default=len(os.sched_getaffinity(0)), ge=1, description="Processes beside each other.")
    runs: Path | None = Field(default=None, description="File that keeps every run; run again to go on.")
    plots: Path | None = Field(default=None, description="Folder for plots.")


def suite_of(settings: ClimbersBenchSettings) -> Suite:
    """The cells of the backend that is asked for."""
    return _curve_suite(settings) if settings.backend == "curve" else _server_suite(settings)


def _curve_suite(settings: ClimbersBenchSettings) -> CurveSuite:
    return CurveSuite(
        controllers=tuple(ABLATIONS) if settings.ablations else settings.controllers or (SPECTRAL, *BASELINES),
        shapes=settings.shapes,
        scales=settings.scales,
        noises=(*map(Noise, settings.noises), Noise(settings.correlated_noise, settings.correlation)),
        starts=settings.starts or STARTS,
        shift_scales=settings.shift_scales,
        seeds=settings.seeds,
        samples=settings.samples,
        price_of_thread=settings.price_of_thread,
        variants=ABLATIONS if settings.ablations else {},
    )


def _server_suite(settings: ClimbersBenchSettings) -> ServerSuite:
    kind = SimulatedSuite if settings.backend == "simulated" else NativeSuite
    return kind(
        names=settings.controllers or SERVER_CONTROLLERS,
        families=settings.families or (SIMULATED if settings.backend == "simulated" else LIVE),
        starts=settings.starts or SERVER_STARTS,
        seeds=settings.seeds,
        samples=settings.samples,
        climb=ClimbSettings(period_s=settings.period_s),
    )


def bench_climbers(settings: ClimbersBenchSettings) -> Comparison:
    """Runs the comparison.

    Raises:
        SettingError: There is no such controller, shape, start or family, or ours is not among the controllers.
        KeyboardInterrupt: The user ended it; `settings.runs` holds what is done.
    """
    _require_known(settings)
    suite = suite_of(settings)
    # Two live pools beside each other would measure each other.
    processes = 1 if settings.backend == "native" else settings.processes
    runs = run_suite(suite, processes, settings.runs, digest_of(settings, WHICH_RUNS))
    return Comparison.of(suite, runs, settings.margin)


CAPTION = (
    "lost: share of the objective lost on the way, in per cent; area: of the throughput; rest: lost at the end; "
    "stay: samples until within 5 % for good, and runs that get there; size: at rest over the smallest good one; "
    "moves: changes of the size; ours: cells won, tied and lost by ours"
)


def table_of(comparison: Comparison) -> Table:
    """The means by controller, as people read them."""
    summary = comparison.summary()
    title = f"{summary['cells']} cells; ours loses least in {100 * summary['spectral_best_share']:.0f} % of them"
    table = Table(title=title, caption=CAPTION, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    for header in ("", "lost", "area", "rest", "stay", "size", "moves", "ours"):
        table.add_column(header, justify="right" if header else "left", no_wrap=True)
    for name, row in sorted(summary["means"].items(), key=lambda item: float(item[1]["objective_lost"])):
        verdicts = summary["verdicts"].get(name)
        stay = "-" if row["samples_to_stay"] is None else f"{row['samples_to_stay']:.0f}"
        table.add_row(
            name,
            *(f"{100 * row[key]:.2f}" for key in ("objective_lost", "throughput_lost", "end_lost")),
            f"{stay}, {100 * row['stays']:.0f} %",
            f"{row['size_over_smallest']:.2f}",
            f"{row['changes']:.0f}",
            "" if verdicts is None else "/".join(str(verdicts[one]) for one in ("won", "tied", "lost")),
        )
    return table


def _require_known(settings: ClimbersBenchSettings) -> None:
    curves = settings.backend == "curve"
    families = FAMILIES if settings.backend == "native" else SIMULATED_FAMILIES
    for what, given, known in (
        ("controller", settings.controllers, (SPECTRAL, *BASELINES) if curves else SERVER_CONTROLLERS),
        ("shape", settings.shapes, SHAPES),
        ("start", settings.starts, STARTS if curves else SERVER_STARTS),
        ("family", settings.families, families),
    ):
        unknown = [name for name in given if name not in known]
        if unknown:
            raise SettingError(f"there is no {what} {unknown[0]!r} on this backend; there are {', '.join(known)}")
    if settings.controllers and SPECTRAL not in settings.controllers:
        raise SettingError(f"the controllers must include {SPECTRAL!r}, with which the others are compared")


LOSING_SHOWN = 12


def losing_table(comparison: Comparison) -> Table:
    """The cells in which ours loses most to an ancestor."""
    rows = comparison.losing_cells()
    margin = 100.0 * comparison.margin
    inferior = len(comparison.perhaps_inferior(rows))
    title = f"{len(rows)} comparisons lost to ancestors, {inferior} of them perhaps by {margin:g} points or more"
    table = Table("cell", "ancestor", "points lost", "interval", title=title)
    for row in rows[:LOSING_SHOWN]:
        table.add_row(row["cell"], row["baseline"], f"{100.0 * row['difference']:.2f}", _interval(row))
    return table


def _interval(row: Mapping[str, Any]) -> str:
    """The interval of a losing cell in points; a dash where one repeat tells none."""
    return "-" if row["low"] is None else f"{100.0 * row['low']:.2f} .. {100.0 * row['high']:.2f}"
