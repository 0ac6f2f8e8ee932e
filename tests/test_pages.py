"""The published pages say what the reports say, and reports hold tables, not samples."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from poolpilot.env.output import write_json

ROOT = Path(__file__).parent.parent
REPORTS = ROOT / "benchmarks" / "reports"
PAGES = sorted(path.stem for path in (ROOT / "benchmarks").glob("*_page.py"))
MOST_LINES = 45_000


@pytest.mark.parametrize("script", PAGES)
def test_page_made_again_from_its_reports_is_the_committed_one(script: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("*.png"))
    (tmp_path / "docs" / "images").mkdir(exist_ok=True)
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    command = [sys.executable, f"benchmarks/{script}.py"]
    subprocess.run(command, cwd=tmp_path, check=True, env={**os.environ, "MPLBACKEND": "agg"})
    for page in [*(tmp_path / "docs").glob("*.md"), tmp_path / "README.md"]:
        assert page.read_text() == (ROOT / page.relative_to(tmp_path)).read_text(), f"{script} changes {page.name}"


def test_reports_hold_tables_a_row_a_line(tmp_path: Path) -> None:
    reports = sorted(REPORTS.rglob("*.json"))
    assert len(reports) > 40
    lines = 0
    for report in reports:
        text = report.read_text()
        lines += text.count("\n")
        write_json(tmp_path / "again.json", json.loads(text))
        assert text == (tmp_path / "again.json").read_text(), f"{report.name} was not written by write_json"
    assert lines < MOST_LINES
