"""From what stands on the command line to the settings of a command."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import typer
from pydantic import ValidationError

from poolpilot.env.output import check_folder
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.errors import SettingError

Settings = TypeVar("Settings", bound=ProgramSettings)

FILES = ("config", "assignments", "json_path")
"""Parameters that every command has and no settings model."""


class CommandLine(NamedTuple):
    """What was given.

    Attributes:
        flags: Values of flags and arguments by the name of the setting.
        config: File of settings.
        assignments: What stands behind `--set`.
        json_path: Where the result goes as JSON.
    """

    flags: Mapping[str, Any]
    config: Path | None
    assignments: list[str]
    json_path: Path | None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "CommandLine":
        """Takes the parameters of a command's function, `locals()` at its beginning."""
        flags = {name: value for name, value in given.items() if name not in FILES and value not in (None, [])}
        return cls(flags, given.get("config"), given.get("assignments") or [], given.get("json_path"))

    def without(self, *names: str) -> "CommandLine":
        """The same without flags that choose among several uses of a command."""
        return self._replace(flags={name: value for name, value in self.flags.items() if name not in names})

    def renamed(self, name: str, today: str) -> "CommandLine":
        """The same with another name for one flag, where a command has several uses."""
        return self._replace(flags={today if one == name else one: value for one, value in self.flags.items()})

    def settings(self, model: type[Settings], use: str) -> Settings:
        """The settings: `--set` wins over flags, these over the environment, that over the file.

        Args:
            model: The settings model.
            use: What the command is called in this use, for the error.

        Raises:
            BadParameter: A flag is not of this use, or one that this use must have is missing.
            SettingError: The file is missing or broken, or a value is refused.
        """
        for name in self.flags:
            if name not in model.model_fields:
                raise typer.BadParameter(f"{_shown(name)} is not of `poolpilot {use}`: leave it out")
        try:
            loaded = model.load(self.config, self.flags, self.assignments)
        except SettingError as error:
            if isinstance(error.__cause__, ValidationError):
                first = error.__cause__.errors()[0]
                if first["type"] == "missing":
                    raise typer.BadParameter(f"`poolpilot {use}` needs {_shown(str(first['loc'][0]))}") from error
            raise
        check_folder(self.json_path)
        return loaded


def _shown(name: str) -> str:
    """What a setting is called on the command line."""
    return "DSN" if name == "dsn" else f"--{name.replace('_', '-')}"
