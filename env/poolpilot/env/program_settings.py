"""One settings model is at once a program's flags, its environment, its file and a run's MLflow parameters."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, get_origin

from pydantic import BaseModel, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)
from typing_extensions import override

from poolpilot.errors import SettingError

Value = TypeVar("Value")

SECRET_NAME = re.compile(
    r"pass(?:word|wd|phrase|code)|(?:^|[_-])(?:pwd|pass|auth)(?:$|[_-])|secret|token|credential|authorization|cookie"
    r"|(?:api|private|access|signing|encryption)[_-]?key",
    re.IGNORECASE,
)
"""Names of settings, columns and variables whose value is nobody else's business."""

WANTED = {
    "tuple_type": "Input should be a list, such as ['one', 'two']",
    "list_type": "Input should be a list, such as ['one', 'two']",
    "model_type": "Input should be a table of settings",
    "dict_type": "Input should be a table of settings",
    "path_type": "Input should be a path, as text",
    "missing": "it must be given",
}
"""What a value should be, where Pydantic's own words are Python's."""

SHOWN_OF_A_VALUE = 200
"""Characters of a refused value that are told."""

DEEPEST = 16
"""Tables and lists within one another that a file of settings may have; ours have five."""

RENAMED = {
    "guard.tries_per_hour": "guard.trials_per_hour",
    "methods.look_s": "methods.advice_s",
    "methods.tries": "methods.trials",
    "pace.look_shift": "pace.ratio_shift",
}
"""Settings of before 0.2.0 with their names of today; names of the models around theirs may go before them."""

_ONE_PROCESS = "one process serves: run several services behind a balancer, each with its own folder of outcomes"

_ON_FILES = "evaluate measures on a MariaDB where a workload file says so, with --workloads FOLDER"

WITHDRAWN = {
    "connection_limit": "header_timeout_s ends idle clients, and a proxy limits their number, see docs/service.md",
    "keep_alive_s": "header_timeout_s is the time between two requests too",
    "live": _ON_FILES,
    "live_cells": _ON_FILES,
    "openapi": "docs/service.md describes the service",
    "ray": _ONE_PROCESS,
    "ray_address": _ONE_PROCESS,
    "replicas": _ONE_PROCESS,
    "replicas_per_node": _ONE_PROCESS,
}
"""Settings of before that there are no more, with what to do instead."""

CONSTANT = re.compile(
    r"accuracy|adapt_period|belief_points|ccs_valuable_progress|clock_jump|credible|curve_points|eps|"
    r"exit_confidence|exit_samples|false_jump_ratio|false_optimized_excess|flat_trust|growth_periods|"
    r"inner_wave|interpolation_ratio|knob_fade|knob_first_growths|knob_step_growth|knob_step_shrink|"
    r"max_step_ratio|max_thread_wave_magnitude|min_periods_known_noise|min_periods_to_decide|noise_memory|"
    r"patience|period_noise|plateau_decay|plateau_factor|plateau_periods|quick_reference_samples|"
    r"reference_samples|reference_size|relative_gain|reset_on_forced_change|return_ratio|scan_confidence|"
    r"scan_margin|scan_ratio|settle_samples|steep_decline|steep_samples|step_gain|test_significance|"
    r"trust|valuable_diff|warm_bracket|warm_wave_share|wave_follows_noise|wave_growth|"
    r"wave_noise_multiplier|wave_period|worth|wrong_predictions"
)
"""Settings of the climber that are constants of `native_pool/climb/` now, without the `hcm_` some had."""


