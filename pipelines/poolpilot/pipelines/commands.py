"""The sub-commands of staging: collect, train, evaluate, promote, search and others.

Their options are settings models that need torch, Ray and others, so a command is built when it is called: the help
of `poolpilot` stays quick, and a base installation can show it.
"""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from poolpilot.env.targets.report import terminal
from poolpilot.env.targets.report import write_json as write_strict_json
from poolpilot.pipelines.command_options import as_command

if TYPE_CHECKING:
    from poolpilot.pipelines.bench.climbers import ClimbersBenchSettings
    from poolpilot.pipelines.bench.serving.settings import PoolBenchSettings
    from poolpilot.pipelines.bench.simulator import SimulatorBenchSettings
    from poolpilot.pipelines.calibrate import CalibrateSettings
    from poolpilot.pipelines.collect_settings import CollectSettings
    from poolpilot.pipelines.evaluate import EvaluateSettings
    from poolpilot.pipelines.promote import PromoteSettings, Promotion
    from poolpilot.pipelines.searching.settings import SearchRunSettings
    from poolpilot.pipelines.simulate import SimulateSettings
    from poolpilot.pipelines.train import TrainReport
    from poolpilot.pipelines.train_settings import TrainSettings

PANEL = "Learn"
"""Group of these commands in the help."""

REFUSED = 3
"""Exit code of a promotion that the gate refuses."""

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

COLLECT_HELP = (
    "Measure generated workloads on live or simulated pools, or on a laboratory's MariaDB, into a record store; "
    "run it again to go on."
)
CALIBRATE_HELP = "Fit the simulator's machine to records, and say how well it does on records it was not fitted to."
SIMULATE_HELP = "What if: simulate the workload of a recorded profile under other tuples."
SEARCH_HELP = (
    "Search for the best tuple of a MariaDB server in staging, or of an embedded pool, by trying tuples: Bayesian "
    "optimisation or random search over many knobs, numeric or with values to choose from.\n\n"
    "The first tuple returns at the end and after Ctrl-C, unless --keep; what was measured is printed all the same."
)
TRAIN_HELP = "Train a model on the records and log it as a version in MLflow."
EVALUATE_HELP = "Compare a model with its rivals on workloads it has never seen."
BENCH_HELP = "Benchmarks, each with its peers in the same run."
ACT_PANEL = "Act"
"""Group of the commands that change a server."""
LOOK_PANEL = "Look"
"""Group of the commands that change and teach nothing."""

BENCH_POOL_HELP = (
    "Connection handlers of the live pool from one connection to thousands, what a request for nothing costs beside an "
    "epoll loop, Redis and MariaDB, and what it costs to know a request's class."
)
BENCH_SIMULATOR_HELP = "Events, requests and environment steps a second of the simulator, with SimPy beside it."
BENCH_CLIMBERS_HELP = (
    "Controllers of the pool size beside each other, ours, its ancestors and its rivals: what each loses on the way."
)
PROMOTE_HELP = "Make a trained model the champion, if it passes the gate."


write_json = partial(write_strict_json, allow_nan=True)
"""Writes a table for machines, where one is asked for; what was not measured may be NaN in staging."""


def register(app: typer.Typer) -> None:
    """Adds the sub-commands to the command `poolpilot`."""
    for name, description, build in (
        ("collect", COLLECT_HELP, build_collect),
        ("train", TRAIN_HELP, build_train),
        ("evaluate", EVALUATE_HELP, build_evaluate),
        ("promote", PROMOTE_HELP, build_promote),
        ("calibrate", CALIBRATE_HELP, build_calibrate),
    ):
        _add(app, name, description, build, PANEL)
    _add(app, "search", SEARCH_HELP, build_search, ACT_PANEL)
    _add(app, "simulate", SIMULATE_HELP, build_simulate, LOOK_PANEL)
    bench = typer.Typer(no_args_is_help=True)
    _add(bench, "climbers", BENCH_CLIMBERS_HELP, build_bench_climbers)
    _add(bench, "pool", BENCH_POOL_HELP, build_bench_pool)
    _add(bench, "simulator", BENCH_SIMULATOR_HELP, build_bench_simulator)
    app.add_typer(bench, name="bench", help=BENCH_HELP, rich_help_panel=LOOK_PANEL)


