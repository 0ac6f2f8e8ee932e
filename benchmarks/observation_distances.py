"""How far windows of one workload lie apart by their ratios, and the first of another: what `--pace.ratio-shift` tells.

    python benchmarks/observation_distances.py --json benchmarks/reports/observation_distances.json   # simulated days
    python benchmarks/observation_distances.py --seeds 0 --logs build/logs/*                         # of live servers

Simulated days of two hours under the tuner (`tuner_day.py`), where it is known which workload sent which window, and
decision logs (`poolpilot tune --log FOLDER`) of servers whose load stayed the same all along. A window is held against
earlier ones of its own tuple, as the tuner does it: while it watches against up to eight before it, in a trial against
those of the same one; the first one of the incumbent in a trial, against those before it, is told apart.
Windows in which the workload changes are left out; of another workload the first two count. Days by which nothing was
chosen are drawn unless told otherwise; half a minute each.
"""

import argparse
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from code_digest import made_with
from day_methods import tuner_on
from day_server import Day, DayServer
from poolpilot.env.output import terminal, write_json
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.latent.ratios import ratio_names
from poolpilot.pipelines.progress_bars import progress_bars
from poolpilot.serve.tuner.decision_log import NAME, lines_of, logged
from poolpilot.serve.tuner.guard.guard_settings import PaceSettings
from poolpilot.serve.tuner.known.known_workloads import Ratios, mean_ratios, ratio_distance
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation

KEPT = 2 * PaceSettings().baseline_windows
SURE = 2
"""Windows of another workload that are told apart: by so many the tuner must have seen it."""

LIMIT = PaceSettings().ratio_shift
QUANTILES = (0.5, 0.99)


@dataclass(frozen=True)
class Seen:
    """A window that a tuner was told.

    Attributes:
        workload: What sent it; None where it changed meanwhile.
        pool_tuple: What was in force.
        verified: What was verified when the window began.
        in_trial: Whether a trial was on.
        ratios: What it looks like.
    """

    workload: int | None
    pool_tuple: PoolTuple
    incumbent: PoolTuple
    in_trial: bool
    ratios: Ratios


@dataclass(frozen=True)
class Distance:
    """How far a window is from earlier ones of its tuple.

    Attributes:
        where: Of which tuple it is, and when.
        another: Whether it is of another workload than those.
        apart: The distance.
    """

    where: str
    another: bool
    apart: float


WATCHED, FIRST, IN_TRIAL = "watched", "first of the incumbent in a trial", "in a trial"


class Distances:
    """Takes the windows of one server in their order, and tells how far each is from what it is to be like."""

    def __init__(self) -> None:
        self.found: list[Distance] = []
        self._watched: list[Seen] = []
        self._tried: list[Seen] = []
        self._verified: PoolTuple | None = None
        self._odd = 0

    def add(self, seen: Seen) -> None:
        """The next window."""
        if self._verified != seen.incumbent:
            self._verified = seen.incumbent
            self._watched, self._tried = [each for each in self._tried if each.pool_tuple == seen.incumbent], []
        if seen.workload is None:
            return
        if not seen.in_trial:
            self._tried = []
            self._watched = self._held(WATCHED, seen, self._watched)
            return
        same = [each for each in self._tried if each.pool_tuple == seen.pool_tuple]
        if not same and seen.pool_tuple == seen.incumbent:
            self._held(FIRST, seen, self._watched)
        others = [each for each in self._tried if each.pool_tuple != seen.pool_tuple]
        self._tried = others + self._held(IN_TRIAL, seen, same)

    def _held(self, where: str, seen: Seen, usual: Sequence[Seen]) -> list[Seen]:
        """Holds a window against others of its tuple; what the next one is held against."""
        another = bool(usual) and seen.workload != usual[-1].workload
        self._odd = self._odd + 1 if another else 0
        if len(usual) >= (1 if where == IN_TRIAL else SURE):
            apart = ratio_distance(seen.ratios, mean_ratios(each.ratios for each in usual))
            if math.isfinite(apart):
                self.found.append(Distance(where, another, apart))
        if another:
            return list(usual) if self._odd < SURE else [seen]
        return [*usual, seen][-KEPT:]


