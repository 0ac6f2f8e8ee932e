"""Commands made of a settings model: one flag for every field.

A model may need torch, Ray and others, so a command is built when it is called: the help of `poolpilot` stays quick,
and a base installation can show it.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from poolpilot.env.program_settings import ProgramSettings

Settings = TypeVar("Settings", bound=ProgramSettings)


def add_settings_command(
    app: typer.Typer, name: str, description: str, build: Callable[[], Callable[..., None]], panel: str = ""
) -> None:
    """Adds a command that is built when it is called.

    Args:
        app: Where to.
        name: Its name.
        description: Help text in the list of commands.
        build: Makes its function, as `as_command` does.
        panel: Group of the help it stands in.
    """
    app.command(
        name,
        help=description,
        rich_help_panel=panel or None,
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(_when_called(build))


def as_command(
    model: type[Settings],
    run: Callable[[Settings, Path | None], None],
    description: str,
    *,
    argument: str | None = None,
    panels: Mapping[str, Sequence[str]] | None = None,
) -> Callable[..., None]:
    """A function with one optional parameter for every field of a settings model, plus --config and --json.

    Args:
        model: The settings.
        run: What the command does, given the settings and where to write its table as JSON (None: nowhere).
        description: Help text of the command.
        argument: Field that is given by its place and not by a flag.
        panels: Fields by the group of the help they stand in; those of a nested model have one of their own.
    """
    panel_of = {name: panel for panel, names in (panels or {}).items() for name in names}
    places = list(panel_of)
    fields = dict(sorted(_leaves(model), key=lambda leaf: places.index(leaf[0]) if leaf[0] in panel_of else -1))

    def command(**given: Any) -> None:
        config, json_path = given.pop("config"), given.pop("json_path")
        flags = {name: given[_identifier(name)] for name in fields}
        run(model.load(config, {name: None if value == [] else value for name, value in flags.items()}), json_path)

    parameters = [
        _argument(name, field) if name == argument else _parameter(name, field, panel_of.get(name, ""))
        for name, field in fields.items()
    ]
    parameters.append(_optional("config", Path, "--config", "TOML file of settings; environment and flags win."))
    parameters.append(_optional("json_path", Path, "--json", "Write the table to this file as JSON."))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__doc__ = description
    return command


def _when_called(build: Callable[[], Callable[..., None]]) -> Callable[[typer.Context], None]:
    def command(context: typer.Context) -> None:
        built = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        built.command()(build())
        built(args=context.args, prog_name=context.command_path)

    return command


def _leaves(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _leaves(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def _argument(name: str, field: FieldInfo) -> inspect.Parameter:
    shown = typer.Argument(metavar=name.upper(), help=field.description, show_default=False)
    annotation = Annotated[field.annotation, shown]  # type: ignore[name-defined]
    return inspect.Parameter(_identifier(name), inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _parameter(name: str, field: FieldInfo, panel: str) -> inspect.Parameter:
    flag = f"--{name.replace('_', '-')}"
    kind: Any = field.annotation
    if kind is bool:
        flag = f"{flag}/--no-{name.replace('_', '-')}"
    elif get_origin(kind) is tuple:
        element: Any = get_args(kind)[0]
        kind = list[element] if isinstance(element, type) else list[str]  # typer has no lists of literals
    default = "" if field.default is None else f" \\[default: {_shown(field.default)}]"
    description = f"{field.description}{default}"
    return _optional(_identifier(name), kind, flag, description, panel=panel or name.rpartition(".")[0])


def _optional(identifier: str, kind: Any, flag: str, description: str, panel: str = "") -> inspect.Parameter:
    option = typer.Option(flag, help=description, show_default=False, rich_help_panel=panel or None)
    annotation = Annotated[kind | None, option]
    return inspect.Parameter(identifier, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _identifier(name: str) -> str:
    return name.replace(".", "__")


def _shown(default: object) -> str:
    return " ".join(map(str, default)) if isinstance(default, tuple) else str(default)
