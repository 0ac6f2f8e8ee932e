"""Tries that are only to learn from: the tuner with and without them, paired on the same simulated workloads.

    python benchmarks/exploring_tuner.py --first 7 --number 14 --runs build/exploring.jsonl \
        --json benchmarks/reports/exploring_tuner.json

Workloads are draws of the families that no curve was made of (number 0 to 6 is the first draw of each of the seven, 7
to 13 the second, and so on) or, with `--of drawn`, composed step by step (`workload_files.py`) on 1, 2 and 4
processors. Each runs half an hour from the best constant of the known curves and from the default. *Without* is
`--guard.explorations 0`. The end is the last quarter. Unsafe windows are those of `unsafe_windows.py`, held against an
untouched server. A workload is flat where no tuple of the machine grid completes 3 % more than it does untouched.
Workloads of more than 6,000 requests a second are left out: they take minutes. Intervals are over runs, resampled.
"""

import argparse
import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

import unsafe_windows
from poolpilot.agent.baselines.portfolio import constant_on
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.target import Target
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars
from poolpilot.serve.tuner.machine.decision import Decision, Mode
from poolpilot.serve.tuner.machine.envelope import Envelope
from poolpilot.serve.tuner.machine.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.look import Look
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.tuner_loop import TunerLoop
from tuner_day import best_per_s
from workload_files import drawn

CPUS = (1, 2, 4)
STARTS = ("constant", "default")
ARMS: Mapping[str, GuardSettings] = {"without": GuardSettings(explorations=0), "with": GuardSettings()}
MOST_PER_S = 6000.0
FLAT = 1.03
RESAMPLES = 10_000


