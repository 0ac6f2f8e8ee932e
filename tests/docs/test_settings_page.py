"""docs/settings.md lists the settings of today, each once, whatever the machine that writes it."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from poolpilot.serve.commands.command_line.uses import CATALOGUE

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "settings.md").read_text(encoding="utf-8")


def test_settings_are_those_of_today(tmp_path: Path) -> None:
    written = tmp_path / "settings.md"
    subprocess.run([sys.executable, DOCS / "settings_page.py", written], check=True)
    assert written.read_text(encoding="utf-8") == PAGE, "run `make man` and commit the page"


def test_every_use_of_a_command_has_its_settings() -> None:
    headings = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    assert headings == [*CATALOGUE, "Groups of settings"]
    assert len(re.findall(r"^Environment: `POOLPILOT_[A-Z_]+_`", PAGE, re.MULTILINE)) == len(CATALOGUE)


def test_a_group_that_several_commands_have_stands_there_once() -> None:
    rows = Counter(line for line in PAGE.splitlines() if "Seconds dropped at least after a change" in line)
    assert [*rows.values()] == [1]
    links = {*re.findall(r"\(#([a-z-]+)\)", PAGE)}
    groups = {title.lower().replace(" ", "-") for title in re.findall(r"^### (.+)$", PAGE, re.MULTILINE)}
    assert links == groups


def test_defaults_of_a_machine_are_words() -> None:
    assert PAGE.count("| all processors |") >= 3
    assert "CPUs, " not in PAGE
    assert str(Path.home()) not in PAGE
