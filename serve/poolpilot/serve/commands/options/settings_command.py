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
from typer.core import TyperCommand

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
        cls=BuiltCommand,
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
    config_flags: Sequence[str] = ("--config",),
) -> Callable[..., None]:
    """A function with one optional parameter for every field of a settings model, plus --config and --json.

    A field may say in its `json_schema_extra` that its flag is not in the help (`hidden`), what it is (`flag`), and
    what its value is called there (`metavar`).

    Args:
        model: The settings.
        run: What the command does, given the settings and where to write its table as JSON (None: nowhere).
        description: Help text of the command.
        argument: Field that is given by its place and not by a flag.
        panels: Fields, `config` and `json_path` by the group of the help they stand in; the fields of a nested model
            have one of their own.
        config_flags: Names of the option of the settings file.
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
    for name, flags, effect in (
        ("config", config_flags, "TOML file; environment and flags win."),
        ("json_path", ("--json",), "Write the table to this file as JSON."),
    ):
        shown = typer.Option(*flags, help=effect, show_default=False, rich_help_panel=panel_of.get(name))
        parameters.append(_optional(name, Path, shown))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__doc__ = description
    return command


class BuiltCommand(TyperCommand):
    """A command whose options are known once it is built."""

    def whole(self) -> Any:
        """The command with its options."""
        assert self.callback is not None
        return typer.main.get_command(_app_of(self.callback.__dict__["build"]))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Completes the options; none where the extra that they need is missing."""
        try:
            completions: list[Any] = self.whole().shell_complete(ctx, incomplete)
        except ModuleNotFoundError:
            return []
        return completions


def _when_called(build: Callable[[], Callable[..., None]]) -> Callable[[typer.Context], None]:
    def command(context: typer.Context) -> None:
        _app_of(build)(args=context.args, prog_name=context.command_path)

    command.__dict__["build"] = build  # typer keeps it when it wraps the function
    return command


def _app_of(build: Callable[[], Callable[..., None]]) -> typer.Typer:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(build())
    return app


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
    kind: Any = field.annotation
    if kind == bool | None:
        kind = bool
    further: Mapping[str, Any] = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    plain = name.replace("_", "-")
    flag = further.get("flag", f"--{plain}/--no-{plain}" if kind is bool else f"--{plain}")
    if get_origin(kind) is tuple:
        element: Any = get_args(kind)[0]
        kind = list[element] if isinstance(element, type) else list[str]  # typer has no lists of literals
    shown = typer.Option(
        flag,
        help=f"{field.description}{_default(field.default)}",
        show_default=False,
        rich_help_panel=panel or name.rpartition(".")[0] or None,
        hidden=further.get("hidden", False),
        metavar=further.get("metavar", "" if kind is bool else None),
    )
    return _optional(_identifier(name), kind, shown)


def _optional(identifier: str, kind: Any, shown: Any) -> inspect.Parameter:
    return inspect.Parameter(
        identifier, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, shown]
    )


def _identifier(name: str) -> str:
    return name.replace(".", "__")


def _default(value: object) -> str:
    """A default as the help shows it; nothing where it is to leave a thing out."""
    if value is None or value is False or value == ():
        return ""
    return f" \\[default: {' '.join(map(str, value)) if isinstance(value, tuple) else value}]"
