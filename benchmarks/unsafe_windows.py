"""Unsafe windows, guarded and unguarded, on simulated workloads of families that no curve was made of.

    python benchmarks/unsafe_windows.py --runs build/unsafe.jsonl --json benchmarks/reports/unsafe_windows.json

Each workload runs ten minutes from each of two configurations, the default and the best constant of the known curves,
under two predictors, the one that ships and one that names any configuration of the grid at random, as a broken model
would. *Guarded* is the tuner as it ships; *unguarded* sets what is named at once, each minute; *untouched* sets
nothing. A window of 5 s is unsafe where another configuration than the first is in force, and throughput is below 95 %
of that of the untouched server or latency (its 95th percentile) above 1.2 times, and that beyond three standard
deviations of its windows. Intervals are over workloads, by resampling them.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from poolpilot.agent.baselines.portfolio import constant_on
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings, observe
from poolpilot.env.measurement.settling import settle
from poolpilot.env.objective import Objective
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.target import Target
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import Prediction, Predictor
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars
from poolpilot.serve.tuner.machine.decision import Decision, Mode
from poolpilot.serve.tuner.machine.envelope import Envelope
from poolpilot.serve.tuner.machine.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.look import Look, Reading
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.tuner_loop import TunerLoop

HELD_OUT = tuple(name for name, family in FAMILIES.items() if family.split == "validation")
HORIZON_S = 600.0
MEASUREMENT = MeasurementSettings(settle_s=1.0, window_s=5.0)
ASK_EVERY_WINDOWS = 10
LEAST_SHARE, MOST_RISE, CHANCE = 0.95, 1.2, 3.0
RESAMPLES = 10_000

Seen = tuple[bool, float, float | None]
"""A window: whether another configuration than the first is in force, its throughput, its latency."""


class RandomPredictor:
    """Names any configuration of the grid, and promises much: a model that is broken.

    Args:
        seed: Seed of what it names.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 99])

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        """See `Predictor.predict`."""
        tuples = MachineGrid().on(limits).tuples
        in_force = windows[-1].pool_tuple
        named = in_force.with_core(tuples[int(self._rng.integers(len(tuples)))].core)
        return Prediction(named, in_force, False, ("at random",), "", expected_gain=1.0)


def shipped(_seed: int) -> Predictor:
    """What ships for who measures what follows."""
    return LatentBandit(load_curves())


PREDICTORS: Mapping[str, Callable[[int], Predictor]] = {"shipped": shipped, "at random": RandomPredictor}
STARTS = ("default", "constant")


def untouched(server: SimulatedServer, _predictor: Predictor) -> list[Seen]:
    """Nothing is set."""
    found = []
    while server.snapshot().time_s < HORIZON_S:
        found.append(_seen(observe(server, MEASUREMENT.window_s).window, changed=False))
    return found


def guarded(server: SimulatedServer, predictor: Predictor) -> list[Seen]:
    """The tuner as it ships."""
    found: list[Seen] = []
    first, guard = server.tuple_in_force(), GuardSettings()

    def keep(look: Look, _decision: Decision) -> None:
        if look.reading is not None:
            found.append((look.in_force != first, look.reading.throughput_per_s, look.reading.latency_ms))

    rules = Rules(Mode.APPLY, guard, PaceSettings(), Envelope.of(guard, server.knobs))
    TunerLoop(Target(server, Objective()), predictor, rules, MEASUREMENT, on_decision=keep).run(HORIZON_S)
    return found


def unguarded(server: SimulatedServer, predictor: Predictor) -> list[Seen]:
    """What is named is set at once, each minute."""
    found: list[Seen] = []
    first, windows = server.tuple_in_force(), list[Window]()
    while server.snapshot().time_s < HORIZON_S:
        window = observe(server, MEASUREMENT.window_s).window
        found.append(_seen(window, changed=window.pool_tuple != first))
        windows = [*[each for each in windows if each.pool_tuple != window.pool_tuple][-9:], window]
        if len(found) % ASK_EVERY_WINDOWS == 0:
            named = predictor.predict(windows, server.knobs, Objective()).pool_tuple
            settle(server, server.apply(named), MEASUREMENT)
    return found


ARMS: Mapping[str, Callable[[SimulatedServer, Predictor], list[Seen]]] = {"guarded": guarded, "unguarded": unguarded}


def _seen(window: Window, *, changed: bool) -> Seen:
    reading = Reading.of(window, Objective())
    return changed, reading.throughput_per_s, reading.latency_ms


def run_of(workload: Workload, start: PoolTuple, predictor_name: str, seed: int) -> dict[str, Any]:
    """Both arms beside the untouched server: windows, unsafe ones, the longest row of them, and what was gained."""
    with SimulatedServer(workload, initial=start) as server:
        usual = untouched(server, RandomPredictor(0))
    row: dict[str, Any] = {}
    for name, arm in ARMS.items():
        with SimulatedServer(workload, initial=start) as server:
            found = arm(server, PREDICTORS[predictor_name](seed))
        row[name] = counts_of(found, usual)
    return row


