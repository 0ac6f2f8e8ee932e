"""`poolpilot learn collect`."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from poolpilot.env.measurement.other_work import other_work
from poolpilot.env.output import terminal, warn, write_json
from poolpilot.serve.commands.presentation.exit_codes import INTERRUPTED

if TYPE_CHECKING:
    from poolpilot.pipelines.collect.collect_settings import CollectSettings


def run(settings: "CollectSettings", json_path: Path | None) -> None:
    """Collects; the exit code is 1 when a workload failed and 130 when interrupted."""
    from poolpilot.pipelines.collect.collect import collect
    from poolpilot.pipelines.collect.staging import mariadb_staging, simulated_staging, versions
    from poolpilot.pipelines.logged_run import logged_run
    from poolpilot.pipelines.store.data_card import write_data_card

    if settings.server != "simulated":
        warn(other_work(), terminal())
    with logged_run("collect", settings, settings.tracking) as logged:
        if settings.server == "simulated":
            report = collect(settings, *simulated_staging(settings))
        elif settings.server == "mariadb":
            report = collect(settings, *mariadb_staging(settings))
        else:
            report = collect(settings)
        logged.result = {**asdict(report), "store": str(report.store)}
        if report.stopped == "interrupted":  # a time budget that is spent was planned
            logged.ending = "KILLED"
        if report.complete and settings.server != "simulated":
            write_data_card(settings.store, versions() if settings.server == "mariadb" else {})
        terminal().print(report.table())
        write_json(json_path, logged.result)
    if report.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if report.failed:
        raise typer.Exit(1)
