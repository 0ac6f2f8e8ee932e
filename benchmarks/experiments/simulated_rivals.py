"""Every rival at 0, 1, 2, 3 and 5 trials on simulated machines of 3 to 96 processors that its curves do not hold.

Two kinds of workloads: of every simulated family, with that family and everything of the same composition taken out of
what the methods know; and compositions drawn as workload files are, with all of these taken out. Of both, every machine
with as many processors is taken out, too. Methods see one window of each tuple they try, from a fresh pool. `advise` is
what `poolpilot advise` and `predict` say: nothing is taken out of its network, which has learned from the live families
that some simulated ones are made after, but from one and two processors alone. The reference is the best of the machine
grid by two windows, and reference and choices are judged by a third, so that a regret may be negative; where the
reference does not repeat, the workload is censored and counted. Searches draw, so each runs with several seeds.

*Policies* are networks that `make bench NAME=networks` has trained on a store of simulated records, asked again after
each trial and probing. They know the simulated families and most sizes of machines, so they are held against
compositions alone, those that are not in the store that they learned from.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from harness.experiment import Experiment, Found, Rows, Task
from page_tables.rival_tables import is_quoted
from poolpilot.agent.baselines.formulas import WaitRatioFormula
from poolpilot.agent.baselines.static import StaticPredictor
from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.objective import regret
from poolpilot.env.servers.simulated_measurement import SimulatedMeasurement
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import Model
from poolpilot.models.champion import load_champion
from poolpilot.models.latent.constants import constant_on
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import ScorePredictor
from poolpilot.pipelines.evaluate.baselines import Unguarded
from poolpilot.pipelines.store.leak_faults import composition_of
from poolpilot.pipelines.store.store_contents import StoreContents
from rivals.knowledge import Knowledge, Known, with_compositions
from rivals.methods import NUMBERS, Tried, defaults, looked, portfolios, refined, searched, that_know
from rivals.networks import RIVALS, RivalNetworks
from rivals.rival_statistics import UNSAFE, Row, mean, mean_row, rows_of
from rivals.scenarios import AGAIN, JUDGED, SEED, SHOWN, RivalScenario, ScenarioWindows, scenarios_of
from rivals.simulated_reference import reference_of

KINDS = ("families", "compositions")
NETWORKS, STORE = Path("build/networks/simulated"), Path("build/simulated_store")
REQUESTS, QUICK_REQUESTS = 2000, 100
SEARCHES = 5
"""Seeds of every search on each workload."""

SEARCHED: Mapping[str, Sequence[float]] = {"oversubscribe": (1, 3), "timer_interval_ms": (10, 500)}
"""What searches choose among; sizes are searched in their range."""


@dataclass(frozen=True)
class Plan:
    """What rivals are held against.

    Attributes:
        compositions: Drawn compositions on each size of machine.
        machines: Sizes of machine for each simulated family; 0: none.
        networks: Folder of the networks that take part.
        unknown_to: The store that these have learned from: workloads composed as one of it are left out.
    """

    compositions: int
    machines: int
    networks: Path | None = None
    unknown_to: Path | None = None

    def names(self) -> list[str]:
        """All scenarios."""
        return list(_scenarios(self))

    def under(self) -> Found:
        """What rows are measured with."""
        networks = RivalNetworks.in_folder(self.networks).digests
        return {"curves": load_curves().digest, "trials": list(NUMBERS), "networks": networks}


@cache
def _scenarios(plan: Plan) -> dict[str, RivalScenario]:
    learned = compositions_in(plan.unknown_to) if plan.unknown_to else set()
    return {one.name: one for one in unknown(scenarios_of(plan.compositions, plan.machines, SEED), learned)}


@cache
def _knowledge(plan: Plan) -> Knowledge:
    return Knowledge(with_compositions(load_curves()), list(_scenarios(plan).values()), together=("compositions",))


@cache
def _networks(plan: Plan) -> RivalNetworks:
    return RivalNetworks.in_folder(plan.networks)


def compositions_in(store: Path) -> set[str]:
    """All compositions of the workloads of a store."""
    return {composition_of(row) for _, row in StoreContents.read(store, splits=()).definitions}


def unknown(scenarios: Sequence[RivalScenario], learned: Collection[str]) -> list[RivalScenario]:
    """The scenarios whose composition nobody has learned."""
    return [one for one in scenarios if one.composition not in learned]


def measured(task: Task, plan: Plan) -> Found:
    """What every method ends on and has tried, judged; and why nothing can be judged by the reference."""
    scenario, networks = _scenarios(plan)[task.scenario], _networks(plan)
    requests = QUICK_REQUESTS if task.quick else REQUESTS
    windows = ScenarioWindows(scenario.scenario, SimulatedMeasurement(requests=requests))
    known = _knowledge(plan).of(scenario)
    best, reason = reference_of(windows, known.curves)
    rows = judged_rows(windows, best, choices(windows, known, networks))
    seeds = search_seeds(scenario.name, SEARCHES)
    searches = [judged_rows(windows, best, searched(windows, SEARCHED, seed)) for seed in seeds]
    return {"reason": reason, "rows": [*rows, *(mean_row(each) for each in zip(*searches, strict=True))]}


def search_seeds(name: str, number: int) -> list[int]:
    """Seeds of the searches on a workload, which are others on every workload."""
    return [int.from_bytes(hashlib.sha256(f"{name} {place}".encode()).digest()[:4]) for place in range(number)]


def judged_rows(windows: ScenarioWindows, best: PoolTuple, found: Mapping[str, Tried]) -> list[Row]:
    """One row for each method, all judged by the same windows."""
    default, objective = windows.limits.default_tuple(), windows.objective
    judged = windows.of(JUDGED, [best, default, *(choice for choice, _ in found.values())])
    again = windows.of(AGAIN, [default])[default]
    safe_per_s = UNSAFE * objective.goodput_per_s(windows.of(SHOWN, [default])[default])
    rows = list[Row]()
    for name, (choice, tried) in found.items():
        window, shown = again if name == "default_again" else judged[choice], windows.of(SHOWN, tried)
        lost = regret(objective.value(window), objective.value(judged[best]))
        unsafe = mean([float(objective.goodput_per_s(shown[one]) < safe_per_s) for one in tried])
        rows.append({"method": name, "chosen": window.pool_tuple.core, "regret": lost, "unsafe": unsafe})
    return rows


def choices(windows: ScenarioWindows, known: Known, networks: RivalNetworks) -> dict[str, Tried]:
    """What every method ends on that draws nothing, by its name; the number behind it is that of its trials."""
    network = load_champion()
    once: dict[str, Predictor] = {
        "constant_best": StaticPredictor(constant_on(known.curves, windows.limits, windows.objective)),
        "wait_ratio": WaitRatioFormula(LARGE_GRID),
        "latent_advisor": Advisor(Model.of(known.curves)),
        "advise": Advisor(Model.of(known.curves, [network]), server_view=True),
        "one_shot": ScorePredictor(network),
        "unguarded": Unguarded(ScorePredictor(network)),
    }
    tried = {**that_know(known), "refiner": ScorePredictor.for_trials(network)}
    return {
        **defaults(windows),
        **looked(windows, once | networks.once()),
        **portfolios(windows, known),
        **refined(windows, tried | networks.tried()),
    }


def summarise(rows: Rows, plan: Plan) -> dict[str, Any]:
    """The rows that pages quote, and what was censored."""
    scenarios = _scenarios(plan)
    reasons = {row.task.scenario: row.found["reason"] for row in rows if row.found["reason"] is not None}
    left = [(scenarios[row.task.scenario], row.found["rows"]) for row in rows if row.task.scenario not in reasons]
    curves = load_curves()
    found = rows_of(left, KINDS, RIVALS if _networks(plan) else {})
    return {
        "knows": {"digest": curves.digest, "curves": len(curves.curves)},
        "censored": reasons,
        "rows": [row for row in found if is_quoted(row)],
    }


def _experiment(question: str, plan: Plan) -> Experiment:
    return Experiment(
        question,
        scenarios=plan.names,
        measure=partial(measured, plan=plan),
        summarise=partial(summarise, plan=plan),
        under=plan.under,
    )


EXPERIMENTS = {
    "simulated_rivals": _experiment(
        "Who loses least on simulated machines that nobody knows? Forty minutes.", Plan(compositions=5, machines=2)
    ),
    "simulated_policies": _experiment(
        "Does reinforcement learning help there? An hour, after `networks`.",
        Plan(compositions=20, machines=0, networks=NETWORKS, unknown_to=STORE),
    ),
}
