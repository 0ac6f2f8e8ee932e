"""What the pages on operations and security tell to run runs, and what they name is there."""

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.docs.command_lines import ACCOUNT, shown, told

from poolpilot.lab.instance import Lab
from poolpilot.serve.page.server_history import ServerHistory
from poolpilot.serve.page.tuner_metrics import TunerMetrics
from poolpilot.serve.service.refusals.problem import REASONS
from poolpilot.serve.service.watch.service_metrics import PATHS, ServiceMetrics
from poolpilot.serve.tuner.machine.decision import State

ROOT = Path(__file__).parents[2]
OPERATIONS, SECURITY = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("operations.md", "security.md"))
ALERTS = ROOT / "docs/deploy/poolpilot-alerts.yml"


def blocks(kind: str = "") -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", OPERATIONS + SECURITY, re.DOTALL | re.MULTILINE)
    return [block for of, block in found if of == kind]


LINES = [line for page in (OPERATIONS, SECURITY) for line in [*shown(page), *told(page)]]
"""The lines of the pages that call `poolpilot`, and what they say of it in passing."""


CALM = ("check", "restore", "bundle", "why", "grants", "--version")
"""Commands of the pages that change nothing; those of the tuner run for two seconds, without `apply`."""


@pytest.fixture
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Journals and decisions in a folder of their own; a folder to write to."""
    monkeypatch.setenv("POOLPILOT_JOURNALS", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("quiet")
def test_the_commands_that_change_nothing_run_one_after_the_other(invoke: Callable[..., Any], lab: Lab) -> None:
    ran = []
    for line in LINES:
        arguments = shlex.split(line.replace(ACCOUNT, f"F={lab.defaults_file}").replace("8760", "0"))[1:]
        name = arguments[0]
        if name == "tune" and not {"apply", "--keeper", "--lease"} & {*arguments} and len(arguments) > 1:
            arguments += ["--seconds", "2", "--window", "0.5"]
        elif name not in CALM or arguments == ["restore"] or "--settings" in arguments:
            continue
        result = invoke(*arguments)
        assert result.code == 0, (line, result.err)
        ran.append(name)
    assert {*CALM, "tune"} - {*ran} == set()


def test_shell_of_the_pages_is_shell() -> None:
    for block in blocks():
        checked = subprocess.run(["bash", "-n"], input=block, capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, ""), block


def test_files_that_the_pages_name_are_there() -> None:
    named = re.findall(r"`((?:tests|benchmarks|docs|\.ci)/[\w./-]+)`", OPERATIONS + SECURITY)
    named += re.findall(r"python (benchmarks/\w+\.py)", OPERATIONS + SECURITY)
    assert len(named) > 20
    optional = {".ci/explained_advisories.toml"}  # only while there is something to explain
    assert [path for path in named if not (ROOT / path).is_file() and path not in optional] == []


def rules() -> dict[str, str]:
    """The expression of each alarm."""
    return dict(re.findall(r"^ +- alert: (\w+)\n +expr: (.+)$", ALERTS.read_text(encoding="utf-8"), re.MULTILINE))


def test_alarms_of_the_page_are_those_of_the_file() -> None:
    assert re.findall(r"^\| `(PoolPilot\w+)` \|", OPERATIONS, re.MULTILINE) == [*rules()]
    text = ALERTS.read_text(encoding="utf-8")
    assert len(rules()) == text.count("- alert:") == text.count("annotations: {summary: ")


def test_alarms_are_about_metrics_that_there_are(tmp_path: Path) -> None:
    service = ServiceMetrics()
    service.answered("/v1/predict", 503, 0.1)
    text = service.text().decode() + TunerMetrics([ServerHistory("db1", tmp_path)]).text().decode()
    known = set(re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE)) | set(re.findall(r"^(\w+)[{ ]", text, re.MULTILINE))
    for alert, expression in rules().items():
        named = re.findall(r"\b(poolpilot_\w+|up)\b(?=[{\[ ])", expression)
        assert named, alert
        assert [name for name in named if name not in known | {"up"}] == []


def test_labels_of_the_alarms_have_values_that_there_are() -> None:
    expressions = " ".join(rules().values())
    allowed: dict[str, set[str]] = {
        "state": {state.value for state in State},
        "reason": set(REASONS),
        "path": set(PATHS),
    }
    allowed["result"] = {"done", "failed"}
    pairs = re.findall(r'\b(state|reason|path|result)="([^"]*)"', expressions)
    assert len(pairs) >= 5
    (job,) = re.findall(r'job=~"([^"]*)\.\*"', expressions)
    assert f"scrape jobs whose names begin with `{job}`" in OPERATIONS
    assert [pair for pair in pairs if pair[1] not in allowed[pair[0]]] == []


def test_a_full_disk_is_told_while_it_is_full() -> None:
    """Before, the count of lost decisions alone told it, which comes with the first line that is written again."""
    assert rules()["PoolPilotLogStale"] == "time() - poolpilot_tuner_last_window_timestamp_seconds > 600"


def test_a_check_of_settings_takes_the_way_in_of_the_file() -> None:
    """Before, the pages gave it a DSN of its own, which wins over that of the file."""
    pages = OPERATIONS + (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
    checks = re.findall(r"poolpilot check [^`\n]*--settings tune[^`\n]*", pages)
    assert len(checks) == 2
    assert [line for line in checks if "=" in line or "--config" not in line] == []
    assert len(re.findall(r"POOLPILOT_TUNE_DEFAULTS_FILE=/etc/poolpilot/client\.cnf", pages)) == 2