class _Environment(EnvSettingsSource):
    """The environment, where a list may be written in JSON or as `one,two`."""

    @override
    def decode_complex_value(self, field_name: str, field: FieldInfo | None, value: Any) -> Any:
        """The value of a list or of a nested model.

        Raises:
            ValueError: It is no JSON; the text names the variable.
        """
        is_list = get_origin(getattr(field, "annotation", None)) is tuple
        if is_list and not value.lstrip().startswith("["):
            return [part.strip() for part in value.split(",") if part.strip()]
        try:
            return super().decode_complex_value(field_name, field, value)  # type: ignore[arg-type]  # None is allowed
        except (ValueError, RecursionError) as error:
            form = (
                'its values with commas between them, or a list in JSON, such as ["one", "two"]'
                if is_list
                else "each setting into a variable of its own, whose name goes on with __ and the setting"
            )
            named = f"the variable {self._variable(field_name, value)} is {_shown(value)}"
            raise ValueError(f"{named}: write {form}") from error

    def check_names(self, longer_prefixes: Sequence[str]) -> None:
        """Refuses a variable with the program's prefix that is of none of its settings; its value is not told.

        Args:
            longer_prefixes: Those of other programs that begin with this one, whose variables are theirs to check.

        Raises:
            SettingError: There is one; the text names the setting that is written most alike.
        """
        prefix = self.env_prefix.upper()
        if not prefix:
            return  # then every variable of the host has it
        of_others = tuple(longer_prefixes)
        for variable in os.environ:
            name = variable.upper()
            if name.startswith(prefix) and not name.startswith(of_others) and not self._is_known(name):
                raise SettingError(_of_no_setting(variable, prefix, [*_variables(self.settings_cls)]))

    def _is_known(self, variable: str) -> bool:
        """Whether it is of a setting, or of something within one; what that may be is for its own model to say."""
        for field_name, field in self.settings_cls.model_fields.items():
            is_nested = self._field_is_complex(field)[0]
            for _, name, _ in self._extract_field_info(field, field_name):
                whole = name.upper()
                if variable == whole or (is_nested and variable.startswith(f"{whole}{self.env_nested_delimiter}")):
                    return True
        return False

    def _variable(self, field_name: str, value: str) -> str:
        """The variable that holds the value of a field, which may be one of a nested model."""
        begins, ends = self.env_prefix.upper(), field_name.upper()
        named = (name for name, held in os.environ.items() if held == value and name.upper().endswith(ends))
        return next((name for name in named if name.upper().startswith(begins)), f"{begins}{ends}")


