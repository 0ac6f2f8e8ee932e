"""docs/data.md lists the families of today, opens the records in three lines each, and the cards are what they say."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from poolpilot.pipelines.store.data_card import CARD_FILE, write_data_card
from poolpilot.pipelines.store.fault import FAULT_KINDS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/data.md"
MADE_WITH: dict[str, dict[str, str]] = {
    "records": {},
    "native": {},
    "mariadb": {"mariadbd": "Ver 10.11.18-MariaDB-0+deb12u1 for debian-linux-gnu on", "sysbench": "1.0.20"},
}


def test_families_are_those_of_today(tmp_path: Path) -> None:
    for name in ("family_table.py", "data.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path)
    subprocess.run([sys.executable, tmp_path / "family_table.py"], check=True)
    assert (tmp_path / "data.md").read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), (
        "run `python docs/family_table.py` and commit the page"
    )


@pytest.mark.parametrize("library", ["duckdb", "pandas", "pyarrow"])
def test_records_open_in_three_lines(tmp_path: Path, library: str) -> None:
    (tmp_path / "pipelines").symlink_to(ROOT / "pipelines")
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (snippet,) = [one for one in snippets if one.startswith(f"import {library}")]
    assert len([line for line in snippet.splitlines() if line]) == 3
    done = subprocess.run([sys.executable, "-c", snippet], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "cpu_single" in done.stdout


def test_every_kind_of_fault_is_explained() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [kind for kind in FAULT_KINDS if f"| `{kind}` |" not in text] == []


@pytest.mark.parametrize("name", MADE_WITH)
def test_cards_are_what_todays_code_writes_of_the_records(tmp_path: Path, name: str) -> None:
    store = ROOT / "pipelines" / name
    shutil.copytree(store, tmp_path / name)
    written = write_data_card(tmp_path / name, MADE_WITH[name])
    assert written.read_text(encoding="utf-8") == (store / CARD_FILE).read_text(encoding="utf-8")
