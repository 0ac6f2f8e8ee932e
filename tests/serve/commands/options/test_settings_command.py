"""Settings come from flags, environment and file, in this order, and mistakes are one sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
import typer
from pydantic import BaseModel, ConfigDict, Field
from pydantic_settings import SettingsConfigDict
from typer.testing import CliRunner

from poolpilot.env.output import write_json
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.errors import SettingError
from poolpilot.serve.commands.main import build
from poolpilot.serve.commands.options.settings_command import as_command, leaves


class Oven(BaseModel):
    """A nested model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    degrees: float = Field(default=180.0, gt=0.0, description="How hot.")
    minutes: tuple[int, ...] = Field(default=(10, 20), description="How long, in steps.")


class BakeSettings(ProgramSettings):
    """Settings of a made-up command."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_BAKE_")

    flour: Path = Field(default=Path("flour"), description="Which sack.")
    sugar: bool = Field(default=True, description="Whether it is sweet.")
    oven: Oven = Oven()


@pytest.fixture
def baked() -> list[tuple[BakeSettings, Path | None]]:
    """What the command was called with."""
    return []


@pytest.fixture
def app(baked: list[tuple[BakeSettings, Path | None]]) -> typer.Typer:
    """A command with the options of `BakeSettings`."""
    built = typer.Typer(add_completion=False)
    built.command()(as_command(BakeSettings, lambda settings, path: baked.append((settings, path)), "Bake a cake."))
    return built


def test_flags_win_over_environment_and_environment_over_file(
    app: typer.Typer, baked: list[tuple[BakeSettings, Path | None]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bake.toml"
    file.write_text('flour = "file"\nsugar = false\n[oven]\ndegrees = 1.0\nminutes = [1]\n')
    monkeypatch.setenv("POOLPILOT_BAKE_FLOUR", "environment")
    monkeypatch.setenv("POOLPILOT_BAKE_OVEN__DEGREES", "2.0")
    flags = ["--config", str(file), "--oven.degrees", "3.0", "--json", "out.json"]
    assert CliRunner().invoke(app, flags, catch_exceptions=False).exit_code == 0
    ((settings, json_path),) = baked
    assert settings.flour == Path("environment")
    assert settings.sugar is False
    assert settings.oven == Oven(degrees=3.0, minutes=(1,))
    assert json_path == Path("out.json")


def test_lists_and_switches_are_flags_too(app: typer.Typer, baked: list[tuple[BakeSettings, Path | None]]) -> None:
    CliRunner().invoke(app, ["--oven.minutes", "3", "--oven.minutes", "4", "--no-sugar"], catch_exceptions=False)
    ((settings, json_path),) = baked
    assert settings.oven.minutes == (3, 4)
    assert settings.sugar is False
    assert json_path is None


class ShopSettings(ProgramSettings):
    """Settings of a command that needs to be told where, and has switches of all kinds."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_SHOP_")

    where: str = Field(description="Which shop.")
    bags: int = Field(ge=1, description="How many.")
    cash: bool = Field(default=False, description="Whether in cash.")
    receipt: bool = Field(default=True, description="Whether with a receipt.")
    gift: bool = Field(default=False, description="Whether wrapped.", json_schema_extra={"flag": "--gift"})


@pytest.fixture
def shopped() -> list[ShopSettings]:
    return []


@pytest.fixture
def shop(shopped: list[ShopSettings]) -> typer.Typer:
    built = typer.Typer(add_completion=False)
    command = as_command(
        ShopSettings, lambda settings, _: shopped.append(settings), "Shop.", argument="where", writes=False
    )
    built.command()(command)
    return built


@pytest.mark.parametrize(("given", "missing"), [(["--bags", "1"], "Missing argument 'WHERE'"), (["here"], "--bags")])
def test_a_field_without_a_default_must_be_given(shop: typer.Typer, given: list[str], missing: str) -> None:
    result = CliRunner().invoke(shop, given)
    assert result.exit_code == 2
    assert missing in result.stderr


