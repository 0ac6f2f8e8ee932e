"""The page of the MariaDB suite names its families with their kinds; the directions of all of them can be printed."""

import subprocess
import sys
from pathlib import Path

from poolpilot.lab.suite.suite_cells import SUITE

ROOT = Path(__file__).parents[2]


def test_directions_of_all_families_are_printed() -> None:
    command = [sys.executable, "benchmarks/mariadb_suite.py", "--directions"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [line.split("`")[1] for line in printed.splitlines()[2:]] == [*SUITE]


def test_page_names_every_family() -> None:
    page = (ROOT / "docs" / "results-suite.md").read_text(encoding="utf-8")
    assert [name for name in SUITE if f"`{name}`" not in page] == []
