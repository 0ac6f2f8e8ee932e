"""Faults that are planted many times each: whether what was verified is in force afterwards, and nothing is lost.

    python benchmarks/faults.py [--count 20] [--runs build/faults.jsonl] [--json benchmarks/reports/faults.json]

The faults are the tests that are marked `fault`: a tuner, keeper, service, database or load that is killed, services
that are slow, down or wrong, full disks, jumping clocks, two tuners, people who set the pool meanwhile, logins that
hang. Each is run so many times, on a private MariaDB where it needs one. An hour; goes on where it was stopped, with
`--runs`. Result to expect: every one held every time. `python benchmarks/pages.py` writes the table.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from code_digest import made_with
from poolpilot.env.output import terminal, write_json
from poolpilot.errors import PoolPilotError, ServerError
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-m", "fault")
FOLDERS = ("tests/serve", "tests/env", "tests/pipelines")
REPORTED = ("fault", "planted", "held", "said")
"""What the report tells of each fault."""


def main() -> None:
    """Plants every fault that is left, prints and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20, help="times that each is planted")
    parser.add_argument("--names", nargs="+", default=[], help="parts of the names of faults; all if not given")
    parser.add_argument("--runs", type=Path, help="file of finished faults, so that a stopped run goes on")
    parser.add_argument("--json", type=Path, help="where the report goes, such as benchmarks/reports/faults.json")
    given = parser.parse_args()
    faults = [one for one in collected() if not given.names or any(name in one for name in given.names)]
    if not faults:
        raise ServerError("no fault is called so")
    asked = {"count": given.count, "made_with": made_with()}
    done = {row["fault"]: row for row in read_runs(given.runs) if asked.items() <= row.items()}
    with opened_for_more(given.runs) as out, progress_bars(terminal()) as bars:
        for test, wanted in bars.each("planting", list(by_test(faults).items()), lambda one: in_words(one[0])):
            if any(fault not in done for fault in wanted):
                for row in planted(test, wanted, given.count):
                    done[row["fault"]] = row
                    keep_run({**row, **asked}, out)
    rows = [{name: done[fault][name] for name in REPORTED} | {"fault": in_words(fault)} for fault in faults]
    for row in rows:
        print(f"{row['held']:3d} of {row['planted']} held: {row['fault']}")
    write_json(given.json, {**asked, "faults": rows})
    if any(row["held"] < row["planted"] for row in rows):
        raise SystemExit(1)


def collected() -> list[str]:
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
    return [row_of(fault, [case for case in cases if is_of(case, fault, count)], count) for fault in faults]


def row_of(fault: str, cases: list[ET.Element], count: int) -> Mapping[str, Any]:
    """How often a fault was planted, and how often everything held."""
    held = [case for case in cases if not any(case.find(kind) is not None for kind in ("failure", "error", "skipped"))]
    return {"fault": fault, "count": count, "planted": len(cases), "held": len(held), "said": told(cases)}


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


if __name__ == "__main__":
    try:
        main()
    except PoolPilotError as error:
        raise SystemExit(str(error)) from error
