"""What an hour of `poolpilot learn` brings on a machine that what ships has never seen, by minutes.

    python benchmarks/learn_by_minutes.py [--minutes 60] [--folder build/learn_by_minutes] \
        [--json benchmarks/reports/learn_by_minutes.json]

The base is what ships without every curve that was measured live on two processors; simulated curves and those of one
processor stay. `poolpilot learn` runs on it on this machine, which must have two, for an hour, on the embedded pool and
the simulator. What it had collected after 0, 10, 30 and 60 minutes, and what ships as a whole, which has seen all
training families on such a machine, then replay the held-out workloads that were recorded there (`pipelines/native`,
validation and test families) with one, three and five trials; beside them as many constants, the best portfolio of the
base. A choice is judged by windows that it was not made on.
Goes on where it was stopped. An hour on a quiet machine; `python benchmarks/learning_page.py` writes the table.
"""

import argparse
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.agent.baselines.portfolio import portfolio_on
from poolpilot.env.objective import regret
from poolpilot.env.output import write_json
from poolpilot.errors import ServerError
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import VARIABLE, load_curves
from poolpilot.pipelines.evaluate.statistics.regret_statistics import clustered_interval
from poolpilot.pipelines.learn.learn_settings import Staged
from poolpilot.pipelines.learn.learning_journal import NAME, LearningRun
from poolpilot.pipelines.learn.own_records import OwnRecords, in_families, joined_curves
from poolpilot.pipelines.store.records import StagingStore
from poolpilot.pipelines.store.views import connect
from recorded_cases import RecordedCase, mean_value, recorded_cases
from rival_censoring import censored_cases
from rival_methods import refined_on
from rival_statistics import LEAST_FAMILIES

CPUS = 2
STORE = Path("pipelines/native")
SERVERS: tuple[Staged, ...] = ("native", "simulated")
MINUTES = (0.0, 10.0, 30.0, 60.0)
TRIALS = (1, 3, 5)
SAW_ALL = "saw them all"
CONSTANTS = "constants"
RESAMPLES = 5000
LOOK_EVERY_S = 5.0


