"""`poolpilot advise`: observes a MariaDB server for a few seconds, and says which configuration suits it."""

import shlex
from itertools import chain
from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.table import Table

from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import LEAST_ROWS_SHARE, Objective
from poolpilot.env.output import introduce, terminal, warn, write_json
from poolpilot.errors import ServerError
from poolpilot.featurizer.window import Window
from poolpilot.mariadb.restoration.journal import journal_folder
from poolpilot.mariadb.restoration.kept_observations import KeptObservations
from poolpilot.mariadb.restoration.mariadb_target import connect
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.observations.disturbances import disturbances_of
from poolpilot.serve.commands.observe.advice import Advice, advice_of
from poolpilot.serve.commands.options.mariadb_options import Cpus, MariadbOptions, MinRowsShare
from poolpilot.serve.commands.presentation.verdict import FIND_OUT, OBSERVE_AGAIN, verdict_rows

LEAST_RUNNING = 0.5
"""Requests that run or wait, on average, from which on a window in which none began is not that of an idle server."""


class AdviseSettings(MariadbOptions):
    """Settings of `poolpilot advise`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_ADVISE_")

    cpus: Cpus = None
    min_rows_share: MinRowsShare = LEAST_ROWS_SHARE
    seconds: float = Field(default=5.0, ge=0.5, le=600.0, description="Seconds to observe.")
    model: Path | None = Field(
        default=None, description="Folder that `poolpilot learn` has left, or of a network; `network` is what ships."
    )


def advise(settings: AdviseSettings, json_path: Path | None) -> None:
    """Observes a server and shows the advice.

    Raises:
        SettingError: The DSN, the defaults file or the file to write is wrong.
        ServerError: The server cannot be reached or tuned, or nobody sends it anything.
        ArtefactError: The model is missing, damaged, or for another kind of server.
    """
    console = terminal()
    advisor = Advisor.load(settings.model, "mariadb")  # a wrong one is refused before anybody connects
    with connect(settings.dsn, settings.defaults_file, None, settings.cpus) as server:
        introduce(server.reached, server.warnings, console)
        reached = server.reached.as_dict()
        console.print(
            f"Observing {server.session.where} for {settings.seconds:g} s; nothing is changed.", soft_wrap=True
        )
        advice = observed(server, settings, advisor)
    console.print(advice_table(advice))
    if advice.to_name_cpus is not None:
        console.print("With the number of its processors in place of N:", advice.to_name_cpus, sep="\n", soft_wrap=True)
    if advice.next_steps:
        heading = OBSERVE_AGAIN if disturbances_of([advice.window]) else FIND_OUT
        console.print(heading, *advice.next_steps, sep="\n", highlight=False, soft_wrap=True)
    advice.to_set.print(console)
    write_json(json_path, {"reached": reached, **advice.as_dict()})


def in_a_shell(settings: AdviseSettings) -> str:
    """What names the same server, and says the same of it, to another command."""
    said = {
        "--defaults-file": settings.defaults_file,
        "--cpus": settings.cpus,
        "--min-rows-share": None if settings.min_rows_share == LEAST_ROWS_SHARE else settings.min_rows_share,
    }
    named = ((flag, str(value)) for flag, value in said.items() if value is not None)
    return shlex.join([settings.dsn, *chain.from_iterable(named)])


def observed(server: MariadbServer, settings: AdviseSettings, advisor: Advisor) -> Advice:
    """Watches a server under the tuple in force and asks what it should be.

    Args:
        server: The server.
        settings: How it was named, how long it is watched, and what is left to long statements.
        advisor: Who is asked.

    Raises:
        ServerError: The server stopped, or nobody sent it anything.
        ArtefactError: The curves are missing or damaged.
    """
    window = observe(server, settings.seconds).window
    if window.throughput_per_s <= 0.0:
        raise _without_workload(server, window, settings)
    objective = Objective(min_rows_share=settings.min_rows_share)
    looks = KeptObservations(journal_folder(), server.reached.identity)
    windows = looks.on_the_way_to(window)
    prediction = advisor.predict(windows, server.knobs, objective)
    if (error := looks.keep(windows, prediction.pool_tuple)) is not None:
        warn([f"{looks.path} cannot be written ({error.strerror}): the next run will not know of this one"], terminal())
    named = in_a_shell(settings)
    repository = advisor.model.networks["mariadb"].network.artefact.repository
    return advice_of(server, windows, prediction, repository, named, objective, advisor.curves)


def _without_workload(server: MariadbServer, window: Window, settings: AdviseSettings) -> ServerError:
    """Why there is no advice where no statement began: none was sent, or those that run let none in."""
    ours = 0.0 if server.session.over_extra_port else 1.0
    running = (window.in_system or 0.0) - ours
    if running >= LEAST_RUNNING:
        named = in_a_shell(settings.model_copy(update={"min_rows_share": LEAST_ROWS_SHARE}))
        return ServerError(
            f"no statement began at {server.session.where} within {settings.seconds:g} s while {running:.0f} ran or "
            f"waited: that says nothing of a workload, and others may hang; poolpilot check {named} says "
            "what holds them"
        )
    return ServerError(
        f"no client sent anything to {server.session.where} within {settings.seconds:g} s: there is no workload; "
        "run it again while it is under load"
    )


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
    if advice.neutral is not None:
        table.add_row("untried", advice.neutral)
    if not prediction.keeps:
        threads = f"{advice.worst_threads} threads, {advice.worst_memory_mb:.0f} MB of stacks at most"
        table.add_row("worst case", threads)
    for sentence in advice.after_restart:
        table.add_row("restart only", sentence)
    table.add_row("model", prediction.model_digest[:12])
    return table
