"""A day in fast motion: the tuner beside the default, the best constant, a cold climb and a warm one.

    python benchmarks/tuner_day.py --runs build/days.jsonl --json benchmarks/reports/tuner_day.json [--seeds 20]

Simulated servers of 1 to 4 processors under three workloads that take turns, drift, are restarted once, and are set by
a person once. The *unguarded* tuner sets what is predicted at once, every five minutes, without verifying anything. The
reference of a phase is the best configuration of the machine grid, measured alone. A bin of 30 s is *unsafe* where it
completes less than 95 % of what the default completes in that phase on average, beyond what the default's own bins
scatter. A day takes one to three minutes for each method; `--runs` keeps what is finished.
"""

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from day_server import BIN_S, Day, DayServer
from poolpilot.agent.baselines.portfolio import constant_on
from poolpilot.agent.controllers.warm_start import WarmStart, size_climb
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.controller import Controller
from poolpilot.env.measurement.protocol import MeasurementSettings, observe
from poolpilot.env.objective import Objective
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.loop import tune
from poolpilot.env.tuning.target import Target
from poolpilot.errors import LostServerError, TupleChangedError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars
from poolpilot.serve.tuner.machine.decision import Mode, State
from poolpilot.serve.tuner.machine.envelope import Envelope
from poolpilot.serve.tuner.machine.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.tuner_loop import TunerLoop

UNSAFE = 0.95
REFERENCE_S = 20.0
ASK_EVERY_S = 300.0


@dataclass
class DayResult:
    """What a method made of a day.

    Attributes:
        bins: Requests completed in each bin.
        changes: Tuples set.
        roll_backs: Tries taken back.
    """

    bins: Sequence[float]
    changes: int = 0
    roll_backs: int = 0


@dataclass
class NoWayBack:
    """The way back on a server that ends with this process."""

    server: DayServer

    def commit(self, pool_tuple: PoolTuple) -> None:
        """Nothing outlives this process."""

    def reach_again(self) -> bool:
        """A restarted server is there again."""
        return self.server.reach_again()


@dataclass
class _RollBacks:
    count: int = 0
    last: State = field(default=State.WATCH)

    def add(self, _look: Any, decision: Any) -> None:
        self.count += decision.state is State.ROLL_BACK and self.last is not State.ROLL_BACK
        self.last = decision.state


def default(day: Day) -> DayResult:
    """Nobody touches it, but for what the day brings."""
    with DayServer(day) as server:
        server.run_for(day.length_s)
        return DayResult(list(server.bins))


def constant(day: Day) -> DayResult:
    """The best constant of the known curves stands in the configuration file."""
    with DayServer(day) as server:
        best = constant_on(load_curves(), server.knobs, Objective())
    with DayServer(day, best) as server:
        server.run_for(day.length_s)
        return DayResult(list(server.bins))


def tuner(day: Day) -> DayResult:
    """The tuner in apply mode, as it ships, but for a person's change, which it forgets after an hour."""
    with DayServer(day) as server:
        guard = GuardSettings(stand_down_s=3600.0)
        rules = Rules(Mode.APPLY, guard, PaceSettings(), Envelope.of(guard, server.knobs))
        seen = _RollBacks()
        target = Target(server, Objective(), "a day", NoWayBack(server))  # type: ignore[arg-type]
        measurement = MeasurementSettings(settle_s=1.0, window_s=5.0)
        loop = TunerLoop(target, LatentBandit(load_curves()), rules, measurement, on_decision=seen.add, clock=server)
        loop.run(day.length_s)
        return DayResult(list(server.bins), len(server.changes), seen.count)