def main() -> None:
    """Learns, replays and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=MINUTES[-1], help="minutes of learning")
    parser.add_argument("--folder", type=Path, default=Path("build/learn_by_minutes"), help="what is learned goes here")
    parser.add_argument("--json", type=Path, help="where the report goes")
    given = parser.parse_args()
    if os.cpu_count() != CPUS:
        raise SystemExit(f"this machine has {os.cpu_count()} processors; the workloads were recorded on {CPUS}")
    base = without_live(load_curves())
    run = Learning(given.folder, given.minutes).run(base)
    libraries = {f"{minutes:g}": run.library(base, minutes) for minutes in MINUTES if minutes <= given.minutes}
    libraries[SAW_ALL] = load_curves()
    cases = held_out()
    lost = {tries: lost_by(libraries, cases, tries) for tries in TRIALS}
    rows = [row for tries, regrets in lost.items() for row in rows_of(libraries, cases, tries, regrets)]
    for row in rows:
        print(row)
    report = {"workloads": len(cases), "peak_gib": run.peak_gib(), "rows": rows, "lost": _by_workload(lost, cases)}
    write_json(given.json, report)


def without_live(curves: ResponseCurves) -> ResponseCurves:
    """A library without what was measured live on as many processors; of such curves no composition is known."""
    left = tuple(curve for curve in curves.curves if curve.composition or curve.cpus != CPUS)
    source = f"{curves.source}; without live ones of {CPUS} processors"
    return ResponseCurves(grid=curves.grid, source=source, curves=left)


class Learning:
    """A run of `poolpilot learn` in a folder of its own.

    Args:
        folder: Holds the base, what is learned, and the memory that was seen.
        minutes: For how long.
    """

    def __init__(self, folder: Path, minutes: float) -> None:
        self.out = folder / "learned"
        self._base = folder / "base.json.xz"
        self._memory = folder / "peak_gib.txt"
        self._minutes = minutes

    def run(self, base: ResponseCurves) -> "Learning":
        """Learns on a base, unless that is done; a run that was stopped goes on.

        Raises:
            ServerError: It failed.
        """
        self._base.parent.mkdir(parents=True, exist_ok=True)
        if self._is_finished():
            return self
        base.save(self._base)
        command = [str(Path(sys.executable).with_name("poolpilot")), "learn", "--out", str(self.out)]
        command += ["--minutes", f"{self._minutes:g}", "--set=track=false", f"--set=servers={','.join(SERVERS)}"]
        with subprocess.Popen(command, env={**os.environ, VARIABLE: str(self._base)}) as process:
            peak = [self.peak_gib()]
            watcher = threading.Thread(target=_watch_memory, args=(process, peak))
            watcher.start()
            status = process.wait()
            watcher.join()
        self._memory.write_text(f"{peak[0]:.2f}\n")
        if status != 0:
            raise ServerError(f"poolpilot learn ended with {status}; what it has collected is in {self.out}")
        return self

    def _is_finished(self) -> bool:
        journal = self.out / NAME
        return journal.is_file() and LearningRun.model_validate_json(journal.read_bytes()).finished

    def peak_gib(self) -> float:
        """Resident memory of all its processes together at most, in GiB; shared pages count in each."""
        return float(self._memory.read_text()) if self._memory.is_file() else 0.0

    def library(self, base: ResponseCurves, minutes: float) -> ResponseCurves:
        """What it had learned after so many minutes of the run."""
        records = OwnRecords(self.out / "records")
        measured = [one for server in SERVERS for one in _measured(records.store(server))]
        upto_s = min(began_s for _, began_s, _ in measured) + 60.0 * minutes
        ended = {name for name, _, ended_s in measured if ended_s <= upto_s}
        return joined_curves(base, in_families([one for one in records.curves(base.grid) if one.name in ended]))


def _measured(store: Path) -> list[tuple[str, float, float]]:
    """The workloads of a store, each with the time of its first and its last window."""
    with connect(StagingStore(store)) as views:
        rows = "SELECT workload_id, min(time_unix_s), max(time_unix_s) FROM records GROUP BY ALL"
        return views.execute(rows).fetchall()


def _resident_gib(process: int) -> float:
    """Resident memory of a process and of all that it has started."""
    folder = Path(f"/proc/{process}")
    try:
        pages = int((folder / "statm").read_text().split()[1])
        children = [int(one) for task in folder.glob("task/*/children") for one in task.read_text().split()]
    except OSError:  # it has ended meanwhile
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**30 + sum(map(_resident_gib, children))


def _watch_memory(process: "subprocess.Popen[bytes]", peak: list[float]) -> None:
    while process.poll() is None:
        peak[0] = max(peak[0], _resident_gib(process.pid))
        time.sleep(LOOK_EVERY_S)


def held_out() -> list[RecordedCase]:
    """The held-out workloads that were recorded on as many processors, without those that nothing can be judged on."""
    cases = [one for one in recorded_cases("native", STORE, "validation", "test") if one.limits.cpus == CPUS]
    reasons = censored_cases(cases)
    return [one for one in cases if (one.kind, one.name) not in reasons]


Regrets = Mapping[str, Sequence[float]]
"""What was lost on each workload, by what had learned."""


def lost_by(libraries: Mapping[str, ResponseCurves], cases: Sequence[RecordedCase], tries: int) -> Regrets:
    """What is lost on each workload after so many trials: with each library, and by as many constants of the base."""
    found = {name: [_regret(LatentBandit(curves), case, tries) for case in cases] for name, curves in libraries.items()}
    base = libraries["0"]
    found[CONSTANTS] = [_regret(portfolio_on(base, case.limits, case.objective, tries), case, tries) for case in cases]
    return found


def rows_of(
    libraries: Mapping[str, ResponseCurves], cases: Sequence[RecordedCase], tries: int, regrets: Regrets
) -> list[dict[str, Any]]:
    """A row for every library after so many trials, with the difference in regret to the one that saw them all."""
    rows = []
    for name, found in regrets.items():
        beyond = [one - other for one, other in zip(found, regrets[SAW_ALL], strict=True)]
        rows.append(
            {
                "learned": name,
                "own_curves": _own(libraries, name),
                "tries": tries,
                "regret": float(np.mean(found)),
                "interval": _interval(cases, found),
                "beyond": float(np.mean(beyond)),
                "beyond_interval": None if name == SAW_ALL else _interval(cases, beyond),
            }
        )
    return rows


def _own(libraries: Mapping[str, ResponseCurves], name: str) -> int | None:
    """Curves that minutes of learning have brought; None of what has not learned here."""
    return None if name in (SAW_ALL, CONSTANTS) else len(libraries[name].curves) - len(libraries["0"].curves)


def _by_workload(lost: Mapping[int, Regrets], cases: Sequence[RecordedCase]) -> list[dict[str, Any]]:
    """What was lost on each workload, from which other intervals can be made."""
    return [
        {"workload": case.name, "family": case.family, "tries": tries}
        | {name: round(found[place], 5) for name, found in regrets.items()}
        for tries, regrets in lost.items()
        for place, case in enumerate(cases)
    ]


def _regret(predictor: Predictor, case: RecordedCase, tries: int) -> float:
    """What is lost to the best by the choice after so many trials."""
    choice, _ = refined_on(case, predictor, tries)
    return regret(case.value(case.nearest(choice)), mean_value(case.objective, case.again))


def _interval(cases: Sequence[RecordedCase], values: Sequence[float]) -> tuple[float | None, float | None] | None:
    """The 95 % interval of a mean, clustered by family."""
    by_family: dict[str, list[float]] = defaultdict(list)
    for case, value in zip(cases, values, strict=True):
        by_family[case.family].append(value)
    return clustered_interval(by_family, RESAMPLES, 0) if len(by_family) >= LEAST_FAMILIES else None


if __name__ == "__main__":
    main()
