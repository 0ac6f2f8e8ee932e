"""The page of the MariaDB suite has the directions of the code and names its sealed families."""

import subprocess
import sys
from pathlib import Path

from poolpilot.env.lab.sealed_sql_families import SEALED

ROOT = Path(__file__).parents[2]


def test_page_has_the_directions_of_the_code() -> None:
    command = [sys.executable, "benchmarks/mariadb_suite.py", "--directions"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs" / "mariadb-suite.md").read_text()
    assert page.split("<!-- directions: begin -->\n")[1].split("<!-- directions: end -->")[0] == printed


def test_page_names_the_sealed_families() -> None:
    section = (ROOT / "docs" / "mariadb-suite.md").read_text().split("## Open, new and sealed")[1].split("## ")[0]
    assert all(f"`{family.name}`" in section for family in SEALED)
