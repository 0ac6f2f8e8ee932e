"""Every rival at 1, 2 and 3 trials on simulated machines of 3 to 96 processors, on what its curves do not hold.

    python benchmarks/simulated_rivals.py [--json benchmarks/reports/simulated_rivals.json] [--runs build/rivals.jsonl]

Two kinds of workloads: of every simulated family, with that family and everything of the same composition taken out of
what the methods know; and compositions drawn by `workload_files.py`, with all of these taken out. Methods see one
window of each tuple they try, from a fresh pool. The reference is the best of the machine grid by two windows, and
reference and choices are judged by a third, so that a regret may be negative; where the reference does not repeat, the
workload is censored and counted. Goes on where it was stopped, with `--runs`. Some fifteen minutes on a quiet machine;
`python benchmarks/evaluation_page.py` writes the tables.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from poolpilot.agent.baselines.formulas import WaitRatioFormula
from poolpilot.agent.baselines.nearest_ratios import NearestRatios
from poolpilot.agent.baselines.portfolio import constant_on, portfolio_on
from poolpilot.agent.baselines.ratio_trees import RatioTrees
from poolpilot.agent.baselines.static import StaticPredictor
from poolpilot.agent.baselines.trees import TreesSettings
from poolpilot.agent.controllers.refiner import Refiner, RefinerSettings
from poolpilot.agent.search.bayesian import BayesianOptimisation
from poolpilot.agent.search.bayesian_settings import BayesianSettings
from poolpilot.agent.search.random_search import RandomSearch
from poolpilot.agent.search.search_controller import SearchController
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.agent.search.timed_search import TimedSearch
from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.knobs import CORE_KNOBS
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective, regret
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.simulated_measurement import SimulatedMeasurement
from poolpilot.env.tuning.loop import tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.champion import load_champion
from poolpilot.models.latent.latent_advisor import LatentAdvisor
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import Predictor, ScorePredictor
from poolpilot.pipelines.evaluate.baselines import Unguarded
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars
from rival_scenarios import AGAIN, CHECKED, JUDGED, SHOWN, RivalScenario, ScenarioWindows, ShownServer, scenarios_of
from rival_statistics import Row, censored, mean, rows_of

TRIES = (1, 2, 3)
FINALISTS = 8
"""Tuples that are measured a second time to find the reference."""

UNSAFE = 0.8
"""A trial with less than this share of the default's goodput is unsafe."""

TREES = TreesSettings(iterations=100)
AT_ONCE = MeasurementSettings(settle_s=0.0, window_ticks=0.0, max_settle_s=0.0)
"""The windows that are shown have settled already."""

Tried = tuple[PoolTuple, Sequence[PoolTuple]]
"""What a method ends on, and what it has tried."""