def _add(
    app: typer.Typer, name: str, description: str, build: Callable[[], Callable[..., None]], panel: str = ""
) -> None:
    app.command(
        name,
        help=description,
        rich_help_panel=panel or None,
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(_when_called(build))


def _when_called(build: Callable[[], Callable[..., None]]) -> Callable[[typer.Context], None]:
    def command(context: typer.Context) -> None:
        built = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        built.command()(build())
        built(args=context.args, prog_name=context.command_path)

    return command


def build_collect() -> Callable[..., None]:
    """The command `poolpilot collect`."""
    from poolpilot.pipelines.collect_settings import CollectSettings

    return as_command(CollectSettings, run_collect, COLLECT_HELP)


def run_collect(settings: "CollectSettings", json_path: Path | None) -> None:
    """Collects; the exit code is 1 when a workload failed and 130 when interrupted."""
    from poolpilot.pipelines.collect import collect
    from poolpilot.pipelines.data_card import write_data_card
    from poolpilot.pipelines.mariadb.staging import mariadb_staging, versions
    from poolpilot.pipelines.simulated_staging import simulated_staging

    if settings.server == "simulated":
        report = collect(settings, *simulated_staging(settings))
    elif settings.server == "mariadb":
        report = collect(settings, *mariadb_staging(settings))
        if report.complete:
            write_data_card(settings.store, versions())
    else:
        report = collect(settings)
    terminal().print(report.table())
    write_json(json_path, {**asdict(report), "store": str(report.store)})
    if report.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if report.failed:
        raise typer.Exit(1)


def build_train() -> Callable[..., None]:
    """The command `poolpilot train`."""
    from poolpilot.pipelines.train_settings import TrainSettings

    return as_command(TrainSettings, run_train, TRAIN_HELP)


def run_train(settings: "TrainSettings", json_path: Path | None) -> None:
    """Trains and shows how the model does on the validation workloads."""
    from poolpilot.pipelines.presentation import evaluation_table
    from poolpilot.pipelines.train import train

    console = terminal()
    report = train(settings, console)
    console.print(evaluation_table(report.evaluation))
    console.print(train_table(report))
    write_json(json_path, {**train_summary(report), **report.evaluation.as_dict()})


def train_summary(report: "TrainReport") -> dict[str, Any]:
    """What a training run made, fit for JSON."""
    return {
        "folder": str(report.folder),
        "model_digest": report.artefact.digest,
        "dataset_digest": report.artefact.card.training_digest,
        "variant": report.variant,
        "validation_scores": report.scores,
        "version": report.version,
        "run_id": report.run_id,
    }


def train_table(report: "TrainReport") -> Table:
    """What a training run made, as people read it."""
    table = Table(title="Model", show_header=False, title_justify="left")
    table.add_row("folder", str(report.folder))
    for name, score in sorted(report.scores.items(), key=lambda one: one[1]):
        chosen = ", chosen" if name == report.variant else ""
        table.add_row(f"validation score of {name}", f"{score:.4f}{chosen}")
    table.add_row("version in the registry", report.version)
    table.add_row("digest", report.artefact.digest[:12])
    return table


def build_evaluate() -> Callable[..., None]:
    """The command `poolpilot evaluate`."""
    from poolpilot.pipelines.evaluate import EvaluateSettings

    return as_command(EvaluateSettings, run_evaluate, EVALUATE_HELP)


def run_evaluate(settings: "EvaluateSettings", json_path: Path | None) -> None:
    """Evaluates, on records or live, and shows the table of methods."""
    if settings.server == "mariadb":
        from poolpilot.pipelines.mariadb.evaluate import evaluate_live

        console = terminal()
        live = evaluate_live(settings, console)
        console.print(live.table())
        write_json(json_path, live.as_dict())
        return
    from poolpilot.pipelines.evaluate import evaluate
    from poolpilot.pipelines.presentation import evaluation_table

    evaluation, artefact, dataset = evaluate(settings)
    terminal().print(evaluation_table(evaluation))
    digests = {"model_digest": artefact.digest, "dataset_digest": dataset.digest}
    write_json(json_path, {**digests, **evaluation.as_dict()})


def build_promote() -> Callable[..., None]:
    """The command `poolpilot promote`."""
    from poolpilot.pipelines.promote import PromoteSettings

    return as_command(PromoteSettings, run_promote, PROMOTE_HELP)


def run_promote(settings: "PromoteSettings", json_path: Path | None) -> None:
    """Promotes; the exit code is 3 when the gate refuses."""
    from poolpilot.pipelines.promote import promote

    promotion = promote(settings)
    terminal().print(promotion_table(promotion))
    write_json(json_path, asdict(promotion))
    if promotion.objections:
        raise typer.Exit(REFUSED)


def build_calibrate() -> Callable[..., None]:
    """The command `poolpilot calibrate`."""
    from poolpilot.pipelines.calibrate import CalibrateSettings

    return as_command(CalibrateSettings, run_calibrate, CALIBRATE_HELP)


def run_calibrate(settings: "CalibrateSettings", json_path: Path | None) -> None:
    """Calibrates, writes the machine and shows how well it does; the exit code is 130 when interrupted."""
    from poolpilot.pipelines.calibrate import calibrate
    from poolpilot.pipelines.machine_file import write_machine

    console = terminal()
    calibration = calibrate(settings, console)
    write_machine(settings.output, calibration.machine)
    console.print(calibration.table())
    console.print(f"the machine is in {settings.output}", soft_wrap=True)
    write_json(json_path, calibration.as_dict())
    if calibration.stopped:
        raise typer.Exit(INTERRUPTED)


def build_simulate() -> Callable[..., None]:
    """The command `poolpilot simulate`."""
    from poolpilot.pipelines.simulate import SimulateSettings

    return as_command(SimulateSettings, run_simulate, SIMULATE_HELP)


def run_simulate(settings: "SimulateSettings", json_path: Path | None) -> None:
    """Simulates and shows the tables; writes the heat maps where they are asked for."""
    from poolpilot.pipelines.simulate import what_if

    found = what_if(settings)
    terminal().print(found.shown())
    if settings.png is not None:
        found.figure().savefig(settings.png, dpi=120)
    write_json(json_path, found.as_dict())


def build_search() -> Callable[..., None]:
    """The command `poolpilot search`."""
    from poolpilot.pipelines.searching.settings import PANELS, SearchRunSettings

    return as_command(SearchRunSettings, run_search, SEARCH_HELP, argument="dsn", panels=PANELS)


def run_search(settings: "SearchRunSettings", json_path: Path | None) -> None:
    """Searches and shows what was found; the exit code is 130 when interrupted."""
    from poolpilot.pipelines.searching.search import search

    run = search(settings, terminal(), json_path)
    if run is not None and run.interrupted:
        raise typer.Exit(INTERRUPTED)


def build_bench_pool() -> Callable[..., None]:
    """The command `poolpilot bench pool`."""
    from poolpilot.pipelines.bench.serving.settings import PoolBenchSettings

    return as_command(PoolBenchSettings, run_bench_pool, BENCH_POOL_HELP)


def run_bench_pool(settings: "PoolBenchSettings", json_path: Path | None) -> None:
    """Benchmarks the live pool and shows a table for each part."""
    from poolpilot.pipelines.bench.pool import bench_pool

    bench = bench_pool(settings)
    terminal().print(bench.tables())
    write_json(json_path, bench.as_dict())


def build_bench_simulator() -> Callable[..., None]:
    """The command `poolpilot bench simulator`."""
    from poolpilot.pipelines.bench.simulator import SimulatorBenchSettings

    return as_command(SimulatorBenchSettings, run_bench_simulator, BENCH_SIMULATOR_HELP)


def run_bench_simulator(settings: "SimulatorBenchSettings", json_path: Path | None) -> None:
    """Benchmarks the simulator and shows the rates."""
    from poolpilot.pipelines.bench.simulator import bench_simulator

    bench = bench_simulator(settings)
    terminal().print(bench.table())
    write_json(json_path, bench.as_dict())


def promotion_table(promotion: "Promotion") -> Table:
    """What the gate said, as people read it."""
    table = Table(title="Promotion", show_header=False, title_justify="left")
    for name, value in promotion.regrets.items():
        table.add_row(f"mean regret of the {name}", f"{value:.2%}")
    for objection in promotion.objections:
        table.add_row("refused", objection)
    passed = "is now the champion" if promotion.promoted else "would become the champion (dry run)"
    if not promotion.objections:
        table.add_row("candidate", f"{promotion.candidate[:12]} {passed}")
    return table


def build_bench_climbers() -> Callable[..., None]:
    """The command `poolpilot bench climbers`."""
    from poolpilot.pipelines.bench.climbers import ClimbersBenchSettings

    return as_command(ClimbersBenchSettings, run_bench_climbers, BENCH_CLIMBERS_HELP)


def run_bench_climbers(settings: "ClimbersBenchSettings", json_path: Path | None) -> None:
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
