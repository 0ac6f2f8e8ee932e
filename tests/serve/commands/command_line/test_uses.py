"""Sixteen commands with few flags; every use of each has settings, which can be explained."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tests.serve.commands.command_line.flags_of_commands import command_of, commands, flags_of

from poolpilot.env.program_settings import settings_within
from poolpilot.serve.commands.command_line.uses import CATALOGUE, found_at
from poolpilot.serve.commands.main import build

WITHOUT_SETTINGS = {"bench", "lab workloads"}
MOST_COMMANDS, MOST_FLAGS_OF_ONE, MOST_FLAGS = 16, 25, 125

OF_NO_MODEL = {"mariadb", "production", "search", "sweep", "simulate", "check", "sql", "settings", "defaults"}
"""Flags that choose among uses or ask to be explained."""

NAMED = {"climb --sweep": ("--set", "dsn=h=db1"), "tune": ("--set", "backend=simulated"), "serve": ("--set", "port=0")}
"""What a use is given here so that it can be followed."""


def test_commands_and_flags_are_few() -> None:
    group: Any = typer.main.get_command(build())
    assert len(group.commands) <= MOST_COMMANDS
    flags = {name: flags_of(command) for name, command in commands().items()}
    assert {name: len(one) for name, one in flags.items() if len(one) > MOST_FLAGS_OF_ONE} == {}
    assert len(flags_of(group).union(*flags.values())) <= MOST_FLAGS


@pytest.mark.parametrize("name", sorted(commands().keys() - WITHOUT_SETTINGS))
def test_every_flag_is_a_setting_of_a_use_of_its_command(name: str) -> None:
    uses = [use for use in CATALOGUE if command_of(use)[0] == name]
    known = {field for use in uses for field in CATALOGUE[use].model().model_fields}
    named_here = {parameter.name for parameter in commands()[name].params if parameter.param_type_name == "option"}
    files = {"config", "assignments", "json_path"}
    assert sorted(named_here - known - files - OF_NO_MODEL) == []
    places = {parameter.name for parameter in commands()[name].params if parameter.param_type_name == "argument"}
    assert sorted(places - known) in ([], ["name"], ["stage"])


def test_every_use_is_of_a_command_and_every_command_has_one() -> None:
    assert {command_of(use)[0] for use in CATALOGUE} == {*commands()} - WITHOUT_SETTINGS


@pytest.mark.parametrize("use", CATALOGUE)
def test_every_setting_of_every_use_is_explained(invoke: Callable[..., Any], use: str, tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    written = tmp_path / "explained.json"
    result = invoke("check", "--settings", use, "--defaults", *NAMED.get(use, ()), "--json", written)
    assert (result.code, result.err) == (0, "")
    rows = json.loads(written.read_text(encoding="utf-8"))["settings"]
    assert [row["name"] for row in rows] == [*settings_within(CATALOGUE[use].model())]
    assert [row["name"] for row in rows if not row["meaning"]] == []
    assert all(f"{row['name']} = " in result.out.replace("\n", "") for row in rows)


@pytest.mark.parametrize("use", CATALOGUE)
def test_its_work_is_there(use: str) -> None:
    pytest.importorskip("mlflow")
    assert callable(found_at(CATALOGUE[use].work))


def test_where_a_setting_comes_from_is_told(
    invoke: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, written = tmp_path / "climb.toml", tmp_path / "explained.json"
    file.write_text("seconds = 3.0\nseed = 3\n")
    monkeypatch.setenv("POOLPILOT_CLIMB_SEED", "4")
    invoke("check", "--settings", "climb", "--config", file, "--set", "warm=true", "--json", written)
    rows = {row["name"]: row for row in json.loads(written.read_text(encoding="utf-8"))["settings"]}
    told = {name: (row["value"], row["origin"], row["hidden"]) for name, row in rows.items()}
    assert told["seconds"] == ("3", "file", "")
    assert told["seed"] == ("4", "environment", "file")
    assert told["warm"] == ("true", "flag", "")
    assert told["keep"] == ("false", "default", "")


SHOW = "import sys; sys.argv[1:] = {line!r}\nfrom poolpilot.serve.commands.main import main\n"
HEAVY = ("torch", "ray", "mlflow", "duckdb", "pyarrow", "pandas", "scipy", "sklearn", "matplotlib")


@pytest.mark.parametrize("line", [["--help"], ["--version"], ["restore", "--help"], ["learn", "--help"]], ids=" ".join)
def test_help_imports_no_command_and_nothing_heavy(line: list[str]) -> None:
    script = SHOW.format(line=line) + (
        "try: main()\n"
        "except SystemExit: print([one for one in sys.modules"
        f" if one.endswith('_command') or one.partition('.')[0] in {HEAVY}])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[-1] == "[]"


def test_a_command_imports_no_other(tmp_path: Path) -> None:
    script = SHOW.format(line=["restore", "h=127.0.0.1,P=1"]) + (
        "try: main()\nexcept SystemExit: print(sorted(one for one in sys.modules if one.endswith('_command')))"
    )
    environment = {**os.environ, "POOLPILOT_JOURNALS": str(tmp_path)}
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert said.stdout.splitlines()[-1] == "['poolpilot.serve.commands.act.restore_command']"


def test_every_command_takes_a_file_and_assignments_and_those_with_a_result_write_it() -> None:
    flags = {name: flags_of(command) for name, command in commands().items()}
    alone = {"lab disk", "lab down", *WITHOUT_SETTINGS}
    assert {name for name, one in flags.items() if not {"--config", "--set"} & one} == alone
    assert {name for name, one in flags.items() if not {"--config", "--set"} <= one} == alone
    without = {"bench", "page", "restore", "serve", "lab up", "lab disk", "lab down"}
    assert {name for name, one in flags.items() if "--json" not in one} == without


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("climb --ro", ["--rounds"]),
        ("serve --po", ["--port"]),
        ("lab lo", ["load"]),
        ("check --se", ["--settings", "--seconds", "--set"]),
    ],
)
def test_shell_completes_commands_and_flags(words: str, completed: list[str]) -> None:
    asked = {"_POOLPILOT_COMPLETE": "complete_bash", "COMP_WORDS": f"poolpilot {words}", "COMP_CWORD": "2"}
    command = Path(sys.executable).with_name("poolpilot")
    answered = subprocess.run([command], env=os.environ | asked, capture_output=True, text=True, check=True)
    assert answered.stdout.split() == completed
