"""Commands made of a settings model: one flag for every field.

A module of a command is imported when the command is called or its help is shown, so that no command waits for all
others. A model may need torch, Ray and others, so a command is built when it is called: a base installation can show
the help of `poolpilot`.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from rich.text import Text
from typer.core import TyperCommand

from poolpilot.env.output import check_folder
from poolpilot.env.program_settings import ProgramSettings, flag_of_today

Settings = TypeVar("Settings", bound=ProgramSettings)

COMMANDS = "poolpilot.serve.commands"
"""The package of the commands."""

OFF = "no__"
"""Begins the name of the parameter that switches a field off."""

METAVARS: Mapping[Any, str] = {bool: "", int: "N", float: "X", str: "TEXT", Path: "PATH"}
"""What the values of an option are called in the help, by their kind."""


@dataclass(frozen=True)
class CommandPlace:
    """Where a command is.

    Args:
        module: Its module, below the commands.
        build: The name of what makes its function there, as `as_command` does.
        description: The name of its help text in the list of commands.
    """

    module: str
    build: str = "build"
    description: str = "HELP"

    def function(self) -> Callable[..., None]:
        """Makes its function."""
        made: Callable[..., None] = self._named(self.build)()
        return made

    def help(self) -> str:
        """Its help text."""
        return inspect.cleandoc(self._named(self.description))

    def _named(self, name: str) -> Any:
        return getattr(import_module(f"{COMMANDS}.{self.module}"), name)


def add_settings_command(app: typer.Typer, name: str, place: CommandPlace, panel: str = "") -> None:
    """Adds a command that is imported and built when it is called.

    Args:
        app: Where to.
        name: Its name.
        place: Where it is.
        panel: Group of the help it stands in.
    """
    app.command(
        name,
        cls=BuiltCommand,
        rich_help_panel=panel or None,
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(_when_called(place))


def as_command(
    model: type[Settings],
    run: Callable[[Settings, Path | None], None],
    description: str,
    *,
    argument: str | tuple[str, ...] = (),
    panels: Mapping[str, Sequence[str]] | None = None,
    config_flags: Sequence[str] = ("--config",),
    writes: bool = True,
) -> Callable[..., None]:
    """A function with one parameter for every field of a settings model, plus --config and --json.

    A field without a default must be given. A field may say in its `json_schema_extra` that its flag is not in the help
    (`hidden`), what it is (`flag`), and what its value is called there (`metavar`).

    Args:
        model: The settings.
        run: What the command does, given the settings and where to write its table as JSON (None: nowhere).
        description: Help text of the command.
        argument: Field, or fields in the order of the model, that are given by their place and not by a flag.
        panels: Fields, `config` and `json_path` by the group of the help they stand in; the fields of a nested model
            have one of their own.
        config_flags: Names of the option of the settings file; none where the command takes no such file.
        writes: Whether it has a table to write as JSON.
    """
    panel_of = {name: panel for panel, names in (panels or {}).items() for name in names}
    fields = _in_order(model, list(panel_of))
    assert panel_of.keys() <= {*fields, "config", "json_path"}, "a panel names a field that there is not"

    def command(**given: Any) -> None:
        config, json_path = given.pop("config", None), given.pop("json_path", None)
        settings = model.load(config, {name: _given(given, name) for name in fields})
        check_folder(json_path)
        run(settings, json_path)

    arguments = (argument,) if isinstance(argument, str) else argument
    of_fields = _parameters(fields, arguments, panel_of)
    parameters = [*of_fields, *_files(config_flags, panel_of, writes=writes)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = description
    return command


class BuiltCommand(TyperCommand):
    """A command whose help and options are known once its module is imported."""

    @property
    def help(self) -> str:
        """Its help text in the list of commands."""
        return self._place.help()

    @help.setter
    def help(self, help_text: str | None) -> None:
        """Typer sets what it has found at the function; what counts is in the command's module."""

    def whole(self) -> Any:
        """The command with its options."""
        return typer.main.get_command(_app_of(self._place))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Completes the options; none where the extra that they need is missing."""
        try:
            completions: list[Any] = self.whole().shell_complete(ctx, incomplete)
        except ModuleNotFoundError:
            return []
        return completions

    @property
    def _place(self) -> CommandPlace:
        assert self.callback is not None
        place: CommandPlace = self.callback.__dict__["place"]
        return place


def _when_called(place: CommandPlace) -> Callable[[typer.Context], None]:
    def command(context: typer.Context) -> None:
        _app_of(place)(args=context.args, prog_name=context.command_path)

    command.__dict__["place"] = place  # typer keeps it when it wraps the function
    return command


class WholeNames(TyperCommand):
    """A command whose help folds a name that is too long for its column, which Typer would cut.

    An option that has another name since the last release is refused with that name.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Takes the options."""
        known = {flag for each in self.params for flag in (*each.opts, *each.secondary_opts)}
        for flag in (given.partition("=")[0] for given in args):
            if (today := flag_of_today(flag, known)) is not None:
                ctx.fail(f"the option {flag} is called {today} now")
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Shows the help."""
        from typer import rich_utils  # imported for help alone: it takes a while

        class Folding(rich_utils.OptionHighlighter):
            def __call__(self, text: str | Text) -> Text:
                name = super().__call__(text)
                name.overflow = "fold"
                return name

        rich_utils.highlighter = Folding()
        super().format_help(ctx, formatter)


def _app_of(place: CommandPlace) -> typer.Typer:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(cls=WholeNames)(place.function())
    return app


