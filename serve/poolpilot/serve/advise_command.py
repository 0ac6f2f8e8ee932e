"""`poolpilot advise`: a few seconds' look at a MariaDB server, and the tuple that suits what was seen."""

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from poolpilot.env.backends.mariadb import MariadbServer
from poolpilot.env.measurement import observe
from poolpilot.env.objective import Objective
from poolpilot.env.targets.mariadb import connect
from poolpilot.featurizer.errors import ServerError
from poolpilot.models.champion import champion_folder, load_champion
from poolpilot.models.memory import Memory
from poolpilot.models.predictor import ScorePredictor
from poolpilot.models.reasons import percent
from poolpilot.serve.advice import Advice, advice_of
from poolpilot.serve.mariadb_server import DefaultsFile, DsnArgument, warn
from poolpilot.serve.predict_command import write_json


def advise(
    dsn: DsnArgument,
    defaults_file: DefaultsFile = None,
    seconds: Annotated[float, typer.Option(min=0.5, max=600.0, help="How long to look.")] = 5.0,
    model: Annotated[Path | None, typer.Option(help="Folder of a model artefact instead of the champion.")] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="Write the advice to this file.")] = None,
) -> None:
    """Look at a MariaDB server for a few seconds and say which tuple would suit its workload; changes nothing."""
    console = Console()
    with connect(dsn, defaults_file) as server:
        warn(server.warnings, console)
        console.print(f"Looking at {server.session.where} for {seconds:g} s; nothing is changed.", soft_wrap=True)
        advice = look(server, seconds, model)
    console.print(advice_table(advice))
    if advice.statements:
        console.print("To set it now, capacity first:", *advice.statements, sep="\n", highlight=False)
        console.print("A restart forgets that; for my.cnf:", *advice.fragment, sep="\n", highlight=False, markup=False)
    if json_path is not None:
        write_json(json_path, advice.as_dict())


def look(server: MariadbServer, seconds: float, model: Path | None) -> Advice:
    """Watches a server under the tuple in force and asks the model.

    Raises:
        ServerError: The server stopped, or nobody sent it anything.
        ArtefactError: There is no model for MariaDB.
    """
    artefact = load_champion(model, "mariadb")
    memory = Memory.load(champion_folder(model, "mariadb"))
    window = observe(server, seconds).window
    if window.throughput_per_s <= 0.0:
        raise ServerError(
            f"no client sent anything to {server.session.where} within {seconds:g} s: there is no workload to judge; "
            "look again while it is under load"
        )
    prediction = ScorePredictor(artefact).predict([window], server.knobs, Objective())
    return advice_of(server, window, prediction, memory)


def advice_table(advice: Advice) -> Table:
    """The advice as people read it."""
    prediction = advice.prediction
    table = Table(title="Advice", show_header=False, title_justify="left")
    for number, sentence in enumerate(advice.workload):
        table.add_row("workload" if number == 0 else "", sentence)
    if advice.alike:
        table.add_row("memory", advice.alike)
    table.add_row("in force", f"{prediction.in_force} (size, oversubscribe, stall limit in ms)")
    table.add_row("advice", f"leave it at {prediction.pool_tuple}" if prediction.keeps else str(prediction.pool_tuple))
    if not prediction.keeps:
        table.add_row("expected", _gain(advice))
    for number, reason in enumerate(prediction.reasons):
        table.add_row("because" if number == 0 else "", reason)
    if not prediction.keeps:
        threads = f"{advice.worst_threads} threads, {advice.worst_memory_mb:.0f} MB of stacks at most"
        table.add_row("worst case", threads)
    for sentence in advice.after_restart:
        table.add_row("restart only", sentence)
    table.add_row("model", prediction.model_digest[:12])
    return table


def _gain(advice: Advice) -> str:
    prediction = advice.prediction
    if prediction.expected_gain is None or prediction.gain_low is None or prediction.gain_high is None:
        return "not estimated"
    ends = (prediction.expected_gain, prediction.gain_low, prediction.gain_high)
    if prediction.expected_gain < math.log(2.0):
        expected, low, high = map(percent, ends)
        return f"{expected} requests in time ({low} to {high})"
    factor, least, most = map(math.exp, ends)
    return f"{factor:.1f} times the requests in time ({least:.1f} to {most:.1f})"
