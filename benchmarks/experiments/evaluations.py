"""What the commands of the package measure themselves: the demonstration and `poolpilot evaluate`."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.experiment import Experiment, Found, Rows, Task
from page_tables.demo_table import COMPARED
from page_tables.drawn_tables import SEEDS
from page_tables.drawn_tables import SHOWN as SHOWN_OF_DRAWN
from page_tables.file_tables import SHOWN
from poolpilot.errors import ServerError
from rivals.drawn_workloads import write_drawn

POOLPILOT = str(Path(sys.executable).parent / "poolpilot")
WORKLOADS = Path("benchmarks/workloads")
KEPT = Path("build/bench")
DEMO_FIELDS = ("regret", "told_apart", "time_to_95_s")
METHOD_FIELDS = ("goodput_share_mean", "regret_mean", "unsafe", "with_long_classes")
DIGITS = 4
"""More than a live measurement knows."""


def told(*arguments: str, report: str = "") -> Any:
    """What a command writes as JSON.

    Raises:
        ServerError: It failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        where = ("--output", folder) if report else ("--json", f"{folder}/report.json")
        if subprocess.run([POOLPILOT, *arguments, *where], check=False).returncode:
            raise ServerError(f"poolpilot {' '.join(arguments)} failed; what it said stands above")
        return json.loads((Path(folder) / (report or "report.json")).read_text())


def demonstrated(task: Task) -> Found:
    """What each method lost on the workloads of a demonstration."""
    workloads = told("demo", "--seed", str(task.seed), report="report.json")["workloads"]
    return {
        "workloads": [
            {"name": one["name"]}
            | {name: {field: one[name][field] for field in DEMO_FIELDS if field in one[name]} for name in COMPARED}
            for one in workloads
        ]
    }


def evaluated(_: Task) -> Found:
    """The held-out workloads of the records."""
    return dict(told("evaluate"))


def files_evaluated(task: Task, folder: Callable[[], Path], shown: Sequence[str]) -> Found:
    """The methods that a page shows, on all files of a folder; workload files resume by themselves."""
    runs = KEPT / f"{task.scenario}.files.jsonl"
    report = told("evaluate", "--workloads", str(folder()), "--set", f"files.runs={runs}")
    return {
        "workloads": report["workloads"],
        "censored": report["censored"],
        "noise": report["noise"],
        "methods": {
            name: {field: row[field] for field in METHOD_FIELDS if field in row}
            for name, row in report["methods"].items()
            if name in shown
        },
        "results": [
            {"workload": one["workload"], "family": one["family"], "runs": list(map(run_of, one["runs"]))}
            for one in report["results"]
        ],
    }


def run_of(run: Found) -> Found:
    """What is kept of a method on a file."""
    numbers = {name: round(run[name], DIGITS) for name in ("goodput_share", "error")}
    return {"method": run["method"], "chosen": run["chosen"], **numbers}


def drawn(seed: int, server: str = "simulated", number: int = 20) -> Path:
    """A folder of files that were drawn."""
    folder = Path("build/workloads") / f"drawn_{seed}"
    write_drawn(folder, seed, server=server, number=number, cpus=(1, 2) if server == "native" else None)
    return folder


def only(rows: Rows) -> Found:
    """The report of one run."""
    return rows[0].found


def _of_files(name: str, folder: Callable[[], Path], shown: Sequence[str]) -> Experiment:
    return Experiment(
        f"What is each method worth on the workload files `{name}`? Hours.",
        scenarios=(name,),
        measure=partial(files_evaluated, folder=folder, shown=shown),
        summarise=only,
    )


FILES = {
    f"evaluation_files/{kind}{again}": _of_files(f"{kind}{again}", partial(Path, WORKLOADS / kind), SHOWN)
    for kind in ("simulated", "native", "mariadb")
    for again in ("", "_again")
    if (kind, again) != ("simulated", "_again")
}
DRAWN = {
    "drawn": partial(drawn, 314),
    "drawn_live": partial(drawn, 777, "native", 18),
    "drawn_500": partial(drawn, 500, number=48),
    "drawn_271": partial(drawn, 271),
    "drawn_99": partial(drawn, 99, number=24),
}
assert DRAWN.keys() == SEEDS.keys()

EXPERIMENTS = {
    "demo": Experiment(
        "What does each method of the demonstration lose? Four minutes a seed.",
        scenarios=("demo",),
        measure=demonstrated,
        summarise=lambda rows: {"workloads": [one for row in rows for one in row.found["workloads"]]},
        seeds=range(1, 11),
    ),
    "evaluation": Experiment(
        "What does a network lose on held-out workloads? Minutes.",
        scenarios=("records",),
        measure=evaluated,
        summarise=only,
    ),
    **FILES,
    **{f"evaluation_files/{name}": _of_files(name, folder, SHOWN_OF_DRAWN) for name, folder in DRAWN.items()},
}