def workload_of(source: str, seed: int) -> Workload:
    """The workload of a seed."""
    if source == "families":
        families = unsafe_windows.HELD_OUT
        return draw_workload(FAMILIES[families[seed % len(families)]], 1 + seed // len(families))
    cpus = CPUS[seed % len(CPUS)]
    return Workload.from_dict(
        {"name": "drawn", "family": "drawn", **drawn(np.random.default_rng([seed, 0]), cpus, seed)}
    )


def tuned(workload: Workload, first: PoolTuple, guard: GuardSettings, seconds: float) -> list[tuple[Look, Decision]]:
    """What a tuner saw and decided."""
    found: list[tuple[Look, Decision]] = []
    with SimulatedServer(workload, initial=first) as server:
        rules = Rules(Mode.APPLY, guard, PaceSettings(), Envelope.of(guard, server.knobs))
        TunerLoop(
            Target(server, Objective()),
            LatentBandit(load_curves()),
            rules,
            unsafe_windows.MEASUREMENT,
            on_decision=lambda look, decision: found.append((look, decision)),
        ).run(seconds)
    return found


def row_of(found: Sequence[tuple[Look, Decision]], usual: Sequence[unsafe_windows.Seen]) -> dict[str, float]:
    """What came of it: gains in ln throughput over the untouched server, changes, tries, unsafe windows."""
    seen = [look for look, _ in found if look.reading is not None]
    first = seen[0].in_force
    rates = np.array([each.reading.throughput_per_s for each in seen if each.reading is not None])
    untouched = float(np.mean([rate for _, rate, _ in usual]))
    counted = unsafe_windows.counts_of(
        [
            (each.in_force != first, each.reading.throughput_per_s, each.reading.latency_ms)
            for each in seen
            if each.reading is not None
        ],
        usual,
    )
    return {
        "gain": math.log(rates.mean() / untouched),
        "end": math.log(rates[3 * len(rates) // 4 :].mean() / untouched),
        "changes": sum(one.in_force != other.in_force for one, other in itertools.pairwise(seen)),
        "tries": sum(decision.most_lost > 0.0 for _, decision in found),
        "to_learn": sum(decision.most_lost > 0.0 and "to learn from" in decision.reason for _, decision in found),
        **{name: counted[name] for name in ("windows", "unsafe", "in_a_row")},
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
        usual = unsafe_windows.untouched(server, LatentBandit(load_curves()))
    untouched = float(np.mean([rate for _, rate, _ in usual]))
    if untouched > MOST_PER_S:
        return {}
    arms = {name: row_of(tuned(workload, first, guard, seconds), usual) for name, guard in ARMS.items()}
    return {"best": math.log(max(best_of(source, seed), untouched) / untouched), **arms}


def main() -> None:
    """Runs what is not kept yet and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", default="families", choices=("families", "drawn"))
    parser.add_argument("--first", type=int, default=7, help="seed of the first workload")
    parser.add_argument("--number", type=int, default=14, help="workloads")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--starts", nargs="+", default=list(STARTS), choices=STARTS)
    parser.add_argument("--runs", type=Path, help="file of finished runs, so that a stopped one goes on")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    kept = {(row["of"], row["seed"], row["start"], row["minutes"]): row["found"] for row in read_runs(given.runs)}
    cases = [(seed, start) for seed in range(given.first, given.first + given.number) for start in given.starts]
    console, rows = terminal(), []
    with opened_for_more(given.runs) as out, progress_bars(console) as bars:
        for seed, start in bars.each("runs", cases, str):
            key = (given.of, seed, start, given.minutes)
            if key not in kept:
                kept[key] = run_of(given.of, seed, start, 60.0 * given.minutes)
                named = {"of": given.of, "seed": seed, "start": start, "minutes": given.minutes}
                keep_run({**named, "found": kept[key]}, out)
            if kept[key]:
                rows.append({"seed": seed, "start": start, **kept[key]})
    groups = {start: [row for row in rows if row["start"] == start] for start in given.starts}
    groups["flat"] = [row for row in rows if row["best"] < math.log(FLAT)]
    report = {name: summary(group, given.minutes) for name, group in groups.items() if group}
    console.print(table_of(report))
    write_json(
        given.json,
        {"of": given.of, "first": given.first, "number": given.number, "minutes": given.minutes, "groups": report},
    )


def summary(rows: Sequence[Mapping[str, Any]], minutes: float) -> dict[str, Any]:
    """Means of both arms, and what learning adds at the end and over the whole time, with 95 % intervals."""
    rng = np.random.default_rng(0)
    found: dict[str, Any] = {"runs": len(rows), "workloads": len({row["seed"] for row in rows})}
    for what in ("end", "gain"):
        differences = np.array([row["with"][what] - row["without"][what] for row in rows])
        means = differences[rng.integers(len(rows), size=(RESAMPLES, len(rows)))].mean(axis=1)
        low, high = np.quantile(means, [0.025, 0.975])
        found[f"{what}_added"] = [float(differences.mean()), float(low), float(high)]
    for arm in ARMS:
        found[arm] = {
            "end": float(np.mean([row[arm]["end"] for row in rows])),
            "below_best": float(np.mean([row["best"] - row[arm]["end"] for row in rows])),
            "changes_a_day": float(np.mean([row[arm]["changes"] for row in rows])) * 1440.0 / minutes,
            "tries": float(np.mean([row[arm]["tries"] for row in rows])),
            **{name: sum(row[arm][name] for row in rows) for name in ("to_learn", "windows", "unsafe")},
            "in_a_row": max(row[arm]["in_a_row"] for row in rows),
        }
    return found


def table_of(report: Mapping[str, Mapping[str, Any]]) -> Table:
    """The report as people read it."""
    table = Table(
        "from", "runs", "arm", "end over untouched", "added at the end", "tries", "changes", "unsafe", "in a row"
    )
    for name, row in report.items():
        mean, low, high = (100 * math.expm1(each) for each in row["end_added"])
        for arm in ARMS:
            one = row[arm]
            table.add_row(
                name if arm == "without" else "",
                str(row["runs"]) if arm == "without" else "",
                arm,
                f"{100 * math.expm1(one['end']):+.0f} %",
                f"{mean:+.1f} % ({low:+.1f} to {high:+.1f})" if arm == "with" else "",
                f"{one['tries']:.1f}",
                f"{one['changes_a_day']:.0f} a day",
                f"{one['unsafe']} of {one['windows']}",
                str(one["in_a_row"]),
            )
    return table


if __name__ == "__main__":
    main()
