"""A service that is killed at random moments loses no outcome that it has acknowledged."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks/killed_service.py"


def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, str(SCRIPT), "--kills", "5", "--seed", "7", "--json", str(report)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=600)
    found = json.loads(report.read_text())
    assert found["acknowledged"] > 0
    assert found["answers"]["none"] >= 5, "every kill breaks connections"
    assert (found["lost"], found["written_twice"]) == (0, 0)
    assert set(found["answers"]) <= {"200", "201", "none"}