@pytest.mark.parametrize(
    ("flags", "switches"),
    [
        ([], (False, True, False)),
        (["--cash", "--no-receipt", "--gift"], (True, False, True)),
        (["--no-cash", "--receipt"], (False, True, False)),
    ],
)
def test_switches_go_both_ways_and_the_help_shows_the_one_that_changes_something(
    shop: typer.Typer, shopped: list[ShopSettings], flags: list[str], switches: tuple[bool, ...]
) -> None:
    assert CliRunner().invoke(shop, ["here", "--bags", "2", *flags], catch_exceptions=False).exit_code == 0
    (settings,) = shopped
    assert (settings.cash, settings.receipt, settings.gift) == switches
    shown = CliRunner().invoke(shop, ["--help"], env={"COLUMNS": "200"}).stdout
    assert {"--cash", "--no-receipt", "--gift"} <= set(shown.split())
    assert not {"--no-cash", "--receipt", "--json"} & set(shown.split())
    assert "Whether with a receipt. [default: yes]" in shown


class PaintSettings(ProgramSettings):
    """Settings of a command with choices."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_PAINT_")

    colour: Literal["red", "blue"] = Field(default="red", description="What colour.")
    brush: Literal["wide", "fine"] | None = Field(default=None, description="Which brush: wide or fine.")
    coats: int = Field(default=1, description="How many coats.")


def test_the_help_names_what_there_is_to_choose_from_once() -> None:
    built = typer.Typer(add_completion=False)
    built.command()(as_command(PaintSettings, lambda *_: None, "Paint."))
    shown = " ".join(CliRunner().invoke(built, ["--help"], env={"COLUMNS": "100"}).stdout.replace("│", " ").split())
    assert "--colour NAME What colour. One of red, blue. [default: red]" in shown
    assert "--brush NAME Which brush: wide or fine. --coats N" in shown
    refused = CliRunner().invoke(built, ["--colour", "green"])
    assert (refused.exit_code, "'green'" in refused.stderr) == (2, True)


def test_a_switch_that_the_environment_has_on_can_be_taken_off(
    shop: typer.Typer, shopped: list[ShopSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLPILOT_SHOP_CASH", "true")
    CliRunner().invoke(shop, ["here", "--bags", "2"], catch_exceptions=False)
    CliRunner().invoke(shop, ["here", "--bags", "2", "--no-cash"], catch_exceptions=False)
    assert [settings.cash for settings in shopped] == [True, False]


def test_a_field_may_be_an_argument_and_stand_in_a_group(baked: list[tuple[BakeSettings, Path | None]]) -> None:
    built = typer.Typer(add_completion=False)
    panels = {"Taste": ("sugar",)}
    command = as_command(
        BakeSettings, lambda settings, path: baked.append((settings, path)), "Bake.", argument="flour", panels=panels
    )
    built.command()(command)
    CliRunner().invoke(built, ["rye", "--no-sugar"], catch_exceptions=False)
    assert (baked[0][0].flour, baked[0][0].sugar) == (Path("rye"), False)
    shown = CliRunner().invoke(built, ["--help"], env={"COLUMNS": "200"}).stdout
    assert "[FLOUR]" in shown
    assert "Taste" in shown
    assert "--flour" not in shown


def test_the_help_describes_every_field_with_its_default(app: typer.Typer) -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).stdout
    assert "Bake a cake." in shown
    for flag, description in (("--flour", "Which sack. [default: flour]"), ("--oven.minutes", "[default: 10 20]")):
        assert flag in shown
        assert description in shown


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"oven.degrees": -1.0}, "setting 'oven.degrees': Input should be greater than 0; it is -1.0"),
        ({"salt": 1}, "setting 'salt': there is no such setting"),
        ({"oven.fan": True}, "setting 'oven.fan'"),
    ],
)
def test_a_bad_setting_is_named(flags: dict[str, object], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        BakeSettings.load(None, flags)
    assert sentence in str(caught.value)


def test_an_option_of_before_is_refused_with_its_name_of_today() -> None:
    result = CliRunner().invoke(build(), ["evaluate", "--files.methods.tries=1"])
    assert result.exit_code == 2
    assert "the option --files.methods.tries is called --files.methods.trials now" in result.output


def test_a_bad_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="there is no settings file"):
        BakeSettings.load(tmp_path / "none.toml", {})
    broken = tmp_path / "broken.toml"
    broken.write_text("[oven")
    with pytest.raises(SettingError, match="is not TOML"):
        BakeSettings.load(broken, {})


@pytest.mark.parametrize("name", ["collect", "train", "evaluate", "promote", "search"])
def test_every_command_offers_a_table_as_json_and_a_settings_file(name: str) -> None:
    shown = CliRunner().invoke(build(), [name, "--help"], env={"COLUMNS": "200"}, catch_exceptions=False)
    assert shown.exit_code == 0
    assert "--json" in shown.stdout
    assert "--config" in shown.stdout


def test_help_on_a_narrow_terminal_cuts_no_name() -> None:
    """Before, `evaluate --help` showed 109 options as `--files.methods.measurement.set…` on 80 columns."""
    shown = CliRunner().invoke(build(), ["evaluate", "--help"], env={"COLUMNS": "80"}, catch_exceptions=False)
    assert "…" not in shown.stdout
    names = [line[2:36].strip() for line in shown.stdout.splitlines()]
    assert "--files.methods.measurement.settle-intervals" in "".join(names)


def test_unknown_flags_are_wrong_usage() -> None:
    assert CliRunner().invoke(build(), ["collect", "--force"]).exit_code == 2


def test_building_imports_nothing_heavy() -> None:
    script = (
        "import sys; from poolpilot.serve.commands.main import build; build();"
        "print([one for one in ('torch', 'ray', 'mlflow', 'duckdb', 'pyarrow', 'pandas', 'scipy', 'sklearn')"
        " if one in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_command_imports_no_other() -> None:
    script = (
        "import sys; from poolpilot.serve.commands.main import main; sys.argv[1:] = ['restore', '--help']\n"
        "try: main()\n"
        "except SystemExit: print(sorted(one for one in sys.modules if one.endswith('_command')))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    ours = ["poolpilot.serve.commands.act.restore_command", "poolpilot.serve.commands.options.settings_command"]
    assert said.splitlines()[-1] == str(ours)


def test_a_table_is_written_as_json(tmp_path: Path) -> None:
    write_json(tmp_path / "table.json", {"a": [1, None]})
    assert json.loads((tmp_path / "table.json").read_text()) == {"a": [1, None]}


@pytest.mark.parametrize(
    ("words", "completed"), [("search --stable", ["--stable-rounds", "--stable-share"]), ("serve --po", ["--port"])]
)
def test_shell_completes_the_options_of_every_command(words: str, completed: list[str]) -> None:
    asked = {"_POOLPILOT_COMPLETE": "complete_bash", "COMP_WORDS": f"poolpilot {words}", "COMP_CWORD": "2"}
    command = Path(sys.executable).with_name("poolpilot")
    answered = subprocess.run([command], env=os.environ | asked, capture_output=True, text=True, check=True)
    assert answered.stdout.split() == completed


class PizzaSettings(ProgramSettings):
    """Settings whose oven is hotter than an oven is by itself."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_PIZZA_")

    oven: Oven = Oven(degrees=250.0)


def test_help_shows_what_is_in_force_where_a_nested_model_has_defaults_of_its_own_place() -> None:
    assert dict(leaves(PizzaSettings))["oven.degrees"].default == 250.0
    assert PizzaSettings.load(None, {"oven.minutes": (5,)}).oven == Oven(degrees=250.0, minutes=(5,))
