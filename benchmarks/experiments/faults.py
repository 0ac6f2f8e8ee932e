"""Faults that are planted many times each: whether what was verified is in force afterwards, and nothing is lost.

The faults are the tests that are marked `fault`: a tuner, keeper, service, database or load that is killed, services
that are slow, down or wrong, full disks, jumping clocks, two tuners, people who set the pool meanwhile, logins that
hang. Each is run so many times, on a private MariaDB where it needs one. Every one should hold every time.
"""

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from harness.code_digest import made_with
from harness.experiment import Experiment, Found, Rows, Task
from poolpilot.errors import ServerError

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-m", "fault")
FOLDERS = ("tests/serve", "tests/env", "tests/pipelines")
COUNT = 20
"""Times that each is planted."""


def tests() -> list[str]:
    """The tests that plant faults: several faults are one test with several parameters."""
    return list(by_test(collected()))


def measured(task: Task) -> Found:
    """Plants the faults of one test."""
    wanted = [fault for fault in collected() if fault.partition("[")[0] == task.scenario]
    return {"faults": planted(task.scenario, wanted, 1 if task.quick else COUNT)}


def summarise(rows: Rows) -> dict[str, Any]:
    """A row for each fault."""
    faults = [{**fault, "fault": in_words(fault["fault"])} for row in rows for fault in row.found["faults"]]
    return {"count": COUNT, "made_with": made_with(), "faults": faults}


@cache
def collected() -> Sequence[str]:
    """The identifiers of all tests that are faults."""
    said = subprocess.run([*PYTEST, "--collect-only", *FOLDERS], capture_output=True, text=True, check=True).stdout
    return [line for line in said.splitlines() if "::" in line]


def by_test(faults: Sequence[str]) -> dict[str, list[str]]:
    """The faults by the test that plants them: several are one test with several parameters."""
    found: dict[str, list[str]] = defaultdict(list)
    for fault in faults:
        found[fault.partition("[")[0]].append(fault)
    return dict(found)


def planted(test: str, faults: Sequence[str], count: int) -> list[Mapping[str, Any]]:
    """Runs a test so many times, with each of its parameters: a row for each fault."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        run = subprocess.run(
            [*PYTEST, "--count", str(count), f"--junit-xml={report}", test], capture_output=True, text=True
        )
        cases = list(ET.parse(report).iter("testcase")) if report.is_file() else []
    if not cases:
        raise ServerError(f"{test} could not be run: {run.stdout[-2000:]}{run.stderr[-2000:]}")
    return [row_of(fault, [case for case in cases if is_of(case, fault, count)]) for fault in faults]


def row_of(fault: str, cases: list[ET.Element]) -> Mapping[str, Any]:
    """How often a fault was planted, and how often everything held."""
    held = [case for case in cases if not any(case.find(kind) is not None for kind in ("failure", "error", "skipped"))]
    return {"fault": fault, "planted": len(cases), "held": len(held), "said": told(cases)}


def is_of(case: ET.Element, fault: str, count: int) -> bool:
    """Whether a run is of a fault: behind the parameter its name has the number of the run and how many there are."""
    name, _, inside = str(case.get("name")).partition("[")
    wanted, _, parameter = fault.rpartition("::")[2].partition("[")
    without = re.sub(rf"-?\d+-{count}$", "", inside.removesuffix("]"))
    return name == wanted and (count == 1 or without == parameter.removesuffix("]"))


def told(cases: list[ET.Element]) -> list[str]:
    """What was said of those that did not hold, a line each."""
    found = [each for case in cases for kind in ("failure", "error", "skipped") for each in case.iter(kind)]
    return [str(each.get("message", "")).splitlines()[0][:200] for each in found]


def in_words(fault: str) -> str:
    """A test's name as the sentence that it is."""
    name, _, parameter = fault.rpartition("::")[2].partition("[")
    sentence = name.removeprefix("test_").replace("_", " ")
    return f"{sentence} ({parameter.removesuffix(']')})" if parameter else sentence


EXPERIMENTS = {
    "faults": Experiment(
        "Does every fault of tuner and service end well, twenty times each? An hour.",
        scenarios=tests,
        measure=measured,
        summarise=summarise,
        under=made_with,
    )
}
