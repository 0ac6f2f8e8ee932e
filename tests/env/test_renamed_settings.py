"""A setting that was renamed is refused with its name of today; what is a constant today is said to be one."""

import re

import pytest
from pydantic import BaseModel, ConfigDict
from pydantic_settings import SettingsConfigDict

from poolpilot.env.climbing.spectral import NATIVE_NAMES
from poolpilot.env.program_settings import CONSTANT, RENAMED, WITHDRAWN, ProgramSettings, is_constant, name_of_today
from poolpilot.errors import SettingError


class Guard(BaseModel):
    """Settings of a guard."""

    model_config = ConfigDict(extra="forbid")

    trials_per_hour: int = 12


class Watched(ProgramSettings):
    """A program with a guard."""

    model_config = SettingsConfigDict(env_prefix="WATCHED_")

    guard: Guard = Guard()


def test_an_older_name_is_refused_with_the_one_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = r"^setting 'guard\.tries_per_hour' is called 'guard\.trials_per_hour' now$"
    with pytest.raises(SettingError, match=refused):
        Watched.load(None, {"guard.tries_per_hour": 3})
    with pytest.raises(SettingError, match=refused):
        Watched.load(None, {}, ["guard.tries_per_hour=3"])
    monkeypatch.setenv("WATCHED_GUARD__TRIES_PER_HOUR", "3")
    with pytest.raises(SettingError, match=refused):
        Watched.load(None, {})


@pytest.mark.parametrize("name", WITHDRAWN)
def test_a_setting_that_is_no_more_is_refused_with_what_to_do_instead(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    instead = re.escape(WITHDRAWN[name])
    with pytest.raises(SettingError, match=rf"^setting '{name}' is no more \({instead}\): leave it out$"):
        Watched.load(None, {name: "true"})
    monkeypatch.setenv(f"WATCHED_{name.upper()}", "true")
    with pytest.raises(
        SettingError, match=rf"^the variable WATCHED_{name.upper()} names .* no more \({instead}\): unset"
    ):
        Watched.load(None, {})


@pytest.mark.parametrize(
    ("older", "today"), [*RENAMED.items(), ("files.methods.tries", "files.methods.trials"), ("tries", None)]
)
def test_names_keep_the_models_around_them(older: str, today: str | None) -> None:
    assert name_of_today(older) == today


def test_a_constant_of_the_climber_is_one_only_where_a_climb_is_set() -> None:
    for name in CONSTANT.pattern.split("|"):
        assert is_constant(f"climb.{name}")
        assert is_constant(f"methods.climb.hcm_{name}")
    assert not is_constant("climb.confidence")
    assert not is_constant("training.patience")
    assert not is_constant("patience")


def test_what_is_a_setting_of_the_climber_is_no_constant() -> None:
    assert not any(is_constant(f"climb.{name}") for names in NATIVE_NAMES.items() for name in names)


@pytest.mark.parametrize(("prefix", "variable"), [("CLIMB_", "HCM_EPS"), ("WATCHED_", "CLIMB__PATIENCE")])
def test_a_variable_of_a_constant_is_refused_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, prefix: str, variable: str
) -> None:
    class Climbed(ProgramSettings):
        model_config = SettingsConfigDict(env_prefix=prefix)

        watched: Guard = Guard()

    monkeypatch.setenv(f"{prefix}{variable}", "3")
    with pytest.raises(SettingError, match=f"^the variable {prefix}{variable} names what is a constant of the climber"):
        Climbed.load(None, {})
