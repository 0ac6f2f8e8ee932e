"""`poolpilot config check`: every setting of a tuner or a service explained, and what it needs tried."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import typer
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from poolpilot.env.output import terminal, write_json
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.errors import SettingError
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.restoration.mariadb_target import connect
from poolpilot.serve.commands.config.account_trial import ANOTHER_TUNER, AccountTrial, trials
from poolpilot.serve.commands.config.explained_setting import ExplainedSetting, Origin, explained
from poolpilot.serve.commands.config.part_trials import part_trials
from poolpilot.serve.commands.config.service_trials import service_trials
from poolpilot.serve.commands.options.settings_command import as_command
from poolpilot.serve.commands.presentation.exit_codes import REFUSED
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.service.service_settings import ServeSettings

CHECK_HELP = (
    "Explain every setting of `poolpilot tune`, and try the account: what it sees and may set, what brings a "
    "configuration back when the tuner dies, and threads and memory at worst; then its models, the way to a service "
    "and the port of its page. With --program serve: those of `poolpilot serve`, its models, tokens, certificate, "
    "outcomes and port. Nothing is changed, and no service is asked.\n\n"
    "It ends with 0 where the settings can be followed, 1 where they are wrong or the server cannot be reached, and 3 "
    "where they name no server, or account, server or host lack what they ask for."
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
        description="TOML file that the program's --config is to be given.",
        json_schema_extra={"metavar": "FILE"},
    )
    program: Literal["tune", "serve"] = Field(default="tune", description="Whose settings they are: tune or serve.")
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
    flags = {} if settings.dsn is None else {"dsn": settings.dsn}
    loaded = _loaded(settings, flags)
    rows = explained(loaded, settings.file, flags)
    console.print(*told(rows, all_of_them=settings.defaults), sep="\n")
    tried = _tried(loaded)
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


def _loaded(settings: CheckConfigSettings, flags: Mapping[str, str]) -> TuneSettings | ServeSettings:
    """The settings of the program, fit to be shown.

    Raises:
        SettingError: They are wrong.
    """
    if settings.program == "serve":
        if flags:
            raise SettingError("a DSN is of a tuner: leave it out, or leave out --program serve")
        return ServeSettings.load(settings.file, flags)
    tuner = TuneSettings.load(settings.file, flags)
    if tuner.dsn is not None:
        Dsn.parse(tuner.dsn)  # one with a password is refused
    return tuner


def _tried(loaded: TuneSettings | ServeSettings) -> list[AccountTrial]:
    if isinstance(loaded, ServeSettings):
        return list(service_trials(loaded))
    loaded.check()
    if loaded.dsn is None:
        named = AccountTrial.of("server", "named, and no MariaDB: it has no account to try", loaded.check_named)
        return [named, *part_trials(loaded, beside_another=False)]
    with connect(loaded.dsn, loaded.defaults_file, loaded.procedure, loaded.cpus) as server:
        tried = list(trials(loaded, server))
    another = any(trial.name == ANOTHER_TUNER and not trial.good for trial in tried)
    return [*tried, *part_trials(loaded, beside_another=another)]
