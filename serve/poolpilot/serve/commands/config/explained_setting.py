"""One setting explained: its value, where that came from, what is allowed, and what it means."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from poolpilot.env.program_settings import ProgramSettings, read_toml, settings_within

NOT_SET = "not given"
BOUNDS = {"ge": "at least {}", "gt": "more than {}", "le": "at most {}", "lt": "less than {}"}


class Origin(StrEnum):
    """Where a value came from; the first that names it wins."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    FILE = "file"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class ExplainedSetting:
    """A setting.

    Attributes:
        name: Its name, nested ones joined by dots.
        value: Its value, as text.
        origin: Where that came from.
        allowed: What may stand there.
        meaning: What it does.
        hidden: A value that does not count, because an earlier origin wins; nothing where there is none.
    """

    name: str
    value: str
    origin: Origin
    allowed: str
    meaning: str
    hidden: str

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return asdict(self)


def explained(settings: ProgramSettings, file: Path | None, flags: Mapping[str, Any]) -> list[ExplainedSetting]:
    """Every setting of a program.

    Args:
        settings: The settings, as loaded from the same file and flags.
        file: The TOML file; None where there is none.
        flags: What was given on the command line.

    Raises:
        SettingError: The file is gone or broken by now.
    """
    in_file = {} if file is None else read_toml(file)
    prefix = str(settings.model_config.get("env_prefix", ""))
    given = {
        Origin.FLAG: {name for name, value in flags.items() if value is not None},
        Origin.ENVIRONMENT: {name for name in settings_within(type(settings)) if _in_environment(prefix, name)},
        Origin.FILE: set(_flat(in_file)),
    }
    return [_explained(name, field, settings, given) for name, field in settings_within(type(settings)).items()]


def is_complete(model: type[ProgramSettings], file: Path | None, given: Mapping[str, Any]) -> bool:
    """Whether whatever a command cannot do without is named by flags, environment or file."""
    named = {*given, *({} if file is None else read_toml(file))}
    prefix = str(model.model_config.get("env_prefix", ""))
    return all(
        name in named or _in_environment(prefix, name) for name, one in model.model_fields.items() if one.is_required()
    )


def _explained(
    name: str, field: FieldInfo, settings: ProgramSettings, given: Mapping[Origin, set[str]]
) -> ExplainedSetting:
    named_by = [origin for origin, names in given.items() if name in names]
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part, None)  # None of what must be given and was not
    return ExplainedSetting(
        name=name,
        value=as_text(value),
        origin=named_by[0] if named_by else Origin.DEFAULT,
        allowed=allowed_of(field),
        meaning=str(field.description or "").replace("\\[", "["),
        hidden=" and ".join(named_by[1:]),
    )


def allowed_of(field: FieldInfo) -> str:
    """What may stand in a field: its choices, or its range."""
    kinds = [kind for kind in (field.annotation, *get_args(field.annotation)) if kind is not type(None)]
    for kind in kinds:
        if get_origin(kind) is Literal:
            return ", ".join(map(str, get_args(kind)))
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            return ", ".join(kind)
    if bool in kinds:
        return "true, false"
    return ", ".join(_bounds(field))


def _bounds(field: FieldInfo) -> Iterator[str]:
    for one in field.metadata:
        for name, words in BOUNDS.items():
            if (limit := getattr(one, name, None)) is not None:
                yield words.format(f"{limit:g}" if isinstance(limit, float) else limit)


def _in_environment(prefix: str, name: str) -> bool:
    """Whether a variable names a setting, itself or all of its group."""
    wanted = f"{prefix}{name.replace('.', '__')}".upper()
    variables = {variable.upper() for variable in os.environ}
    return wanted in variables or wanted.rpartition("__")[0] in variables


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def as_text(value: Any) -> str:
    """A value as people read it."""
    if value is None or value == ():
        return NOT_SET
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if isinstance(value, bool):
        return str(value).lower()
    return (
        " ".join(map(str, value))
        if isinstance(value, tuple)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