def main() -> None:
    """Runs every method on every scenario and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/simulated_rivals.json"))
    parser.add_argument("--runs", type=Path, default=None, help="file of finished scenarios, to go on after a stop")
    parser.add_argument("--curves", type=Path, default=None, help="response curves; those of the package if not given")
    parser.add_argument("--compositions", type=int, default=5, help="drawn compositions on each size of machine")
    parser.add_argument("--machines", type=int, default=2, help="sizes of machine for each simulated family; 0: none")
    parser.add_argument("--requests", type=int, default=2000, help="requests of a window")
    arguments = parser.parse_args()
    curves = load_curves(arguments.curves)
    scenarios = scenarios_of(arguments.compositions, arguments.machines)
    asked = {"curves": curves.digest, "requests": arguments.requests}
    done = {row["name"]: row["found"] for row in read_runs(arguments.runs) if row["asked"] == asked}
    knowledge = Knowledge(curves, scenarios)
    with opened_for_more(arguments.runs) as out, progress_bars(terminal()) as bars:
        for scenario in bars.each("simulating", scenarios, lambda one: one.name):
            if scenario.name not in done:
                done[scenario.name] = played(scenario, knowledge, arguments.requests)
                keep_run({"name": scenario.name, "asked": asked, "found": done[scenario.name]}, out)
    found = [(scenario, done[scenario.name]) for scenario in scenarios]
    reasons = censored(found)
    rows = rows_of([one for one in found if one[0].name not in reasons])
    head = {"source": curves.source, "digest": curves.digest, "curves": len(curves.curves)}
    write_json(arguments.json, {"knows": head, "censored": reasons, "rows": rows})


class Knowledge:
    """What methods may know of a scenario: all curves but those of its family and of held-out compositions.

    Args:
        curves: All curves.
        scenarios: All scenarios.
    """

    def __init__(self, curves: ResponseCurves, scenarios: Sequence[RivalScenario]) -> None:
        self._curves = curves
        self._held_out: dict[tuple[str, str], set[str]] = defaultdict(set)
        for scenario in scenarios:
            self._held_out[self._key(scenario)].add(scenario.composition)
        self._made: dict[tuple[str, str], tuple[ResponseCurves, RatioTrees | None]] = {}

    def of(self, scenario: RivalScenario) -> tuple[ResponseCurves, RatioTrees | None]:
        """The curves, and trees that have learned from them; None where the curves hold no ratios."""
        key = self._key(scenario)
        if key not in self._made:
            held_out, families = self._held_out[key], {key[1], key[1].removeprefix("twin_")}
            left = [
                curve
                for curve in self._curves.curves
                if curve.family not in families and (curve.composition == "" or curve.composition not in held_out)
            ]
            curves = ResponseCurves(grid=self._curves.grid, source=self._curves.source, curves=tuple(left))
            trees = RatioTrees.fit(curves, TREES) if any(curve.ratios for curve in left) else None
            self._made[key] = curves, trees
        return self._made[key]

    @staticmethod
    def _key(scenario: RivalScenario) -> tuple[str, str]:
        return scenario.kind, scenario.family if scenario.kind == "families" else ""


def played(scenario: RivalScenario, knowledge: Knowledge, requests: int) -> list[Row]:
    """What every method ends on and has tried, judged: one row each."""
    windows = ScenarioWindows(scenario.scenario, SimulatedMeasurement(requests=requests))
    curves, trees = knowledge.of(scenario)
    found = choices(windows, curves, trees)
    default, oracle = windows.limits.default_tuple(), reference(windows, curves)
    judged = windows.of(JUDGED, [oracle, default, *(choice for choice, _ in found.values())])
    again = windows.of(AGAIN, [default])[default]
    return [
        row_of(name, windows, again if name == "default_again" else judged[choice], judged[oracle], tried)
        for name, (choice, tried) in found.items()
    ]


def row_of(name: str, windows: ScenarioWindows, judged: Window, best: Window, tried: Sequence[PoolTuple]) -> Row:
    """One method: its choice against the reference, both judged, and what trying cost."""
    objective, default = windows.objective, windows.limits.default_tuple()
    shown, first = windows.of(SHOWN, tried), windows.of(SHOWN, [default])[default]
    safe_per_s = UNSAFE * objective.goodput_per_s(first)
    return {
        "method": name,
        "chosen": judged.pool_tuple.core,
        "regret": regret(objective.value(judged), objective.value(best)),
        "goodput": objective.goodput_per_s(judged) / objective.goodput_per_s(best),
        "trying": mean([regret(objective.value(shown[one]), objective.value(best)) for one in tried]),
        "unsafe": mean([float(objective.goodput_per_s(shown[one]) < safe_per_s) for one in tried]),
        "threads": judged.threads,
        "p99": (judged.p99_ms / best.p99_ms) if judged.p99_ms and best.p99_ms else None,
    }


def reference(windows: ScenarioWindows, curves: ResponseCurves) -> PoolTuple:
    """The best of the grid: by a window of each, and for the best few by one more."""
    tuples = [*curves.grid.on(windows.limits).tuples, windows.limits.default_tuple()]
    value = windows.objective.value
    shown = windows.of(SHOWN, tuples)
    finalists = sorted(shown, key=lambda one: value(shown[one]), reverse=True)[:FINALISTS]
    checked = windows.of(CHECKED, finalists)
    return max(finalists, key=lambda one: value(shown[one]) + value(checked[one]))


def choices(windows: ScenarioWindows, curves: ResponseCurves, trees: RatioTrees | None) -> dict[str, Tried]:
    """What every method ends on, by its name; the number behind it is that of its trials."""
    limits, objective = windows.limits, windows.objective
    default = limits.default_tuple()
    network = load_champion()
    relaxed = ScorePredictor.for_trials(network)
    once: dict[str, Predictor] = {
        "constant_best": StaticPredictor(constant_on(curves, limits, objective)),
        "wait_ratio": WaitRatioFormula(LARGE_GRID),
        "latent_advisor": LatentAdvisor(curves),
        "one_shot": ScorePredictor(network),
        "unguarded": Unguarded(ScorePredictor(network)),
    }
    found: dict[str, Tried] = {"default": (default, ()), "default_again": (default, ())}
    first = windows.of(SHOWN, [default])[default]
    found |= {name: (one.predict([first], limits, objective).pool_tuple, ()) for name, one in once.items()}
    ratios = any(curve.ratios for curve in curves.curves)
    tried: dict[str, Predictor] = {"latent_bandit": LatentBandit(curves), "refiner": relaxed}
    if ratios and trees is not None:
        tried |= {"nearest": NearestRatios(curves), "trees": trees}
    for tries in TRIES:
        found[f"portfolio_{tries}"] = refined(windows, portfolio_on(curves, limits, objective, tries), tries)
        found |= {f"{name}_{tries}": refined(windows, one, tries) for name, one in tried.items()}
        found |= {f"{name}_{tries}": searched(windows, make, tries) for name, make in SEARCHES.items()}
    return found


def refined(windows: ScenarioWindows, predictor: Predictor, tries: int) -> Tried:
    """Tries what a predictor names and ends on the best measured."""
    refiner = Refiner(predictor, RefinerSettings(decisions=tries, measurement=AT_ONCE))
    refinement = refiner.refine(ShownServer(windows), windows.objective)
    return refinement.pool_tuple, [window.pool_tuple for window in refinement.windows[1:]]


def searched(windows: ScenarioWindows, make: Callable[[SearchSpace, Objective], SearchController], tries: int) -> Tried:
    """Lets a search try so many tuples."""
    server = ShownServer(windows)
    default = server.knobs.default_tuple()
    choices = {"oversubscribe": (1, 3), "timer_interval_ms": (10, 500)}
    space = SearchSpace.of(server.knobs, CORE_KNOBS, choices, default)
    search = TimedSearch(make(space, windows.objective), AT_ONCE, np.inf, tries)
    tune(server, search, windows.objective)
    tried = [measured.pool_tuple for measured in search.search.observations.measured if measured.pool_tuple != default]
    return search.recommend() or default, tried


SEARCHES: Mapping[str, Callable[[SearchSpace, Objective], SearchController]] = {
    "random_search": lambda space, objective: RandomSearch(space, objective),
    "gp_ucb": lambda space, objective: BayesianOptimisation(space, objective, BayesianSettings(random_rounds=1)),
}


if __name__ == "__main__":
    main()
