"""Runs an experiment, writes its report and the parts of pages that are made of it.

    python benchmarks/run.py NAME [--quick] [--processes N]
    python benchmarks/run.py --list

Ctrl-C keeps what is done in build/bench/NAME.jsonl, and the same command goes on from there. With --quick the first
runs alone are done, in small: it shows that everything works, and its report goes to build/bench, not to the pages.
"""

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.experiment import Experiment
from harness.running import run_all
from page_tables.part import REPORTS
from poolpilot.env.measurement.other_work import other_work
from poolpilot.env.output import terminal, warn, write_json
from poolpilot.errors import PoolPilotError, SettingError

MODULES = (
    "mariadb_suite",
    "live_rivals",
    "simulated_rivals",
    "networks",
    "advice_by_processors",
    "climbers",
    "tuner_days",
    "unsafe",
    "tuner_pays",
    "evaluations",
    "gain_bound",
    "advice_walks",
    "mariadb_cost",
    "faults",
    "roll_back_time",
    "operations",
    "instruments",
    "soak",
    "calibration",
    "mariadb_picture",
)
KEPT = Path("build/bench")
INTERRUPTED = 130


def experiments(name: str = "") -> dict[str, Experiment]:
    """Every experiment by its name, which is that of its report; where one is asked for, no more than it takes."""
    found: dict[str, Experiment] = {}
    for module in sorted(MODULES, key=lambda each: not name.startswith(each)):
        found |= import_module(f"experiments.{module}").EXPERIMENTS
        if name in found:
            break
    return found


def run(name: str, processes: int, *, quick: bool) -> None:
    """Runs one.

    Raises:
        SettingError: There is no such experiment.
    """
    known = experiments(name)
    if name not in known:
        raise SettingError(f"there is no experiment {name!r}; there are {', '.join(known)}")
    experiment = known[name]
    kept = KEPT / f"{name}{'.quick' if quick else ''}.jsonl"
    if not experiment.together:
        warn(other_work(), terminal())
    rows = run_all(experiment, kept, processes, quick=quick)
    if experiment.summarise is not None:
        tell(name, experiment, experiment.summarise(rows), kept, quick=quick)
    # The next measurement begins anew; what it is made of stays beside it.
    kept.replace(kept.with_suffix(".done.jsonl"))


def tell(name: str, experiment: Experiment, report: Any, kept: Path, *, quick: bool) -> None:
    """Writes a report, its picture and the parts of pages that are made of it; of a quick one the report alone."""
    written = kept.with_suffix(".json") if quick else REPORTS / f"{name}.json"
    written.parent.mkdir(parents=True, exist_ok=True)
    write_json(written, report)
    terminal().print(f"wrote {written}")
    if not quick:
        if experiment.picture is not None:
            experiment.picture(report)
        import pages  # who is stopped before does not wait for what pages are made with

        pages.write({name})


def main() -> int:
    """Runs what is named, or lists what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help="an experiment")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--quick", action="store_true", help="the first runs alone, in small")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)), help="beside each other")
    given = parser.parse_args()
    if given.name is None or given.list:
        for name, experiment in experiments().items():
            print(f"{name}: {experiment.question}")
        return 0
    try:
        run(given.name, given.processes, quick=given.quick)
    except KeyboardInterrupt:
        print("Stopped; the same command goes on.")
        return INTERRUPTED
    except PoolPilotError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
