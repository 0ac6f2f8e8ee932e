"""`poolpilot config check`: every setting of a tuner explained, and its account tried; nothing is changed."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import typer
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from poolpilot.env.mariadb.dsn import Dsn
from poolpilot.env.output import terminal, write_json
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.env.tuning.mariadb_target import connect
from poolpilot.serve.commands.config.account_trial import ANOTHER_TUNER, AccountTrial, trials
from poolpilot.serve.commands.config.explained_setting import ExplainedSetting, Origin, explained
from poolpilot.serve.commands.config.part_trials import part_trials
from poolpilot.serve.commands.options.settings_command import as_command
from poolpilot.serve.commands.presentation.exit_codes import REFUSED
from poolpilot.serve.commands.tune.tune_settings import TuneSettings

CHECK_HELP = (
    "Explain every setting of `poolpilot tune`, and try the account: what it sees and may set, what brings a "
    "configuration back when the tuner dies, and threads and memory at worst; then its models, the way to a service "
    "and the port of its page. Nothing is changed, and no service is asked.\n\n"
    "It ends with 0 where the settings can be followed, 1 where they are wrong or the server cannot be reached, and 3 "
    "where account, server or host lack what they ask for."
)


class CheckConfigSettings(ProgramSettings):
    """What is looked at."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_CONFIG_")

    dsn: str | None = Field(
        default=None,
        description="The server, such as S=/run/mysqld/mysqld.sock; that of the file if not given.",
        json_schema_extra={"metavar": "[DSN]"},
    )
    file: Path | None = Field(
        default=None,
        description="TOML file that `poolpilot tune --config` is to be given.",
        json_schema_extra={"metavar": "FILE"},
    )
    defaults: bool = Field(
        default=False,
        description="Explain the settings that nobody named, too.",
        json_schema_extra={"flag": "--defaults"},
    )


def build_check() -> Callable[..., None]:
    """The command `poolpilot config check`."""
    return as_command(CheckConfigSettings, check_config, CHECK_HELP, argument="dsn", config_flags=())


def check_config(settings: CheckConfigSettings, json_path: Path | None) -> None:
    """Explains and tries.

    Raises:
        SettingError: The file, the environment or the DSN is wrong.
        ServerError: The server cannot be reached, or cannot be tuned.
        Exit: With 3, where the settings cannot be followed.
    """
    console = terminal()
    flags = {"dsn": settings.dsn}
    tuner = TuneSettings.load(settings.file, flags)
    if tuner.dsn is not None:
        Dsn.parse(tuner.dsn)  # before it is shown: one with a password is refused
    rows = explained(tuner, settings.file, flags)
    console.print(*told(rows, all_of_them=settings.defaults), sep="\n")
    tuner.check()
    tried = _tried(tuner, console)
    if tried:
        console.print(trials_table(tried))
    write_json(json_path, {"settings": [row.as_dict() for row in rows], "trials": [trial.as_dict() for trial in tried]})
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


def _tried(tuner: TuneSettings, console: Console) -> list[AccountTrial]:
    if tuner.dsn is None:
        console.print('No server is named, so its account was not tried: give its DSN, or dsn = "..." in the file.')
        return list(part_trials(tuner, beside_another=False))
    with connect(tuner.dsn, tuner.defaults_file, tuner.procedure, tuner.cpus) as server:
        tried = list(trials(tuner, server))
    another = any(trial.name == ANOTHER_TUNER and not trial.good for trial in tried)
    return [*tried, *part_trials(tuner, beside_another=another)]
