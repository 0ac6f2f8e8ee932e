"""Every rival at 0, 1, 2, 3 and 5 trials on simulated machines of 3 to 96 processors that its curves do not hold.

    python benchmarks/simulated_rivals.py [--json benchmarks/reports/simulated_rivals.json] [--runs build/rivals.jsonl]

Two kinds of workloads: of every simulated family, with that family and everything of the same composition taken out of
what the methods know; and compositions drawn by `workload_files.py`, with all of these taken out. Of both, every
machine with as many processors is taken out, too. Methods see one window of each tuple they try, from a fresh pool.
`advise` is what `poolpilot advise` and `predict` say: nothing is taken out of its network, which has learned from the
live families that some simulated ones are made after, but from one and two processors alone. With `--networks`, those
that `live_networks.py` has trained on a store of simulated records take part, as policies and probing. They know the
simulated families and most sizes of machines, so `--machines 0 --unknown-to STORE` leaves what they do not know:
compositions that are not in the store that they learned from. The reference is the best of the machine grid by two
windows, and reference and choices are judged by a third, so that a regret may be negative; where the reference does not
repeat (`simulated_reference.py`), the workload is censored and counted. Searches draw, so each runs with several seeds,
which differ from workload to workload. Goes on where it was stopped, with `--runs`. Some forty minutes on one quiet
processor; `python benchmarks/pages.py` writes the tables.
"""

import argparse
import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from poolpilot.agent.baselines.formulas import WaitRatioFormula
from poolpilot.agent.baselines.static import StaticPredictor
from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.objective import regret
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.simulated_measurement import SimulatedMeasurement
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import Model
from poolpilot.models.champion import load_champion
from poolpilot.models.latent.constants import constant_on
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import ScorePredictor
from poolpilot.pipelines.evaluate.baselines import Unguarded
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars
from poolpilot.pipelines.store.leak_faults import composition_of
from poolpilot.pipelines.store.store_contents import StoreContents
from rival_knowledge import Knowledge, Known, with_compositions
from rival_methods import NUMBERS, Tried, defaults, looked, portfolios, refined, searched, that_know
from rival_networks import RIVALS, RivalNetworks
from rival_scenarios import AGAIN, JUDGED, SEED, SHOWN, RivalScenario, ScenarioWindows, scenarios_of
from rival_statistics import UNSAFE, Row, mean, mean_row, rows_of
from simulated_reference import reference_of

HELD_OUT = ["families or compositions", "machines"]
"""What is taken out of what methods know, in words: rows that were kept when they knew more do not count."""

SEARCHED: Mapping[str, Sequence[float]] = {"oversubscribe": (1, 3), "timer_interval_ms": (10, 500)}
"""What searches choose among; sizes are searched in their range."""


def main() -> None:
    """Runs every method on every scenario and writes the report."""
    given = _arguments()
    curves = load_curves(given.curves)
    learned = compositions_in(given.unknown_to) if given.unknown_to else set()
    scenarios = unknown(scenarios_of(given.compositions, given.machines, given.seed), learned)
    networks = RivalNetworks.of(given.networks)
    asked = asked_of(given, curves.digest, networks)
    done = {row["name"]: row for row in read_runs(given.runs) if row["asked"] == asked}
    knowledge = Knowledge(with_compositions(curves), scenarios, together=("compositions",))
    with opened_for_more(given.runs) as out, progress_bars(terminal()) as bars:
        for scenario in bars.each("simulating", scenarios, lambda one: one.name):
            if scenario.name not in done:
                windows = ScenarioWindows(scenario.scenario, SimulatedMeasurement(requests=given.requests))
                seeds = search_seeds(scenario.name, given.searches)
                found = played(windows, knowledge.of(scenario), seeds, networks)
                done[scenario.name] = {"name": scenario.name, "asked": asked, **found}
                keep_run(done[scenario.name], out)
    reasons = {one.name: done[one.name]["reason"] for one in scenarios if done[one.name]["reason"] is not None}
    left = [(one, done[one.name]["rows"]) for one in scenarios if one.name not in reasons]
    rows = rows_of(left, rivals=RIVALS if networks else {})
    head = {"source": curves.source, "digest": curves.digest, "curves": len(curves.curves)}
    write_json(given.json, {"knows": head, "searches": given.searches, "censored": reasons, "rows": rows})


def compositions_in(store: Path) -> set[str]:
    """All compositions of the workloads of a store."""
    return {composition_of(row) for _, row in StoreContents.read(store, splits=()).definitions}


def unknown(scenarios: Sequence[RivalScenario], learned: Collection[str]) -> list[RivalScenario]:
    """The scenarios whose composition nobody has learned."""
    return [one for one in scenarios if one.composition not in learned]


def asked_of(given: argparse.Namespace, digest: str, networks: RivalNetworks) -> dict[str, Any]:
    """What a kept row must have been made with to be taken up, as it comes back from JSON."""
    named = {name: vars(given)[name] for name in ("requests", "seed", "searches")}
    further = {"networks": networks.digests} if networks else {}
    return {**named, "curves": digest, "held_out": HELD_OUT, "trials": list(NUMBERS), **further}


def search_seeds(name: str, number: int) -> list[int]:
    """Seeds of the searches on a workload, which are others on every workload."""
    return [int.from_bytes(hashlib.sha256(f"{name} {place}".encode()).digest()[:4]) for place in range(number)]


def played(windows: ScenarioWindows, known: Known, seeds: Sequence[int], networks: RivalNetworks) -> dict[str, Any]:
    """What every method ends on and has tried, judged, one row each; and why nothing can be judged by the reference."""
    best, reason = reference_of(windows, known.curves)
    rows = judged_rows(windows, best, choices(windows, known, networks))
    searches = [judged_rows(windows, best, searched(windows, SEARCHED, seed)) for seed in seeds]
    return {"reason": reason, "rows": [*rows, *(mean_row(each) for each in zip(*searches, strict=True))]}


def judged_rows(windows: ScenarioWindows, best: PoolTuple, found: Mapping[str, Tried]) -> list[Row]:
    """One row for each method, all judged by the same windows."""
    default = windows.limits.default_tuple()
    judged = windows.of(JUDGED, [best, default, *(choice for choice, _ in found.values())])
    again = windows.of(AGAIN, [default])[default]
    return [
        row_of(name, windows, again if name == "default_again" else judged[choice], judged[best], tried)
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


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/simulated_rivals.json"))
    parser.add_argument("--runs", type=Path, default=None, help="file of finished scenarios, to go on after a stop")
    parser.add_argument("--curves", type=Path, default=None, help="response curves; those of the package if not given")
    parser.add_argument("--compositions", type=int, default=5, help="drawn compositions on each size of machine")
    parser.add_argument("--machines", type=int, default=2, help="sizes of machine for each simulated family; 0: none")
    parser.add_argument("--requests", type=int, default=2000, help="requests of a window")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the workloads")
    parser.add_argument("--searches", type=int, default=5, help="seeds of every search on each workload")
    parser.add_argument("--networks", nargs="*", default=[], metavar="NAME=FOLDER", help="of simulated machines")
    parser.add_argument("--unknown-to", type=Path, metavar="STORE", help="leave out workloads composed as one of it")
    return parser.parse_args()


if __name__ == "__main__":
    main()