class ProgramSettings(BaseSettings):
    """Settings of a program; flags win over the environment, the environment over the file.

    A subclass sets `env_prefix`, such as POOLPILOT_TRAIN_; nested names are joined by `__` there and by `.` in flags.
    In the environment a list is written as `one,two`, or in JSON. A variable with the prefix that is of no setting is
    refused, as is such a name in the file.
    """

    model_config = SettingsConfigDict(frozen=True, extra="forbid", env_nested_delimiter="__")

    longer_prefixes: ClassVar[Sequence[str]] = ()
    """Prefixes of other programs that begin with the one of this program."""

    in_file: ClassVar[Mapping[str, Any]] = {}
    """What the file says."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Orders the sources: flags, environment, file."""
        environment = _Environment(settings_cls)
        environment.check_names(cls.longer_prefixes)
        from_file = InitSettingsSource(settings_cls, dict(cls.in_file))
        return init_settings, environment, dotenv_settings, file_secret_settings, from_file

    @model_validator(mode="after")
    def _with_nested_defaults(self) -> Self:
        """Of a nested model of which some fields were named the others are those of its default here."""
        fields = type(self).model_fields.items()
        return self.with_defaults(
            {name: field.default for name, field in fields if isinstance(field.default, BaseModel)}
        )

    def with_defaults(self, defaults: Mapping[str, Any]) -> Self:
        """Sets other defaults for the fields that nobody named, within nested models too.

        For validators that run after all others.
        """
        for name, value in defaults.items():
            if name not in self.model_fields_set:
                object.__setattr__(self, name, value)  # frozen for everybody else
            elif isinstance(value, BaseModel):
                object.__setattr__(self, name, _with_named(value, getattr(self, name)))
        return self

    @classmethod
    def load(cls, file: Path | None, flags: Mapping[str, Any], assignments: Sequence[str] = ()) -> Self:
        """Merges the file, the environment, the flags that are not None, and what was assigned.

        Args:
            file: TOML file whose top level holds fields of this model.
            flags: Values by name, nested names joined by dots.
            assignments: NAME=VALUE of `--set`; these win over flags.

        Raises:
            SettingError: The file is missing or broken, or a value is refused.
        """
        in_file = {} if file is None else read_toml(file)
        with_file: type[Self] = type(cls.__name__, (cls,), {"in_file": in_file})
        return with_file._made({**flags, **assigned(cls, assignments)})

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Settings of a part of another program, which has settings of its own: no environment and no file counts.

        Args:
            values: Values by name, nested names joined by dots.

        Raises:
            SettingError: A value is refused.
        """
        alone: type[Self] = type(cls.__name__, (cls,), {"settings_customise_sources": classmethod(_given_alone)})
        return alone._made(values)

    @classmethod
    def _made(cls, given: Mapping[str, Any]) -> Self:
        try:
            return cls(**_nested({name: value for name, value in given.items() if value is not None}))
        except ValidationError as error:
            raise SettingError(_refusal(error)) from error
        except SettingsError as error:
            raise SettingError(str(error.__cause__ or error)) from error
        except RecursionError as error:
            raise SettingError(f"a setting is nested too deeply: {DEEPEST} levels are more than any has") from error


def read_toml(file: Path) -> dict[str, Any]:
    """What a file of settings says.

    Raises:
        SettingError: It is missing, cannot be read, is not TOML, or is nested too deeply to be read.
    """
    if not file.is_file():
        raise SettingError(f"there is no settings file {file}")
    too_deep = (
        f"the settings file {file} is nested too deeply: {DEEPEST} tables and lists within one another are allowed"
    )
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SettingError(f"the settings file {file} is not TOML: {error}") from error
    except RecursionError as error:
        raise SettingError(too_deep) from error
    except OSError as error:
        raise SettingError(f"cannot read the settings file {file}: {error.strerror}") from error
    if _is_deeper(values, DEEPEST):
        raise SettingError(too_deep)
    return values


def name_of_today(name: str) -> str | None:
    """What a setting that there is no more is called today; None where it never was one.

    Args:
        name: Its name, that of its model and those of the models around that, with dots between them.
    """
    *outer, model, last = ["", *name.split(".")]
    today = RENAMED.get(f"{model}.{last}")
    return None if today is None else ".".join([*filter(None, outer), today])


def is_constant(name: str) -> bool:
    """Whether a setting that there is no more is a constant of the climber.

    Args:
        name: Its name, after that of its model or command: `climb.eps`.
    """
    *_, model, last = ["", *name.split(".")]
    return model == "climb" and CONSTANT.fullmatch(last.removeprefix("hcm_")) is not None


def settings_within(model: type[BaseModel], prefix: str = "") -> dict[str, FieldInfo]:
    """The fields of a model, those of nested ones with their names joined by dots.

    Args:
        model: The model.
        prefix: What stands before their names.
    """
    found: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            found |= settings_within(field.annotation, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = field
    return found


def assigned(model: type[BaseModel], texts: Sequence[str]) -> dict[str, Any]:
    """Names and values of `--set NAME=VALUE`; a list is written as in the environment, `one,two`.

    Args:
        model: The settings.
        texts: What stands behind `--set`.

    Raises:
        SettingError: One is no assignment.
    """
    fields = settings_within(model)
    values: dict[str, Any] = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if not (name and value):
            raise SettingError(f"--set wants NAME=VALUE, such as seed=3, and not {text!r}")
        values[name] = _split(value) if name in fields and get_origin(fields[name].annotation) is tuple else value
    return values


def _split(value: str) -> Any:
    """A list in JSON, or with commas between its values."""
    if value.startswith("["):
        try:
            return json.loads(value)
        except ValueError as error:
            raise SettingError(f"{value!r} begins like a list in JSON and is none: {error}") from error
    return [part.strip() for part in value.split(",") if part.strip()]


def _is_deeper(value: object, levels: int) -> bool:
    """Whether tables and lists are within one another beyond so many levels; it looks no deeper itself."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(levels == 0 or _is_deeper(one, levels - 1) for one in inner)