def counts_of(found: Sequence[Seen], usual: Sequence[Seen]) -> dict[str, float]:
    """Windows, those that are unsafe, the longest row of them, and throughput over the untouched server's."""
    rates = np.array([rate for _, rate, _ in usual])
    tails = np.array([tail for _, _, tail in usual if tail is not None])
    least = float(min(LEAST_SHARE * rates.mean(), rates.mean() - CHANCE * rates.std()))
    most = float(max(MOST_RISE * tails.mean(), tails.mean() + CHANCE * tails.std()) if len(tails) else np.inf)
    unsafe = [changed and (rate < least or (tail or 0.0) > most) for changed, rate, tail in found]
    rows = [sum(1 for _ in group) for bad, group in groupby(unsafe) if bad]
    return {
        "windows": len(found),
        "unsafe": sum(unsafe),
        "in_a_row": max(rows, default=0),
        "gain": float(np.mean([rate for _, rate, _ in found]) / rates.mean() - 1.0),
    }


def cases(draws: int) -> list[tuple[str, int, str, str]]:
    """Family, seed, start and predictor of every run."""
    return [
        (family, seed, start, predictor)
        for seed in range(1, draws + 1)
        for family in HELD_OUT
        for start in STARTS
        for predictor in PREDICTORS
    ]


def main() -> None:
    """Runs what is not kept yet and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4, help="workloads of each family")
    parser.add_argument("--runs", type=Path, help="file of finished runs, so that a stopped one goes on")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    kept = {(row["family"], row["seed"], row["start"], row["predictor"]): row for row in read_runs(given.runs)}
    console = terminal()
    with opened_for_more(given.runs) as out, progress_bars(console) as bars:
        for case in bars.each("runs", cases(given.draws), str):
            if case not in kept:
                family, seed, start, predictor = case
                workload = draw_workload(FAMILIES[family], seed)
                knobs = KnobSpace.stock(workload.cpus)
                first = knobs.default_tuple() if start == "default" else constant_on(load_curves(), knobs, Objective())
                named = {"family": family, "seed": seed, "start": start, "predictor": predictor}
                kept[case] = {**named, **run_of(workload, first, predictor, seed)}
                keep_run(kept[case], out)
    rows = [kept[case] for case in cases(given.draws)]
    report = [summary(rows, start, predictor) for start in (*STARTS, "both") for predictor in (*PREDICTORS, "both")]
    console.print(table_of(report))
    write_json(given.json, {"families": HELD_OUT, "draws": given.draws, "horizon_s": HORIZON_S, "rows": report})


def summary(rows: Sequence[Mapping[str, Any]], start: str, predictor: str) -> dict[str, Any]:
    """Counts of some runs, and the share of unsafe windows that the guard keeps away with its 95 % interval."""
    chosen = [row for row in rows if start in (row["start"], "both") and predictor in (row["predictor"], "both")]
    workloads = sorted({(row["family"], row["seed"]) for row in chosen})
    unsafe = np.array(
        [
            [sum(row[arm]["unsafe"] for row in chosen if (row["family"], row["seed"]) == each) for arm in ARMS]
            for each in workloads
        ]
    )
    drawn = np.random.default_rng(0).integers(len(workloads), size=(RESAMPLES, len(workloads)))
    sums = unsafe[drawn].sum(axis=1)
    avoided = 1.0 - sums[:, 0] / np.maximum(sums[:, 1], 1)
    windows = sum(row["guarded"]["windows"] for row in chosen)
    return {
        "start": start,
        "predictor": predictor,
        "runs": len(chosen),
        **{f"{arm}_windows": sum(row[arm]["windows"] for row in chosen) for arm in ARMS},
        **{f"{arm}_unsafe": int(unsafe[:, place].sum()) for place, arm in enumerate(ARMS)},
        **{f"{arm}_in_a_row": max(row[arm]["in_a_row"] for row in chosen) for arm in ARMS},
        **{f"{arm}_gain": float(np.median([row[arm]["gain"] for row in chosen])) for arm in ARMS},
        "guarded_rate_high": float(np.quantile(sums[:, 0], 0.95) / windows),
        "avoided": float(1.0 - unsafe[:, 0].sum() / max(unsafe[:, 1].sum(), 1)),
        "avoided_low": float(np.quantile(avoided, 0.05)),
    }


def table_of(report: Sequence[Mapping[str, Any]]) -> Table:
    """The report as people read it."""
    table = Table("from", "predictor", "runs", "guarded", "in a row", "unguarded", "in a row", "avoided", "median gain")
    for row in report:
        table.add_row(
            row["start"],
            row["predictor"],
            str(row["runs"]),
            f"{row['guarded_unsafe']} of {row['guarded_windows']}",
            str(row["guarded_in_a_row"]),
            f"{row['unguarded_unsafe']} of {row['unguarded_windows']}",
            str(row["unguarded_in_a_row"]),
            f"{100 * row['avoided']:.1f} % (95 % bound {100 * row['avoided_low']:.1f})",
            f"{100 * row['guarded_gain']:+.0f} %, {100 * row['unguarded_gain']:+.0f} %",
        )
    return table


if __name__ == "__main__":
    main()
