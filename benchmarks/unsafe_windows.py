"""Unsafe windows, guarded and unguarded, on simulated workloads of families that no curve was made of.

    python benchmarks/unsafe_windows.py --runs build/unsafe.jsonl --json benchmarks/reports/unsafe_windows.json

Each workload runs ten minutes from each of two configurations, the default and the best constant of the known curves,
under two predictors, the one that ships and one that names any configuration of the grid at random, as a broken model
would. The two are reported apart: what is said of the tuner is said of the first. *Guarded* is the tuner as it ships;
*unguarded* sets what is named at once, each minute; *untouched* sets nothing. A window of 5 s is unsafe where another
configuration than the first is in force, and throughput is below 95 % of that of the untouched server or latency (its
95th percentile) above 1.2 times, and that beyond three standard deviations of its windows. Bounds are over families, by
resampling them. Draws 1 to 4 of each family were looked at when the rules were made, so that later ones
are drawn unless told otherwise.
"""

import argparse
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

from harness.code_digest import made_with
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.latent.constants import constant_on
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars
from unsafe_arms import ARMS, untouched
from unsafe_counts import counts_of, summaries, table_of
from unsafe_predictors import PREDICTORS

HELD_OUT = tuple(name for name, family in FAMILIES.items() if family.split == "validation")
HORIZON_S = 600.0

Case = tuple[str, int, str, str]
"""Family, draw, start and predictor of a run."""

STARTS = ("default", "constant")


def run_of(workload: Workload, start: PoolTuple, predictor_name: str, seed: int) -> dict[str, Any]:
    """Both arms beside the untouched server: windows, unsafe ones, the longest row of them, and what was gained."""
    with SimulatedServer(workload, initial=start) as server:
        usual = untouched(server, HORIZON_S)
    row: dict[str, Any] = {}
    for name, arm in ARMS.items():
        with SimulatedServer(workload, initial=start) as server:
            found = arm(server, PREDICTORS[predictor_name](seed), HORIZON_S)
        row[name] = counts_of(found, usual)
    return row


def cases(draws: Iterable[int], predictors: Iterable[str]) -> list[Case]:
    """Family, draw, start and predictor of every run, one predictor after the other."""
    found = product(predictors, HELD_OUT, draws, STARTS)
    return [(family, draw, start, predictor) for predictor, family, draw, start in found]


def ran(case: Case) -> dict[str, Any]:
    """A run with its name, fit to be kept."""
    family, draw, start, predictor = case
    workload = draw_workload(FAMILIES[family], draw)
    knobs = KnobSpace.stock(workload.cpus)
    first = knobs.default_tuple() if start == "default" else constant_on(load_curves(), knobs, Objective())
    named = {"family": family, "draw": draw, "start": start, "predictor": predictor, "made_with": made_with()}
    return {**named, **run_of(workload, first, predictor, draw)}


def kept_runs(path: Path | None) -> dict[Case, dict[str, Any]]:
    """The finished runs of a file that were made with what is here."""
    rows = [row for row in read_runs(path) if row.get("made_with") == made_with()]
    return {(row["family"], row["draw"], row["start"], row["predictor"]): row for row in rows}


def main() -> None:
    """Runs what is not kept yet and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-draw", type=int, default=5, help="the first workload of each family")
    parser.add_argument("--draws", type=int, default=2, help="workloads of each family")
    parser.add_argument("--predictors", nargs="+", default=list(PREDICTORS), choices=list(PREDICTORS))
    parser.add_argument("--runs", type=Path, help="file of finished runs, so that a stopped one goes on")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    draws = range(given.first_draw, given.first_draw + given.draws)
    wanted, kept = cases(draws, given.predictors), kept_runs(given.runs)
    console = terminal()
    with opened_for_more(given.runs) as out, progress_bars(console) as bars:
        for case in bars.each("runs", [each for each in wanted if each not in kept], str):
            kept[case] = ran(case)
            keep_run(kept[case], out)
    report = summaries([kept[case] for case in wanted], given.predictors, STARTS)
    console.print(table_of(report))
    drawn = {"families": HELD_OUT, "first_draw": given.first_draw, "draws": given.draws, "horizon_s": HORIZON_S}
    write_json(given.json, {"made_with": made_with(), **drawn, "rows": report})


if __name__ == "__main__":
    main()
