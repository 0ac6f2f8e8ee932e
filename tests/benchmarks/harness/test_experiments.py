"""Every experiment can be listed and begun, and pages are made of reports that an experiment leaves."""

import subprocess
import sys
from pathlib import Path

import pytest

import run
from page_tables.part import REPORTS
from pages import PARTS
from poolpilot.errors import SettingError

ROOT = Path(__file__).parents[3]
EXPERIMENTS = run.experiments()
REPORTED = {name for name, experiment in EXPERIMENTS.items() if experiment.summarise is not None}


def test_parts_of_pages_are_made_of_reports_that_experiments_leave() -> None:
    quoted = {report for part in PARTS for report in part.reports}
    assert quoted <= REPORTED
    kept = {path.relative_to(ROOT / REPORTS).with_suffix("").as_posix() for path in (ROOT / REPORTS).rglob("*.json")}
    assert kept == quoted


@pytest.mark.parametrize("name", [name for name, one in EXPERIMENTS.items() if not callable(one.scenarios)])
def test_runs_differ_and_a_quick_one_is_among_them(name: str) -> None:
    tasks, quick = EXPERIMENTS[name].tasks(), EXPERIMENTS[name].tasks(quick=True)
    assert len(set(tasks)) == len(tasks)
    assert [(task.arm, task.scenario, task.seed) for task in quick] == [
        (task.arm, task.scenario, task.seed) for task in tasks[: len(quick)]
    ]


def test_questions_are_sentences() -> None:
    assert all(one.question[0].isupper() and one.question.endswith(".") for one in EXPERIMENTS.values())


def test_experiment_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(SettingError, match=r"no experiment 'nothing'; there are .*climbers"):
        run.run("nothing", 1, quick=True)


def test_quick_run_leaves_its_report_in_the_build_folder_and_pages_as_they_are(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "climbers", "--quick", "--processes", "1"]
    subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert sorted(path.name for path in (tmp_path / "build" / "bench").iterdir()) == [
        "climbers.quick.done.jsonl",
        "climbers.quick.json",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["build"]
