"""`poolpilot learn`."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table

from poolpilot.env.output import terminal, warn, write_json
from poolpilot.serve.commands.presentation.exit_codes import REFUSED

if TYPE_CHECKING:
    from poolpilot.pipelines.learn.learn import LearnReport
    from poolpilot.pipelines.learn.learn_settings import LearnSettings
    from poolpilot.pipelines.production.production_outcome import ProductionOutcome


def run(settings: "LearnSettings", json_path: Path | None) -> None:
    """Learns; the exit code is 1 when the user's own server could not be restored and 3 when the gate refuses."""
    from poolpilot.pipelines.learn.learn import learn

    console = terminal()
    left_out = partial(_told, console)
    given = () if settings.outcomes is None else reported_outcomes(settings.outcomes, left_out)
    try:
        report = learn(settings, console, given)
    except KeyboardInterrupt:
        console.print(f"Stopped; what is finished is kept in {settings.out}. The same command goes on.", soft_wrap=True)
        raise
    console.print(learn_table(report))
    write_json(json_path, learn_summary(report))
    if report.not_brought_back is not None:
        raise typer.Exit(1)
    if report.objections:
        raise typer.Exit(REFUSED)


def _told(console: Console, reason: str) -> None:
    warn([f"{reason}: it is left out"], console)


def reported_outcomes(folder: Path, on_left_out: Callable[[str], None]) -> Iterator["ProductionOutcome"]:
    """What the service has kept, as staging takes it in.

    Args:
        folder: Where it keeps them.
        on_left_out: Is told of each line that is no outcome, or has the identifier of another one.

    Raises:
        StoreError: The folder or a segment cannot be read.
    """
    from poolpilot.pipelines.production.production_outcome import ProductionOutcome
    from poolpilot.serve.service.outcomes.outcome_segments import read_outcomes

    for outcome in read_outcomes(folder, on_left_out):
        before, after = outcome.request.windows
        yield ProductionOutcome(
            id=outcome.id,
            server_id=outcome.server_id,
            propensity=outcome.propensity,
            model_digest=outcome.model_digest,
            verdict=outcome.verdict,
            before=before,
            after=after,
            limits=outcome.request.limits,
            objective=outcome.request.objective,
        )


def learn_summary(report: "LearnReport") -> dict[str, Any]:
    """What a run has done, fit for JSON."""
    return {**asdict(report), "out": str(report.out), "folder": None if report.folder is None else str(report.folder)}


def learn_table(report: "LearnReport") -> Table:
    """What a run has done, as people read it."""
    table = Table(title="Learned", show_header=False, title_justify="left")
    if report.taken_in:
        table.add_row("outcomes taken in", str(report.taken_in))
    if report.production is not None:
        table.add_row("in production", report.production)
    for row in report.rounds:
        table.add_row(f"after {row['minutes']:g} minutes", f"{row['own_curves']} curves of your own")
        for sentence in row["in_words"]:
            table.add_row("", sentence)
    if report.not_brought_back is not None:
        table.add_row("your own server", f"does not have its first configuration back: {report.not_brought_back}")
    for objection in report.objections:
        table.add_row("refused", objection)
    if report.folder is not None:
        table.add_row("learned", str(report.folder))
    if report.in_force is not None:
        table.add_row("in force", f"{report.out / 'current'} ({report.in_force[:12]})")
    return table
