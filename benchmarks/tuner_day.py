"""A day in fast motion: the tuner beside the default, the best constant, a cold climb and a warm one.

    python benchmarks/tuner_day.py --runs build/days.jsonl --json benchmarks/reports/tuner_day.json [--seeds 20]

Simulated servers of 1 to 4 processors under three workloads that take turns, drift, are restarted once, and are set by
a person once. The tuner *of throughput* minds no latency (`--guard.most-latency-rise`). The *unguarded* tuner sets what
is predicted at once, every five minutes, without verifying anything. The reference of a phase is the best configuration
of the machine grid, measured alone. *Completed* is what a method completed on a day over what the untouched default
did. A bin of 30 s is *unsafe* where it completes less than 95 % of
what the default completes in that phase on average, less three standard deviations of the default's own bins, and
*slow* where its latency, the 95th percentile as the tuner sees it, is above 1.2 times the default's and that beyond
three deviations. Days 0 to 5 are those by which its rules were made, so that others are drawn unless told otherwise. A
day takes some minutes for each method; `--runs` keeps what is finished.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from day_methods import METHODS, DayResult
from day_report import ahead_of, row_of, summary, table_of
from day_server import Day
from harness.code_digest import made_with
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars

REFERENCE_S = 20.0
DEFAULT, REFERENCE, TUNER = "default", "reference", "tuner"

UNTUNED = (DEFAULT, REFERENCE, "constant", "cold climb")
"""What does not depend on the code of the tuner: its days count for another tuner too."""


def best_per_s(workload: Workload) -> float:
    """Greatest throughput of a workload over the machine grid, each tuple on a pool of its own."""
    rates = []
    with SimulatedServer(workload) as first:
        tuples = MachineGrid().on(first.knobs).tuples
    for each in tuples:
        with SimulatedServer(workload, initial=each) as server:
            server.run_for(2.0)
            before = server.snapshot().counters["completed"]
            server.run_for(REFERENCE_S)
            rates.append((server.snapshot().counters["completed"] - before) / REFERENCE_S)
    return max(rates)


class KeptDays:
    """Days that methods have lived through, kept in a file so that a stopped run goes on.

    Args:
        path: The file; None for none.
        hours: Length of the days.
        disturbed: Whether they have a restart and a person.
        any_tuner: Whether days count that another tuner than today's has lived through.

    Attributes:
        tuners: Digests of the tuners that the days are of.
    """

    def __init__(self, path: Path | None, hours: float, *, disturbed: bool, any_tuner: bool = False) -> None:
        self._path = path
        self._asked = {"hours": hours, "disturbed": disturbed}
        self._any_tuner = any_tuner
        rows = [row for row in read_runs(path) if self._counts(row)]
        self._done: dict[tuple[int, str], Any] = {(row["seed"], row["method"]): row["result"] for row in rows}
        self.tuners = {row["made_with"][TUNER] for row in rows if TUNER in row["made_with"]}

    def lived(self, day: Day, method: str) -> DayResult:
        """What a method made of a day, now or before."""
        return DayResult(**self._kept(day, method, lambda: vars(METHODS[method](day))))

    def best(self, day: Day) -> Sequence[float]:
        """Greatest throughput of each workload of a day."""
        best: Sequence[float] = self._kept(day, REFERENCE, lambda: [best_per_s(each) for each in day.workloads])
        return best

    def has(self, seed: int, methods: Sequence[str]) -> bool:
        """Whether a day needs nothing more for these methods."""
        return all((seed, what) in self._done for what in (DEFAULT, REFERENCE, *methods))

    def _counts(self, row: Mapping[str, Any]) -> bool:
        made = dict(row["made_with"])
        if self._any_tuner and TUNER in made:
            made[TUNER] = made_with()[TUNER]
        return self._tags(row["method"]).items() <= {**row, "made_with": made}.items()

    def _tags(self, what: str) -> dict[str, Any]:
        made = {name: digest for name, digest in made_with().items() if name != TUNER or what not in UNTUNED}
        return {**self._asked, "made_with": made}

    def _kept(self, day: Day, what: str, run: Callable[[], Any]) -> Any:
        key = day.seed, what
        if key not in self._done:
            self._done[key] = run()
            self.tuners |= set() if what in UNTUNED else {made_with()[TUNER]}
            with opened_for_more(self._path) as out:
                keep_run({"seed": day.seed, "method": what, **self._tags(what), "result": self._done[key]}, out)
        return self._done[key]


def rows_of(day: Day, methods: Sequence[str], kept: KeptDays) -> dict[str, dict[str, float]]:
    """How each method did on a day."""
    best, of_default = kept.best(day), kept.lived(day, DEFAULT)
    return {name: row_of(day, best, of_default, kept.lived(day, name)) for name in methods}


def main() -> None:
    """Runs every method on every day and writes the report."""
    given = _arguments()
    kept = KeptDays(given.runs, given.hours, disturbed=not given.undisturbed, any_tuner=given.finished)
    methods = [name for name in given.methods if name != DEFAULT]
    drawn = range(given.first_seed, given.first_seed + given.seeds)
    seeds = [seed for seed in drawn if not given.finished or kept.has(seed, methods)]
    if not seeds:
        raise SystemExit(f"no day is finished in {given.runs}: leave out --finished")
    console, days = terminal(), list[Mapping[str, Mapping[str, float]]]()
    with progress_bars(console) as bars:
        for seed in bars.each("days", seeds, str):
            days.append(rows_of(Day.draw(seed, given.hours, disturbed=not given.undisturbed), methods, kept))
    report = {name: summary([day[name] for day in days]) | {"ahead_of": ahead_of(days, name)} for name in methods}
    console.print(table_of(report))
    of_days = {"seeds": seeds, "hours": given.hours, "disturbed": not given.undisturbed}
    made = made_with() | {TUNER: ", ".join(sorted(kept.tuners))}
    by_day = {str(seed): day for seed, day in zip(seeds, days, strict=True)}
    write_json(given.json, {"made_with": made, **of_days, "methods": report, "days": by_day})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-seed", type=int, default=20, help="seed of the first day")
    parser.add_argument("--seeds", type=int, default=20, help="days")
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--undisturbed", action="store_true", help="days without a restart and without a person")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--runs", type=Path, help="file of finished days, so that a stopped run goes on")
    parser.add_argument(
        "--finished",
        action="store_true",
        help="report of the days that need nothing more, whatever tuner has lived through them, and no others",
    )
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