def _of_no_setting(variable: str, prefix: str, known: Sequence[str]) -> str:
    name = variable.upper().removeprefix(prefix)
    if (instead := WITHDRAWN.get(name.lower())) is not None:
        return f"the variable {variable} names a setting that is no more ({instead}): unset it"
    if is_constant(f"{prefix.rstrip('_').rpartition('_')[2]}.{name.replace('__', '.')}".lower()):
        return f"the variable {variable} names what is a constant of the climber now: unset it"
    nearest = get_close_matches(name, known, n=1)
    meant = f" (the nearest is {prefix}{nearest[0]})" if nearest else ""
    return (
        f"the variable {variable} names no setting{meant}: correct it or unset it; `poolpilot check --settings "
        f"COMMAND --defaults` lists all settings, whose variables are {prefix} and the name in capitals, __ for a dot"
    )


def _variables(model: type[BaseModel]) -> Iterator[str]:
    """The variables of a model's fields and of those of nested models, without the prefix."""
    for name, field in model.model_fields.items():
        yield name.upper()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from (f"{name.upper()}__{inner}" for inner in _variables(field.annotation))


def _shown(value: object) -> str:
    """A refused value as text, of which the beginning is enough."""
    try:
        text = repr(value)
    except RecursionError:
        return "nested too deeply"
    return text if len(text) <= SHOWN_OF_A_VALUE else f"{text[:SHOWN_OF_A_VALUE]}..."


def _given_alone(_cls: type, _settings_cls: type, /, **sources: Any) -> tuple[Any, ...]:
    """What `settings_customise_sources` is where nothing but what is given counts."""
    return (sources["init_settings"],)


def _refusal(error: ValidationError) -> str:
    """What is wrong first of all; a value that may be a secret, put there by mistake, is not told."""
    first = error.errors()[0]
    name = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        if (today := name_of_today(name)) is not None:
            return f"setting {name!r} is called {today!r} now"
        if (instead := WITHDRAWN.get(name)) is not None:
            return f"setting {name!r} is no more ({instead}): leave it out"
        if is_constant(f"climb.{name}" if error.title.startswith("Climb") else name):
            return f"setting {name!r} is a constant of the climber now: leave it out"
        return f"setting {name!r}: there is no such setting"
    reason = WANTED.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    is_told = first["type"] != "missing" and not SECRET_NAME.search(name)
    return f"setting {name!r}: {reason}" + (f"; it is {_shown(first['input'])}" if is_told else "")


def _with_named(defaults: BaseModel, given: BaseModel) -> BaseModel:
    """The defaults, with what was named of a nested model in their place; no more counts as named than was."""
    named = {}
    for name in given.model_fields_set:
        default, value = getattr(defaults, name), getattr(given, name)
        nested = isinstance(default, BaseModel) and isinstance(value, BaseModel)
        named[name] = _with_named(default, value) if nested else value
    return type(defaults).model_construct(_fields_set=set(given.model_fields_set), **{**dict(defaults), **named})


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        *parents, last = name.split(".")
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return nested


def checked_by(check: Callable[[Value], Value]) -> Callable[[Value], Value]:
    """A check of ours for `AfterValidator`: what it refuses is told by the name of the field.

    Args:
        check: Returns a value that it takes, and raises `SettingError` for others.
    """

    def checked(value: Value) -> Value:
        try:
            return check(value)
        except SettingError as error:
            raise ValueError(str(error)) from error

    return checked
