"""`poolpilot check --settings`: settings explained; what a tuner or a service needs is tried."""

from collections.abc import Iterator, Sequence

import typer
from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from poolpilot.env.output import terminal, write_json
from poolpilot.env.program_settings import ProgramSettings, assigned
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.restoration.mariadb_target import connect
from poolpilot.serve.commands.command_line.given_flags import CommandLine
from poolpilot.serve.commands.command_line.uses import use_named
from poolpilot.serve.commands.config.account_trial import ANOTHER_TUNER, AccountTrial, trials
from poolpilot.serve.commands.config.explained_setting import ExplainedSetting, Origin, explained, is_complete
from poolpilot.serve.commands.config.part_trials import part_trials
from poolpilot.serve.commands.config.service_trials import service_trials
from poolpilot.serve.commands.presentation.exit_codes import REFUSED
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.service.service_settings import ServeSettings


def check_settings(use: str, line: CommandLine, *, all_of_them: bool) -> None:
    """Explains the settings of a command, and tries what a tuner or a service needs.

    Args:
        use: The command, such as `tune` or `climb --search`.
        line: What the command would be given.
        all_of_them: Whether settings that nobody named are explained too.

    Raises:
        SettingError: There is no such command; or the file, the environment or the DSN is wrong.
        ServerError: The server cannot be reached, or cannot be tuned.
        Exit: With 3, where the settings cannot be followed.
    """
    console, model = terminal(), use_named(use).model()
    given = {**line.flags, **assigned(model, line.assignments)}
    # What a command cannot do without is explained where nobody has given it, too.
    loaded = line.settings(model, use) if is_complete(model, line.config, given) else model.model_construct()
    if isinstance(loaded, TuneSettings) and loaded.dsn is not None:
        Dsn.parse(loaded.dsn)  # one with a password is refused
    rows = explained(loaded, line.config, given)
    console.print(*told(rows, all_of_them=all_of_them), sep="\n")
    tried = _tried(loaded)
    if tried:
        console.print(trials_table(tried))
    as_rows = {"settings": [row.as_dict() for row in rows], "trials": [trial.as_dict() for trial in tried]}
    write_json(line.json_path, as_rows)
    if any(trial.refuses for trial in tried):
        console.print("The settings cannot be followed: see `no` above.")
        raise typer.Exit(REFUSED)


def told(rows: Sequence[ExplainedSetting], *, all_of_them: bool) -> Iterator[RenderableType]:
    """The settings as people read them: those that somebody named, or all; each with what it means below it."""
    shown = [row for row in rows if all_of_them or row.origin is not Origin.DEFAULT]
    if not shown:
        yield "Nobody named a setting; --defaults explains them all."
    for row in shown:
        origin = f"{row.origin}, not {row.hidden}" if row.hidden else str(row.origin)
        allowed = f"; allowed: {row.allowed}" if row.allowed else ""
        yield Text.assemble((row.name, "bold"), f" = {row.value} ({origin}{allowed})")
        yield Padding(Text(row.meaning, style="dim"), (0, 0, 0, 4))


def trials_table(tried: Sequence[AccountTrial]) -> Table:
    """What was tried, as people read it."""
    table = Table(title="What was tried", title_justify="left", box=SIMPLE_HEAD, show_edge=False)
    table.add_column("tried", no_wrap=True)
    table.add_column("good", no_wrap=True)
    table.add_column("found", ratio=1)
    for trial in tried:
        verdict = "yes" if trial.good else "no" if trial.needed else "-"
        found = Text.assemble(trial.found, (f"\n{trial.remedy}" if trial.remedy else "", "dim"))
        table.add_row(trial.name, Text(verdict, style="bold red" if trial.refuses else ""), found)
    return table


def _tried(loaded: ProgramSettings) -> list[AccountTrial]:
    if isinstance(loaded, ServeSettings):
        return list(service_trials(loaded))
    if not isinstance(loaded, TuneSettings):
        return []
    loaded.check()
    if loaded.dsn is None:
        named = AccountTrial.of("server", "named, and no MariaDB: it has no account to try", loaded.check_named)
        return [named, *part_trials(loaded, beside_another=False)]
    with connect(loaded.dsn, loaded.defaults_file, loaded.procedure, loaded.cpus) as server:
        tried = list(trials(loaded, server))
    another = any(trial.name == ANOTHER_TUNER and not trial.good for trial in tried)
    return [*tried, *part_trials(loaded, beside_another=another)]
