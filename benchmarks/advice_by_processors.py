"""What `poolpilot advise` is worth by the processors of the server: how often it speaks, what it gains and promises.

    python benchmarks/advice_by_processors.py

Compositions that no shipped curve is of and no network was chosen by, drawn by `workload_files.py`, on simulated
machines of each size. One look at the default from a fresh pool, then the default and what is advised are judged by
windows of other random seeds, each again of a fresh pool. A gain is the logarithm of a ratio of goodputs, and one of
more than ten times counts as ten times, as it is told. Networks and curves each state an interval of their own.
Settings of the curves and of the network for machines of any size were chosen by `--seed 40000`. Minutes; `python
benchmarks/pages.py` writes the table.
"""

import argparse
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from page_tables.advice_table import SOURCES, VERDICTS
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement
from poolpilot.env.workloads.composed import chooses
from poolpilot.env.workloads.composition import composition
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advice.reasons import BELIEVABLE_FACTOR
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.look_by_curves import LookSettings
from poolpilot.models.advisor.model import Model
from poolpilot.models.champion import load_any_machine, load_champion
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.evaluate.statistics.regret_statistics import WITHIN, interval_by_family
from poolpilot.pipelines.progress_bars import progress_bars
from rival_scenarios import JUDGED, SHOWN, ScenarioWindows
from workload_files import composition_of, drawn

CPUS = (1, 4, 16, 64)
SEED = 70_000
RESAMPLES = 10_000

Row = Mapping[str, Any]


def main() -> None:
    """Asks for advice on every workload and writes the report."""
    given = _arguments()
    curves, network, any_machine = load_curves(), load_champion(), load_any_machine()
    networks = {network.digest, any_machine.digest}
    usual = LookSettings()
    likeness = usual.likeness.model_copy(update={"fewest": given.fewest})
    settings = usual.model_copy(update={"likeness": likeness, "interval": given.interval})
    advice = Advisor(Model.of(curves, [network], any_machine), server_view=True, looking=settings)
    known = {curve.composition for curve in curves.curves}
    rows = []
    with progress_bars(terminal()) as bars:
        for cpus in given.cpus:
            scenarios = scenarios_on(cpus, given.workloads, given.seed, known)
            looks = [
                looked(advice, ScenarioWindows(one, SimulatedMeasurement(requests=given.requests)), networks)
                for one in bars.each(f"{cpus} processors", scenarios, lambda one: one.workload.name)
            ]
            rows.append({"cpus": cpus, **summary(looks)})
    asked = {name: vars(given)[name] for name in ("seed", "workloads", "requests", "fewest", "interval")}
    made_with = {"curves": curves.digest, "network": network.digest, "any_machine": any_machine.digest}
    write_json(given.json, {**made_with, "asked": asked, "rows": rows})


def scenarios_on(cpus: int, number: int, seed: int, known: set[str]) -> list[Scenario]:
    """Workloads on a machine whose compositions no curve is of and no network was chosen by."""
    values = [drawn(np.random.default_rng([seed, cpus, place]), cpus, place) for place in range(number)]
    return [
        Scenario(Workload.from_dict({"name": f"drawn-{place}", "family": f"drawn-{place}", **one}), CALIBRATED)
        for place, one in enumerate(values)
        if composition_of(one) not in known and not chooses(composition_of(one))
    ]


def looked(advice: Predictor, windows: ScenarioWindows, networks: Collection[str]) -> Row:
    """What one look at the default advises, who says so, what that was said to gain, and what it gains."""
    default = windows.limits.default_tuple()
    told = advice.predict([windows.of(SHOWN, [default])[default]], windows.limits, windows.objective)
    judged = windows.of(JUDGED, [default, told.pool_tuple])
    gain = windows.objective.value(judged[told.pool_tuple]) - windows.objective.value(judged[default])
    return {
        "verdict": told.verdict,
        "by": "network" if told.model_digest in networks else "curves",
        "composition": composition(windows.scenario.workload.classes),
        "gain": as_told(gain),
        "low": None if told.gain_low is None else as_told(told.gain_low),
        "high": None if told.gain_high is None else as_told(told.gain_high),
    }


def as_told(gain: float) -> float:
    """A gain, of which no more is told than that it is of more than so many times."""
    most = math.log(BELIEVABLE_FACTOR)
    return min(max(gain, -most), most)


def summary(looks: Sequence[Row]) -> Row:
    """How often there is a change, what changes gain, and how often that is within the interval that was stated."""
    changes = [look for look in looks if look["verdict"] == "change"]
    low, high = interval_by_family(((look["composition"], look["gain"]) for look in changes), RESAMPLES, 0)
    return {
        "workloads": len(looks),
        **{verdict: sum(look["verdict"] == verdict for look in looks) for verdict in VERDICTS},
        "gain": fmean(look["gain"] for look in changes) if changes else None,
        "gain_low": low,
        "gain_high": high,
        "lose": sum(look["gain"] < math.log1p(-WITHIN) for look in changes),
        "more": sum(look["gain"] == as_told(math.inf) for look in changes),
        **{source: stated([look for look in changes if look["by"] == source]) for source in SOURCES},
    }


def stated(changes: Sequence[Row]) -> Row:
    """How often a gain is within what was stated of it, or below, and how often it is a loss."""
    told = [look for look in changes if look["low"] is not None]
    return {
        "stated": len(told),
        "within": sum(look["low"] <= look["gain"] <= look["high"] for look in told),
        "below": sum(look["gain"] < look["low"] for look in told),
        "lose": sum(look["gain"] < math.log1p(-WITHIN) for look in told),
    }


def _arguments() -> argparse.Namespace:
    usual = LookSettings()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/advice_by_processors.json"))
    parser.add_argument("--cpus", type=int, nargs="+", default=CPUS, help="processors of the machines")
    parser.add_argument("--workloads", type=int, default=160, help="workloads drawn for each size of machine")
    parser.add_argument("--requests", type=int, default=2000, help="requests of a window")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the workloads")
    parser.add_argument("--fewest", type=float, default=usual.likeness.fewest, help="curves that must count")
    parser.add_argument("--interval", type=float, default=usual.interval, help="share of the curves' belief")
    return parser.parse_args()


if __name__ == "__main__":
    main()
