"""docs/records.md lists the columns of today, and what it tells to run runs."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from poolpilot.featurizer.measures import HISTOGRAMS, STATISTICS
from poolpilot.featurizer.record import RECORD_FIELDS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/records.md"


def test_columns_are_those_of_today(tmp_path: Path) -> None:
    for name in ("record_columns.py", "records.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path)
    subprocess.run([sys.executable, tmp_path / "record_columns.py"], check=True)
    assert (tmp_path / "records.md").read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), (
        "run `python docs/record_columns.py` and commit the page"
    )


def test_every_column_is_named_or_is_a_statistic_of_a_histogram() -> None:
    named = {*re.findall(r"`(\w+)`", PAGE.read_text(encoding="utf-8").partition("<!-- columns: begin -->")[2])}
    named |= {f"{histogram}_{statistic}" for histogram in named & {*HISTOGRAMS} for statistic in STATISTICS}
    assert [field.name for field in RECORD_FIELDS if field.name not in named] == []


def test_stores_of_the_clone_are_named() -> None:
    beginning = PAGE.read_text(encoding="utf-8").partition("```")[0]
    stores = {f"pipelines/{card.parent.name}" for card in (ROOT / "pipelines").glob("*/CARD.md")}
    assert {*re.findall(r"`(pipelines/\w+)`", beginning)} == stores


@pytest.mark.parametrize("number", range(2))
def test_snippets_run_in_a_clone(tmp_path: Path, number: int) -> None:
    (tmp_path / "pipelines").symlink_to(ROOT / "pipelines")
    snippet = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[number]
    done = subprocess.run([sys.executable, "-c", snippet], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "page_faults" in done.stdout or "cpu_single" in done.stdout