def leaves(
    model: type[BaseModel], prefix: str = "", defaults: BaseModel | None = None
) -> Iterator[tuple[str, FieldInfo]]:
    """The fields of a model, those of nested ones with their names joined by dots.

    Args:
        model: The model.
        prefix: What stands before their names.
        defaults: What is in force where nobody names anything; the defaults of the model if None.
    """
    for name, field in model.model_fields.items():
        default = field.default if defaults is None else getattr(defaults, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            nested = default if isinstance(default, BaseModel) else None
            yield from leaves(field.annotation, f"{prefix}{name}.", nested)
        else:
            yield f"{prefix}{name}", _with_default(field, default)


def _with_default(field: FieldInfo, default: Any) -> FieldInfo:
    """The field with the default that is in force where its model is nested."""
    if field.default_factory is not None or default == field.default:
        return field
    changed = copy(field)
    changed.default = default
    return changed


def _in_order(model: type[BaseModel], places: Sequence[str]) -> dict[str, FieldInfo]:
    """The fields by name, those of the panels behind the others and in the order of the panels."""
    return dict(sorted(leaves(model), key=lambda leaf: places.index(leaf[0]) if leaf[0] in places else -1))


def _parameters(
    fields: Mapping[str, FieldInfo], arguments: Sequence[str], panel_of: Mapping[str, str]
) -> Iterator[inspect.Parameter]:
    for name, field in fields.items():
        if name in arguments:
            yield _argument(name, field)
        else:
            yield from _options(name, field, panel_of.get(name, ""))


def _files(config_flags: Sequence[str], panel_of: Mapping[str, str], *, writes: bool) -> Iterator[inspect.Parameter]:
    """The options for the file of settings, and for that of the table where there is one."""
    for name, flags, effect, wanted in (
        ("config", config_flags, "TOML file; environment and flags win.", bool(config_flags)),
        ("json_path", ("--json",), "Write the table to this file as JSON.", writes),
    ):
        shown = typer.Option(
            *flags, help=effect, show_default=False, rich_help_panel=panel_of.get(name), metavar=METAVARS[Path]
        )
        if wanted:
            yield _declared(name, Path, shown)


def _argument(name: str, field: FieldInfo) -> inspect.Parameter:
    kind: Any = field.annotation
    if get_origin(kind) is tuple:
        kind = list[get_args(kind)[0]]  # type: ignore[misc]  # typer has no tuples of any length
    further: Mapping[str, Any] = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    shown = typer.Argument(metavar=further.get("metavar", name.upper()), help=field.description, show_default=False)
    return _declared(_identifier(name), kind, shown, required=field.is_required())


def _options(name: str, field: FieldInfo, panel: str) -> Iterator[inspect.Parameter]:
    """The option of a field; of a switch two, of which the help shows the one that changes something."""
    kind: Any = field.annotation
    if kind == bool | None:
        kind = bool
    further: Mapping[str, Any] = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    plain, hidden = name.replace("_", "-"), further.get("hidden", False)
    declared = partial(_option, field, panel or name.rpartition(".")[0], further)
    if kind is not bool or "flag" in further:
        yield declared(_identifier(name), kind, further.get("flag", f"--{plain}"), hidden=hidden)
        return
    yield declared(_identifier(name), bool, f"--{plain}", hidden=hidden or field.default is True)
    yield declared(OFF + _identifier(name), bool, f"--no-{plain}", hidden=hidden or field.default is not True)


def _option(
    field: FieldInfo, panel: str, further: Mapping[str, Any], identifier: str, kind: Any, flag: str, *, hidden: bool
) -> inspect.Parameter:
    if get_origin(kind) is tuple:
        element: Any = get_args(kind)[0]
        kind = list[element] if isinstance(element, type) else list[str]  # typer has no lists of literals
    shown = typer.Option(
        flag,
        help=f"{field.description}{_choices(kind, field)}{_default(field)}",
        show_default=False,
        rich_help_panel=panel or None,
        hidden=hidden,
        metavar=further.get("metavar", _metavar(kind)),
    )
    return _declared(identifier, kind, shown, required=field.is_required())


def _given(given: Mapping[str, Any], name: str) -> Any:
    """What the user has given for a field; None for nothing."""
    identifier = _identifier(name)
    if given.get(OFF + identifier):
        return False
    return None if given[identifier] == [] else given[identifier]


def _declared(identifier: str, kind: Any, shown: Any, *, required: bool = False) -> inspect.Parameter:
    """A parameter as typer reads it."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    if required:
        return inspect.Parameter(identifier, keyword, annotation=Annotated[kind, shown])
    return inspect.Parameter(identifier, keyword, default=None, annotation=Annotated[kind | None, shown])


def _metavar(kind: Any) -> str:
    """What a value of a kind is called in the help."""
    inner = [each for each in get_args(kind) if each is not type(None)]
    if get_origin(kind) in (list, Union, UnionType) and len(inner) == 1:
        return _metavar(inner[0])
    return METAVARS.get(kind, "NAME")


def _choices(kind: Any, field: FieldInfo) -> str:
    """The values that there are to choose from, if there are and the description does not name them."""
    inner = [each for each in get_args(kind) if get_origin(each) is Literal]
    allowed = get_args(inner[0] if inner else kind) if inner or get_origin(kind) is Literal else ()
    named = all(str(value) in str(field.description) for value in allowed)
    return "" if named else f" One of {', '.join(map(str, allowed))}."


def _identifier(name: str) -> str:
    return name.replace(".", "__")


def _default(field: FieldInfo) -> str:
    """A default as the help shows it; nothing where there is none, or it is to leave a thing out."""
    value = field.default
    if field.is_required() or value is None or value is False or value == ():
        return ""
    if value is True:
        return " \\[default: yes]"
    return f" \\[default: {' '.join(map(str, value)) if isinstance(value, tuple) else value}]"
