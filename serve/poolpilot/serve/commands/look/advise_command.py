"""`poolpilot advise`: a few seconds' look at a MariaDB server, and the tuple that suits what was seen."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.output import terminal, warn, write_json
from poolpilot.env.servers.mariadb import MariadbServer
from poolpilot.env.tuning.mariadb_target import connect
from poolpilot.errors import ServerError
from poolpilot.models.champion import load_for
from poolpilot.models.predictor import ScorePredictor
from poolpilot.serve.commands.look.advice import Advice, advice_of
from poolpilot.serve.commands.options.mariadb_options import DefaultsFile, DsnArgument
from poolpilot.serve.commands.presentation.verdict import FIND_OUT, verdict_rows


def advise(
    dsn: DsnArgument,
    defaults_file: DefaultsFile = None,
    seconds: Annotated[float, typer.Option(min=0.5, max=600.0, help="How long to look.")] = 5.0,
    model: Annotated[Path | None, typer.Option(help="Folder of a model artefact instead of the champion.")] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="Write the advice to this file.")] = None,
) -> None:
    """Look at a MariaDB server for a few seconds and say which tuple would suit its workload; changes nothing."""
    console = terminal()
    with connect(dsn, defaults_file) as server:
        warn(server.warnings, console)
        console.print(f"Looking at {server.session.where} for {seconds:g} s; nothing is changed.", soft_wrap=True)
        advice = look(server, seconds, model, in_a_shell(dsn, defaults_file))
    console.print(advice_table(advice))
    if advice.next_steps:
        console.print(FIND_OUT, *advice.next_steps, sep="\n", highlight=False, soft_wrap=True)
    advice.to_set.print(console)
    write_json(json_path, advice.as_dict())


def in_a_shell(dsn: str, defaults_file: Path | None) -> str:
    """What names the same server to another command."""
    return shlex.join([dsn] if defaults_file is None else [dsn, "--defaults-file", str(defaults_file)])


def look(server: MariadbServer, seconds: float, model: Path | None, named: str) -> Advice:
    """Watches a server under the tuple in force and asks the model.

    Args:
        server: The server.
        seconds: How long it is watched.
        model: Folder of the model; the champion if None.
        named: What names the server on a command line.

    Raises:
        ServerError: The server stopped, or nobody sent it anything.
        ArtefactError: There is no model for MariaDB.
    """
    artefact = load_for("mariadb", model)
    window = observe(server, seconds).window
    if window.throughput_per_s <= 0.0:
        raise ServerError(
            f"no client sent anything to {server.session.where} within {seconds:g} s: there is no workload; "
            "look again while it is under load"
        )
    prediction = ScorePredictor(artefact).predict([window], server.knobs, Objective())
    return advice_of(server, window, prediction, artefact.repository, named)


def advice_table(advice: Advice) -> Table:
    """The advice as people read it."""
    prediction = advice.prediction
    table = Table(title="Advice", show_header=False, title_justify="left")
    for number, sentence in enumerate(advice.workload):
        table.add_row("workload" if number == 0 else "", sentence)
    if advice.similar:
        table.add_row("similar workload", advice.similar)
    table.add_row("in force", f"{prediction.in_force} (size, oversubscribe, stall limit in ms)")
    for row in verdict_rows(prediction):
        table.add_row(*row)
    if not prediction.keeps:
        threads = f"{advice.worst_threads} threads, {advice.worst_memory_mb:.0f} MB of stacks at most"
        table.add_row("worst case", threads)
    for sentence in advice.after_restart:
        table.add_row("restart only", sentence)
    table.add_row("model", prediction.model_digest[:12])
    return table
