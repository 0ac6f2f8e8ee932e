"""The published pages say what the reports say, and reports hold tables, not samples."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from poolpilot.env.output import write_json

ROOT = Path(__file__).parent.parent
REPORTS = ROOT / "benchmarks" / "reports"
MOST_BYTES = 600_000


def test_pages_made_again_from_their_reports_are_the_committed_ones(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("*.png"))
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    written = subprocess.run([sys.executable, "benchmarks/pages.py"], cwd=tmp_path, check=True, capture_output=True)
    assert b"no report" not in written.stdout
    for page in [*(tmp_path / "docs").glob("*.md"), tmp_path / "README.md"]:
        assert page.read_text() == (ROOT / page.relative_to(tmp_path)).read_text(), f"{page.name} has changed"


def test_reports_hold_tables_a_row_a_line(tmp_path: Path) -> None:
    reports = sorted(REPORTS.rglob("*.json"))
    assert len(reports) > 20
    for report in reports:
        text = report.read_text()
        write_json(tmp_path / "again.json", json.loads(text))
        assert text == (tmp_path / "again.json").read_text(), f"{report.name} was not written by write_json"
    assert sum(report.stat().st_size for report in reports) < MOST_BYTES