def unguarded(day: Day) -> DayResult:
    """What the predictor names is set at once and never verified."""
    predictor = LatentBandit(load_curves())
    with DayServer(day) as server:
        windows: list[Any] = []
        for _ in range(int(day.length_s // ASK_EVERY_S)):
            try:
                window = observe(server, 5.0).window
                windows = [*[each for each in windows if each.pool_tuple != window.pool_tuple][-4:], window]
                server.apply(predictor.predict(windows, server.knobs, Objective()).pool_tuple)
                server.run_for(ASK_EVERY_S - 5.0)
            except (LostServerError, TupleChangedError):
                windows = []
                server.reach_again()
        return DayResult(list(server.bins), len(server.changes))


def climbing(open_controller: Callable[[DayServer], Controller]) -> Callable[[Day], DayResult]:
    """A climb for the whole day; one that is disturbed begins anew."""

    def run(day: Day) -> DayResult:
        with DayServer(day) as server:
            left_s = day.length_s
            while left_s > 5.0:
                began_s = server.snapshot().time_s
                try:
                    tune(server, open_controller(server), Objective(), period_s=5.0, horizon_s=left_s)
                    break
                except (LostServerError, TupleChangedError):
                    server.reach_again()
                left_s -= server.snapshot().time_s - began_s
            return DayResult(list(server.bins), len(server.changes))

    return run


def _cold(server: DayServer) -> Controller:
    return ClimbController(spectral_climber(ClimbSettings(), server.knobs), server.tuple_in_force(), Objective())


def _warm(server: DayServer) -> Controller:
    climb = size_climb(ClimbSettings(), server.knobs, Objective())
    return WarmStart(LatentBandit(load_curves()), server.knobs, Objective(), climb)


METHODS: Mapping[str, Callable[[Day], DayResult]] = {
    "default": default,
    "constant": constant,
    "tuner": tuner,
    "unguarded": unguarded,
    "cold climb": climbing(_cold),
    "warm climb": climbing(_warm),
}


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


def row_of(day: Day, best: Sequence[float], of_default: DayResult, result: DayResult) -> dict[str, float]:
    """How a method did on a day: regret, gain, changes and unsafe bins."""
    phases = np.array([day.phase_at(number * BIN_S) for number in range(len(of_default.bins))])
    steady = np.array(
        [day.phase_at(number * BIN_S) == day.phase_at((number + 1) * BIN_S - 0.1) for number in range(len(phases))]
    )
    rates, untouched = np.array(result.bins) / BIN_S, np.array(of_default.bins) / BIN_S
    whole = steady[:-1]
    rates, untouched, phases = rates[:-1][whole], untouched[:-1][whole], phases[:-1][whole]
    unsafe, regrets, gains = 0, [], []
    for phase in np.unique(phases):
        here = phases == phase
        usual, scatter = untouched[here].mean(), untouched[here].std()
        unsafe += int((rates[here] < UNSAFE * usual - 3.0 * scatter).sum())
        regrets += list(1.0 - rates[here] / max(best[phase], usual))
        gains += list(np.log(np.maximum(rates[here], 0.01) / max(usual, 0.01)))
    return {
        "regret": float(np.mean(regrets)),
        "gain": float(np.mean(gains)),
        "unsafe": unsafe,
        "bins": len(rates),
        "changes": result.changes,
        "roll_backs": result.roll_backs,
    }


def main() -> None:
    """Runs every method on every day and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--undisturbed", action="store_true", help="days without a restart and without a person")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--runs", type=Path, help="file of finished days, so that a stopped run goes on")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = {name: [] for name in given.methods if name != "default"}  # type: dict[str, list[dict[str, float]]]
    kept = {(row["seed"], row["hours"], row["method"]): row["result"] for row in read_runs(given.runs)}
    disturbed = not given.undisturbed
    console = terminal()
    with opened_for_more(given.runs) as out, progress_bars(console) as bars:
        for seed in bars.each("days", range(given.seeds), str):
            day = Day.draw(seed, given.hours, disturbed=disturbed)
            best = [best_per_s(workload) for workload in day.workloads]
            results = {}
            for name in ("default", *rows):
                key = (seed, given.hours, name)
                if key not in kept:
                    kept[key] = vars(METHODS[name](day))
                    keep_run({"seed": seed, "hours": given.hours, "method": name, "result": kept[key]}, out)
                results[name] = DayResult(**kept[key])
            for name in rows:
                rows[name].append(row_of(day, best, results["default"], results[name]))
    report = {name: summary(of_method) for name, of_method in rows.items()}
    console.print(table_of(report))
    drawn = {"seeds": given.seeds, "hours": given.hours, "disturbed": disturbed}
    write_json(given.json, {**drawn, "methods": report})


def summary(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means over days, with the standard error of the gain."""
    found = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    gains = [row["gain"] for row in rows]
    found["gain_error"] = float(np.std(gains, ddof=1) / math.sqrt(len(gains))) if len(gains) > 1 else math.nan
    found["worst_gain"] = min(gains)
    return found


def table_of(report: Mapping[str, Mapping[str, float]]) -> Table:
    """The report as people read it."""
    table = Table("method", "regret", "gain over default", "worst day", "unsafe bins", "changes a day", "roll-backs")
    for name, row in report.items():
        table.add_row(
            name,
            f"{100 * row['regret']:.1f} %",
            f"{100 * math.expm1(row['gain']):+.0f} % (error {100 * row['gain_error']:.0f})",
            f"{100 * math.expm1(row['worst_gain']):+.0f} %",
            f"{row['unsafe']:.1f} of {row['bins']:.0f}",
            f"{row['changes']:.0f}",
            f"{row['roll_backs']:.1f}",
        )
    return table


if __name__ == "__main__":
    main()
