"""A writer of records that is killed at random moments loses no row that it has acknowledged; views are made again."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_nothing_acknowledged_is_lost_and_views_are_the_same(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, "benchmarks/killed_store.py", "--kills", "5", "--seed", "3", "--json", str(report)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL, timeout=600)
    found = json.loads(report.read_text())
    assert found["acknowledged"] > 0
    assert (found["lost"], found["there_twice"], found["torn"], found["rows_of_no_whole_segment"]) == (0, 0, 0, 0)
    assert found["views_made_again_are_the_same"] is True
