"""Tries that are only to learn from: the tuner with and without them, paired on the same simulated workloads.

    python benchmarks/exploring_tuner.py --starts constant --runs build/exploring.jsonl \
        --json benchmarks/reports/exploring_tuner.json

Workloads are draws of the families that no curve was made of (number 0 to 6 is the first draw of each of the seven, 7
to 13 the second, and so on; those up to 27 were looked at when its rules were made) or, with `--of
drawn`, composed step by step (`workload_files.py`) on 1, 2 and 4 processors. Each runs half an hour from the best
constant of the known curves and from the default. *Without* is `--guard.explorations 0`. The end is the last quarter.
Unsafe windows are those of `unsafe_windows.py`, held against an untouched server. A workload is flat where no tuple of
the machine grid completes 3 % more than it does untouched. Workloads of more than 6,000 requests a second are left out:
they take minutes. Intervals are over families, resampled as a whole; a drawn workload is a family of its own.
"""

import argparse
import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from code_digest import made_with
from exploring_report import summary, table_of
from poolpilot.agent.baselines.portfolio import constant_on
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings
from poolpilot.serve.tuner.machine.decision import Decision
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation
from tuner_day import best_per_s
from unsafe_arms import seen_by, tuned, untouched
from unsafe_counts import Seen, counts_of
from unsafe_windows import HELD_OUT, HORIZON_S
from workload_files import drawn

CPUS = (1, 2, 4)
STARTS = ("constant", "default")
ARMS: Mapping[str, GuardSettings] = {"without": GuardSettings(explorations=0), "with": GuardSettings()}
MOST_PER_S = 6000.0
FLAT = 1.03


def workload_of(source: str, seed: int) -> Workload:
    """The workload of a seed."""
    if source == "families":
        families = HELD_OUT
        return draw_workload(FAMILIES[families[seed % len(families)]], 1 + seed // len(families))
    cpus = CPUS[seed % len(CPUS)]
    return Workload.from_dict(
        {"name": "drawn", "family": "drawn", **drawn(np.random.default_rng([seed, 0]), cpus, seed)}
    )


def row_of(found: Sequence[tuple[Observation, Decision]], usual: Sequence[Seen]) -> dict[str, float]:
    """What came of it: gains in ln throughput over the untouched server, changes, tries, unsafe windows."""
    seen = [observation for observation, _ in found if observation.reading is not None]
    first = seen[0].in_force
    rates = np.array([each.reading.throughput_per_s for each in seen if each.reading is not None])
    usual_per_s = float(np.mean([rate for _, rate, _ in usual]))
    counted = counts_of(seen_by(found, first), usual)
    return {
        "gain": math.log(rates.mean() / usual_per_s),
        "end": math.log(rates[3 * len(rates) // 4 :].mean() / usual_per_s),
        "changes": sum(one.in_force != other.in_force for one, other in itertools.pairwise(seen)),
        "tries": sum(decision.most_lost > 0.0 for _, decision in found),
        "to_learn": sum(decision.most_lost > 0.0 and "to learn from" in decision.reason for _, decision in found),
        **{name: counted[name] for name in ("windows", "changed", "unsafe", "in_a_row")},
    }


@cache
def best_of(source: str, seed: int) -> float:
    """Greatest throughput of a workload, found once for both starts."""
    return best_per_s(workload_of(source, seed))


def run_of(source: str, seed: int, start: str, seconds: float) -> dict[str, Any]:
    """Both arms on one workload from one start; only the workload's name where it is left out."""
    workload = workload_of(source, seed)
    knobs, objective = KnobSpace.stock(workload.cpus), Objective()
    first = knobs.default_tuple() if start == "default" else constant_on(load_curves(), knobs, objective)
    with SimulatedServer(workload, initial=first) as server:
        usual = untouched(server, HORIZON_S)
    usual_per_s = float(np.mean([rate for _, rate, _ in usual]))
    if usual_per_s > MOST_PER_S:
        return {}
    arms = {}
    for name, guard in ARMS.items():
        with SimulatedServer(workload, initial=first) as server:
            arms[name] = row_of(tuned(server, LatentBandit(load_curves()), seconds, guard), usual)
    return {"best": math.log(max(best_of(source, seed), usual_per_s) / usual_per_s), **arms}


def family_of(source: str, seed: int) -> str:
    """What a workload is resampled with."""
    held_out = HELD_OUT
    return held_out[seed % len(held_out)] if source == "families" else f"drawn-{seed}"


def rows_of(given: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    """Both arms of every workload and start that is not left out; what a file keeps is taken from there."""
    asked = {"of": given.of, "minutes": given.minutes, "made_with": made_with()}
    finished = [row for row in read_runs(given.runs) if {name: row.get(name) for name in asked} == asked]
    kept = {(row["seed"], row["start"]): row["found"] for row in finished}
    cases = list(itertools.product(range(given.first, given.first + given.number), given.starts))
    with opened_for_more(given.runs) as out, progress_bars(console) as bars:
        for case in bars.each("runs", [each for each in cases if each not in kept], str):
            seed, start = case
            kept[case] = run_of(given.of, seed, start, 60.0 * given.minutes)
            keep_run({"seed": seed, "start": start, **asked, "found": kept[case]}, out)
    return [
        {"seed": seed, "start": start, "family": family_of(given.of, seed), **kept[seed, start]}
        for seed, start in cases
        if kept[seed, start]
    ]


def main() -> None:
    """Runs what is not kept yet and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", default="families", choices=("families", "drawn"))
    parser.add_argument("--first", type=int, default=28, help="seed of the first workload")
    parser.add_argument("--number", type=int, default=14, help="workloads")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--starts", nargs="+", default=list(STARTS), choices=STARTS)
    parser.add_argument("--runs", type=Path, help="file of finished runs, so that a stopped one goes on")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    console = terminal()
    rows = rows_of(given, console)
    groups = {start: [row for row in rows if row["start"] == start] for start in given.starts}
    groups["flat"] = [row for row in rows if row["best"] < math.log(FLAT)]
    report = {name: summary(group, tuple(ARMS), given.minutes) for name, group in groups.items() if group}
    console.print(table_of(report, tuple(ARMS)))
    drawn = {"of": given.of, "first": given.first, "number": given.number, "minutes": given.minutes}
    write_json(given.json, {"made_with": made_with(), **drawn, "groups": report})


if __name__ == "__main__":
    main()
