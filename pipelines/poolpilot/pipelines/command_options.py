"""Turns a settings model into a function that typer makes a command of: one flag for every field."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from poolpilot.env.program_settings import ProgramSettings

Settings = TypeVar("Settings", bound=ProgramSettings)


def as_command(
    model: type[Settings], run: Callable[[Settings, Path | None], None], description: str
) -> Callable[..., None]:
    """A function with one optional parameter for every field of a settings model, plus --config and --json.

    Args:
        model: The settings.
        run: What the command does, given the settings and where to write its table as JSON (None: nowhere).
        description: Help text of the command.
    """
    fields = dict(_leaves(model))

    def command(**given: Any) -> None:
        config, json_path = given.pop("config"), given.pop("json_path")
        flags = {name: given[_identifier(name)] for name in fields}
        run(model.load(config, {name: None if value == [] else value for name, value in flags.items()}), json_path)

    parameters = [_parameter(name, field) for name, field in fields.items()]
    parameters.append(_optional("config", Path, "--config", "TOML file of settings; environment and flags win."))
    parameters.append(_optional("json_path", Path, "--json", "Write the table to this file as JSON."))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__doc__ = description
    return command


def _leaves(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _leaves(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    flag = f"--{name.replace('_', '-')}"
    kind: Any = field.annotation
    if kind is bool:
        flag = f"{flag}/--no-{name.replace('_', '-')}"
    elif get_origin(kind) is tuple:
        element: Any = get_args(kind)[0]
        kind = list[element] if isinstance(element, type) else list[str]  # typer has no lists of literals
    description = f"{field.description} \\[default: {_shown(field.default)}]"
    return _optional(_identifier(name), kind, flag, description, panel=name.rpartition(".")[0])


def _optional(identifier: str, kind: Any, flag: str, description: str, panel: str = "") -> inspect.Parameter:
    option = typer.Option(flag, help=description, show_default=False, rich_help_panel=panel or None)
    annotation = Annotated[kind | None, option]
    return inspect.Parameter(identifier, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _identifier(name: str) -> str:
    return name.replace(".", "__")


def _shown(default: object) -> str:
    return " ".join(map(str, default)) if isinstance(default, tuple) else str(default)
