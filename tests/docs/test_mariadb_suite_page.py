"""The page of the MariaDB suite has the directions of the code, and the fields of a workload file are documented."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_args

from poolpilot.env.lab.sealed_sql_families import SEALED
from poolpilot.env.lab.side_job import SideKind
from poolpilot.env.lab.sql_workload import Script, SqlClass, SqlWorkload

ROOT = Path(__file__).parents[2]
OF_NO_FILE = {"parameters", "family"}
"""What a family draws notes of itself, and what a file is for its own name."""


def test_page_has_the_directions_of_the_code() -> None:
    command = [sys.executable, "benchmarks/mariadb_suite.py", "--directions"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs" / "mariadb-suite.md").read_text()
    assert page.split("<!-- directions: begin -->\n")[1].split("<!-- directions: end -->")[0] == printed


def test_page_names_the_sealed_families() -> None:
    section = (ROOT / "docs" / "mariadb-suite.md").read_text().split("## Open, new and sealed")[1].split("## ")[0]
    assert all(f"`{family.name}`" in section for family in SEALED)


def test_every_field_and_script_is_documented() -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text()
    names = {field.name for of in (SqlWorkload, SqlClass) for field in fields(of)} - OF_NO_FILE
    assert [name for name in sorted({*names, *get_args(Script), *get_args(SideKind)}) if f"`{name}`" not in page] == []
