"""What `poolpilot advise` is worth by the processors of the server: how often it speaks, what it gains and promises.

Compositions that no shipped curve is of and no network was chosen by, drawn as workload files are, on simulated
machines of each size. One look at the default from a fresh pool, then the default and what is advised are judged by
windows of other random seeds, each again of a fresh pool. A gain is the logarithm of a ratio of goodputs, and one of
more than ten times counts as ten times, as it is told. Networks and curves each state an interval of their own.
Settings of the curves and of the network for machines of any size were chosen by seed 40,000.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Any

import numpy as np

from harness.experiment import Experiment, Found, Rows, Task, by_scenario
from page_tables.advice_table import SOURCES, VERDICTS
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement
from poolpilot.env.workloads.composed import chooses
from poolpilot.env.workloads.composition import composition
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advice.reasons import BELIEVABLE_FACTOR
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import Model
from poolpilot.models.champion import load_any_machine, load_champion
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.evaluate.statistics.regret_statistics import WITHIN, interval_by_family
from rivals.drawn_workloads import composition_of, drawn
from rivals.scenarios import JUDGED, SHOWN, ScenarioWindows

CPUS = ("1", "4", "16", "64")
WORKLOADS, REQUESTS, QUICK_REQUESTS = 160, 2000, 100
SEED = 70_000
RESAMPLES = 10_000

Row = Mapping[str, Any]


@cache
def advice() -> tuple[Advisor, Found]:
    """What `poolpilot advise --windows` asks, and the digests of its parts."""
    curves, network, any_machine = load_curves(), load_champion(), load_any_machine()
    made_with = {"curves": curves.digest, "network": network.digest, "any_machine": any_machine.digest}
    return Advisor(Model.of(curves, [network], any_machine), server_view=True), made_with


@cache
def known() -> frozenset[str]:
    """Compositions that curves are of."""
    return frozenset(curve.composition for curve in load_curves().curves)


def measured(task: Task) -> Found:
    """One look at one workload; nothing where a curve or the choice of a network has known its composition."""
    cpus = int(task.scenario)
    values = drawn(np.random.default_rng([SEED, cpus, task.seed]), cpus, task.seed)
    if composition_of(values) in known() or chooses(composition_of(values)):
        return {}
    name = f"drawn-{task.seed}"
    scenario = Scenario(Workload.from_dict({"name": name, "family": name, **values}), CALIBRATED)
    requests = QUICK_REQUESTS if task.quick else REQUESTS
    advisor, made_with = advice()
    return looked(advisor, ScenarioWindows(scenario, SimulatedMeasurement(requests=requests)), made_with.values())


def summarise(rows: Rows) -> dict[str, Any]:
    """A row for each size of machine."""
    looks = {scenario: [one for one in found["all"] if one] for scenario, found in by_scenario(rows).items()}
    return {**advice()[1], "rows": [{"cpus": int(cpus), **summary(each)} for cpus, each in looks.items()]}


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


EXPERIMENTS = {
    "advice_by_processors": Experiment(
        "What is advice worth on larger machines? Minutes.",
        scenarios=CPUS,
        measure=measured,
        summarise=summarise,
        seeds=range(WORKLOADS),
        together=True,
        under=lambda: advice()[1],
    )
}
