"""`poolpilot bundle`: what a report of a fault needs, in one file and without secrets."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.console import Console
from rich.table import Table

from poolpilot.env.output import check_folder, terminal, warn, write_json
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.errors import ServerError, SettingError
from poolpilot.mariadb.restoration.journal import journal_folder
from poolpilot.serve.commands.bundle.bundle_part import BundlePart


class BundleSettings(ProgramSettings):
    """Settings of `poolpilot bundle`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_BUNDLE_")

    dsn: str | None = Field(default=None, description="A MariaDB server to observe for two seconds: its diagnosis.")
    defaults_file: Path | None = Field(
        default=None,
        description="The option file to read, not those of `mariadb`.",
    )
    settings: tuple[Path, ...] = Field(
        default=(),
        description="A settings file to take along; repeat it for more.",
    )
    log: Path | None = Field(
        default=None,
        description="Where decisions are kept; beside the journals if not given.",
    )
    last: int = Field(default=200, ge=1, le=10_000, description="Decisions for a server.")
    out: Path = Field(
        default=Path("poolpilot-bundle.tar.gz"),
        description="File to write; there must be none yet.",
    )
    write: bool = Field(default=False, description="Write it.")
    show: str | None = Field(default=None, description="Print one of its files instead.")


def bundle(settings: BundleSettings, json_path: Path | None) -> None:
    """Gathers a bundle, shows what is in it, and writes it where that is asked for.

    Raises:
        SettingError: A file cannot be read or written, or there is no part of that name.
        StoreError: A secret would be left in it.
    """
    from poolpilot.serve.commands.bundle.bundle_archive import write_archive
    from poolpilot.serve.commands.bundle.bundle_contents import BundleSources, bundle_parts

    console = terminal()
    check_folder(settings.out)
    redaction = _redaction(settings)
    sources = BundleSources(journal_folder(), settings.log, settings.settings, settings.last, _diagnosis(settings))
    parts = list(bundle_parts(sources, redaction))
    if settings.show is not None:
        console.out(_named(settings.show, parts).text, highlight=False, end="")
        return
    _show(parts, console)
    if settings.write:
        written = write_archive(settings.out, parts, redaction)
        console.print(f"{settings.out}: {written} bytes; read it before you hand it on.", soft_wrap=True)
    else:
        console.print("Nothing is written. See a file with --show NAME, write them with --write.", soft_wrap=True)
    write_json(json_path, {"parts": [{"name": one.name, "holds": one.holds, "bytes": one.size} for one in parts]})


def _redaction(settings: BundleSettings) -> Any:
    from poolpilot.serve.commands.bundle.known_secrets import known_secrets, named_in
    from poolpilot.serve.commands.bundle.redaction import Redaction

    files = [] if settings.defaults_file is None else [settings.defaults_file]
    return Redaction(known_secrets(os.environ, [*files, *settings.settings, *named_in([settings.dsn or ""])]))


def _diagnosis(settings: BundleSettings) -> dict[str, Any] | None:
    """What is wrong with the server of the DSN, or why that cannot be told; None where none is named."""
    if settings.dsn is None:
        return None
    from poolpilot.serve.commands.observe.check_command import CheckSettings, found_of

    console = terminal(stderr=True)  # what is shown with --show stands alone
    asked = CheckSettings(dsn=settings.dsn, defaults_file=settings.defaults_file)
    try:
        where, diagnosis = found_of(asked, console)
    except ServerError as error:  # when a bundle is wanted most
        warn([f"the server is not diagnosed: {error}"], console)
        return {"where": settings.dsn, "error": str(error)}
    return {**where, **diagnosis.as_dict()}


def _named(name: str, parts: Sequence[BundlePart]) -> BundlePart:
    for part in parts:
        if part.name == name:
            return part
    raise SettingError(f"the bundle has no file {name!r}; there are {', '.join(part.name for part in parts)}")


def _show(parts: Sequence[BundlePart], console: Console) -> None:
    table = Table("file", "holds", "bytes", title="Bundle", title_justify="left")
    for part in parts:
        table.add_row(part.name, part.holds, str(part.size))
    console.print(table)