def of_day(seed: int, hours: float) -> list[Distance]:
    """The distances of a simulated day."""
    day, found = Day.draw(seed, hours, disturbed=False), Distances()
    with DayServer(day) as server:
        follow = _Follows(found, partial(_workload, day))
        tuner_on(server, follow.add).run(day.length_s)
    return found.found


def _workload(day: Day, observation: Observation) -> int | None:
    if observation.reading is None:
        return None
    began = day.phase_at(observation.at_s - observation.reading.seconds - 1.0)
    return began if began == day.phase_at(observation.at_s) else None


class _Follows:
    """Follows a tuner, whose decision before a window tells what it was for."""

    def __init__(self, found: Distances, workload: Callable[[Observation], int | None]) -> None:
        self._found, self._workload = found, workload
        self._before: Decision | None = None

    def add(self, observation: Observation, decision: Decision) -> None:
        before, self._before = self._before, decision
        if (
            observation.reading is None
            or observation.in_force is None
            or before is None
            or before.pool_tuple != observation.in_force
        ):
            return
        in_trial = before.state in (State.TRIAL, State.VERIFY)
        self._found.add(
            Seen(
                self._workload(observation),
                observation.in_force,
                before.incumbent,
                in_trial,
                observation.reading.ratios,
            )
        )


def of_log(folder: Path) -> list[Distance]:
    """The distances of a decision log whose load stayed the same."""
    found = Distances()
    follow = _Follows(found, lambda _look: 0)
    for path in sorted(folder.glob(f"{NAME}*"), reverse=True):
        for line in itertools.islice(lines_of(path), 1, None):
            each = logged(path, line)
            follow.add(each.observation, each.decision)
    return found.found


def rows_of(found: Iterable[Distance]) -> list[dict[str, Any]]:
    """A row for each kind of window."""
    kinds: dict[tuple[str, bool], list[Distance]] = defaultdict(list)
    for each in found:
        kinds[each.where, each.another].append(each)
    return [
        {"where": where, "another": another, "windows": len(some)} | _told([each.apart for each in some])
        for (where, another), some in sorted(kinds.items())
    ]


def _told(values: Sequence[float]) -> dict[str, float]:
    lowest, *middle, highest = np.quantile(values, (0.0, *QUANTILES, 1.0)).tolist()
    beyond = float(np.mean(np.array(values) > LIMIT))
    shown = {"least": lowest, "median": middle[0], "p99": middle[1], "most": highest, "beyond": beyond}
    return {name: round(value, 4) for name, value in shown.items()}


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The rows for people."""
    heads = ("windows", "of", "number", "least", "median", "99 %", "most", f"beyond {LIMIT:g}")
    table = Table(*heads)
    for row in rows:
        shown = [f"{row[key]:.2f}" for key in ("least", "median", "p99", "most")]
        whose = "another workload" if row["another"] else "the same"
        table.add_row(row["where"], whose, str(row["windows"]), *shown, f"{100 * row['beyond']:.2f} %")
    return table


def main() -> None:
    """Measures and writes the report."""
    given = _arguments()
    console, of_days, of_logs = terminal(), list[Distance](), list[Distance]()
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    with progress_bars(console) as bars:
        for seed in bars.each("days", list(seeds), str):
            of_days += of_day(seed, given.hours)
    for folder in given.logs:
        of_logs += of_log(folder)
    report: dict[str, Any] = {"made_with": made_with(), "ratios": ratio_names(), "limit": LIMIT}
    for name, found in (("days", of_days), ("logs", of_logs)):
        if found:
            report[name] = rows_of(found)
            console.print(f"{name}:", table_of(report[name]))
    write_json(given.json, report | {"seeds": list(seeds), "hours": given.hours, "logs_read": len(given.logs)})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-seed", type=int, default=120, help="seed of the first day")
    parser.add_argument("--seeds", type=int, default=12, help="days")
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--logs", type=Path, nargs="*", default=[], help="folders of decision logs")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
