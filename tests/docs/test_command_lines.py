"""What the pages tell to type is a command that there is, with its options and as many values as they take."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tests.docs.command_lines import UsageError, check, shown, told
from typer.core import TyperGroup

from poolpilot.errors import SettingError
from poolpilot.pipelines.evaluate.record_settings import RecordSettings
from poolpilot.serve.commands.main import build

ROOT = Path(__file__).parents[2]
PAGES = [*(ROOT / f"{name}.md" for name in ("README", "SECURITY", "CONTRIBUTING")), *(ROOT / "docs").glob("*.md")]
PAGES += ROOT.glob("*/README.md")
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(PAGES)]
SHOWN = sorted({line for text in TEXTS for line in shown(text)})
TOLD = sorted({line for text in TEXTS for line in told(text)} - {*SHOWN})


@pytest.mark.parametrize("line", SHOWN)
def test_every_line_of_a_block_is_taken(line: str) -> None:
    check(line, complete=True)


@pytest.mark.parametrize("line", TOLD)
def test_every_command_that_is_told_of_is_one_with_these_options(line: str) -> None:
    check(line, complete=False)


def test_the_pages_hold_commands() -> None:
    assert len(SHOWN) > 60
    assert len(TOLD) > 50


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("poolpilot grants poolpilot@localhost", "unexpected extra argument"),
        ("poolpilot tune DSN --mod apply", "No such option"),
        ("poolpilot climb --json", "requires an argument"),
        ("poolpilot records", "Missing parameter"),
        ("poolpilot lab --folder lab", "lab: no ['--folder', 'lab']"),
        ("poolpilot advise --windows FILE --grid", "grid: not of `poolpilot advise --windows`"),
        ("poolpilot tune DSN --set guard.factors=2", "guard.factors: not of `poolpilot tune`"),
        ("poolpilot check --settings predict", "no command 'predict' has settings"),
    ],
)
def test_wrong_line_is_refused(line: str, refused: str) -> None:
    with pytest.raises((UsageError, SettingError)) as error:
        check(line, complete=True)
    assert refused in str(error.value)
    with pytest.raises(KeyError):
        check("poolpilot tunes", complete=True)


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Name and command of everything in a group and the groups inside."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


def test_security_says_of_every_command_that_takes_a_server_what_it_changes() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    table = text.partition("## What the commands may do")[2].partition("\n## ")[0]
    of_a_server = [
        name
        for name, command in commands(typer.main.get_command(build()))
        if any(parameter.name == "dsn" for parameter in command.params)
    ]
    assert {"advise", "climb", "learn", "restore", "tune"} <= {*of_a_server}
    assert [name for name in of_a_server if not re.search(rf"^\| (.*, )?`{name}\b", table, re.MULTILINE)] == []


def test_local_runs_are_where_mlflow_is_told_to_look() -> None:
    named = [path for text in TEXTS for path in re.findall(r"sqlite:///(\S+\.db)", text)]
    assert set(named) == {f"{RecordSettings.model_fields['tracking'].default}/mlflow.db"}
