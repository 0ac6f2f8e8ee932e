"""Every rival at 0, 1, 2, 3 and 5 trials on recorded live sweeps, with one family at a time left out of what they know.

Sets are the embedded pool under today's timer (`pipelines/native`, one and two processors) and MariaDB
(`pipelines/mariadb`). For each family its curves are taken out of what methods know, and those of every other family of
the same composition (of MariaDB: of the same scripts); all other live families and the simulated ones stay. A third set
is the MariaDB suite (`benchmarks/records/suite*`), of which nothing is ever known. What is seen and what judges is kept
apart (`rivals/recorded_cases.py`). Where the reference does not repeat, the workload is censored and counted. Networks
are too dear to be trained once a family: those that `make bench NAME=networks` has left, which have learned from
training families, are held against methods that know the curves of these, on validation and test families only. Those
that ship have learned from training families, too, so what `poolpilot advise` says takes part on the same families.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from harness.experiment import Experiment, Found, Rows, Task
from page_tables.rival_tables import is_quoted
from poolpilot.agent.baselines.formulas import WaitRatioFormula
from poolpilot.agent.baselines.static import StaticPredictor
from poolpilot.env.objective import regret
from poolpilot.env.workloads.family import Split
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import ServerKind
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import Model
from poolpilot.models.champion import load_for
from poolpilot.models.latent.constants import constant_on
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.pipelines.evaluate.censored_sweeps import reason_to_censor
from poolpilot.pipelines.evaluate.statistics.regret_statistics import clustered_interval
from poolpilot.pipelines.store.recorded_curves import curve_of_sweep
from rivals.knowledge import Knowledge, Known
from rivals.methods import NUMBERS, Tried, defaults, looked, portfolios, refined, searched, that_know
from rivals.networks import RIVALS, RivalNetworks
from rivals.recorded_cases import RecordedCase, mean_value, recorded_cases
from rivals.rival_statistics import LEAST_FAMILIES, UNSAFE, Row, mean, rows_of

STORES: Mapping[ServerKind, Path] = {"native": Path("pipelines/native"), "mariadb": Path("pipelines/mariadb")}
NETWORKS = Path("build/networks")
SUITE_KIND = "suite"
SUITE_STORES = tuple(Path("benchmarks/records") / name for name in ("suite", "suite_second", "suite_third"))
"""The sweeps that the MariaDB suite has kept; methods are judged by them and learn nothing from them."""

HELD_OUT = "held out"
"""Suffix of the kind of workloads that networks are judged on."""

TREE_GROUP = 4
"""Families that trees are fitted without at once, since fitting is dear."""

SPLITS: tuple[Split, ...] = ("train", "validation", "test")


@cache
def networks_of(kind: str) -> RivalNetworks:
    """Networks that take part on held-out workloads of a kind."""
    store, _, held = kind.partition(", ")
    return RivalNetworks.in_folder(NETWORKS / store if held else None)


@cache
def learned() -> tuple[RecordedCase, ...]:
    """The recorded workloads whose curves are known to methods, but for those that are held out."""
    return tuple(case for kind, store in STORES.items() for case in recorded_cases(kind, store, *SPLITS))


@cache
def cases() -> Mapping[str, RecordedCase]:
    """All workloads, by kind and name."""
    held = [case.of_kind(f"{case.kind}, {HELD_OUT}") for case in learned() if case.split != "train"]
    held = [case for case in held if networks_of(case.kind)]
    suite = [case for store in SUITE_STORES for case in recorded_cases(SUITE_KIND, store, *SPLITS)]
    return {f"{case.kind} {case.name}": case for case in (*learned(), *held, *suite)}


@cache
def library() -> ResponseCurves:
    """The simulated curves that ship, and those of all recorded workloads with what these are composed of."""
    shipped = load_curves()
    simulated = [curve for curve in shipped.curves if curve.composition]
    recorded = [
        curve_of_sweep(case.sweep, shipped.grid).model_copy(update={"composition": case.composition})
        for case in learned()
    ]
    return ResponseCurves(grid=shipped.grid, source=shipped.source, curves=(*simulated, *recorded))


@cache
def knowledge() -> Knowledge:
    """What methods may know of each workload."""
    return Knowledge(library(), list(cases().values()), [f"{kind}, {HELD_OUT}" for kind in STORES], TREE_GROUP)


def under() -> Found:
    """What rows are measured with."""
    networks = {kind: networks_of(f"{kind}, {HELD_OUT}").digests for kind in STORES}
    return {"curves": library().digest, "trials": list(NUMBERS), "networks": networks}


def measured(task: Task) -> Found:
    """What every method ends on under a workload."""
    case = cases()[task.scenario]
    tried = choices(case, knowledge().of(case), networks_of(case.kind))
    return {"rows": [row_of(method, case, *one) for method, one in tried.items()]}


def choices(case: RecordedCase, known: Known, networks: RivalNetworks) -> dict[str, Tried]:
    """What every method ends on, by its name; the number behind it is that of its trials."""
    once: dict[str, Predictor] = {
        "constant_best": StaticPredictor(constant_on(known.curves, case.limits, case.objective)),
        "wait_ratio": WaitRatioFormula(case.grid),
        "latent_advisor": Advisor(Model.of(known.curves)),
    }
    if networks:
        shipped = [load_for(server) for server in STORES]
        once["advise"] = Advisor(Model.of(known.curves, shipped), server_view=True)
    space = {
        "pool_size": case.grid.sizes,
        "oversubscribe": case.grid.oversubscribes,
        "timer_interval_ms": case.grid.timer_intervals_ms,
    }
    seed = int.from_bytes(hashlib.sha256(case.name.encode()).digest()[:4])
    return {
        **defaults(case),
        **looked(case, once | networks.once()),
        **portfolios(case, known),
        **refined(case, that_know(known) | networks.tried()),
        # A search knows nothing, so that it would do on held-out families what it has done.
        **({} if networks else searched(case, space, seed)),
    }


def row_of(method: str, case: RecordedCase, choice: PoolTuple, tried: Sequence[PoolTuple]) -> Row:
    """One method: its choice against the reference, both judged, and how many of its trials were unsafe."""
    core, objective = case.nearest(choice), case.objective
    again = method == "default_again"
    value = mean_value(objective, case.sweep.entries[core].windows[:1]) if again else case.value(core)
    default = case.limits.default_tuple()
    shown = case.shown([default, *tried])
    safe_per_s = UNSAFE * objective.goodput_per_s(shown[default])
    return {
        "method": method,
        "chosen": core,
        "regret": regret(value, mean_value(objective, case.again)),
        "unsafe": mean([float(objective.goodput_per_s(shown[one]) < safe_per_s) for one in tried]),
    }


def summarise(rows: Rows) -> dict[str, Any]:
    """The rows that pages quote, what was censored, and how the default differs from itself."""
    known = cases()
    reasons = {name: reason for name, case in known.items() if (reason := reason_to_censor(case.sweep)) is not None}
    left = [(known[row.task.scenario], row.found["rows"]) for row in rows if row.task.scenario not in reasons]
    found = rows_of(left, sorted({case.kind for case, _ in left}), RIVALS)
    return {
        "knows": {"curves": len(library().curves), "digest": library().digest},
        "censored": [
            {"kind": known[name].kind, "name": known[name].name, "reason": reason} for name, reason in reasons.items()
        ],
        "noise_floor": noise_floors([case for case, _ in left]),
        "rows": [row for row in found if is_quoted(row)],
    }


def noise_floors(judged: Sequence[RecordedCase]) -> dict[str, Any]:
    """J of the default as judged less J of it as seen, signed, of each kind; where it was measured more than once."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in judged:
        core = case.limits.default_tuple().core
        if not case.was_seen(core):
            seen = case.objective.value(case.sweep.entries[core].windows[0])
            found[case.kind][case.family].append(case.value(core) - seen)
    return {
        kind: {
            "workloads": sum(len(each) for each in by_family.values()),
            "mean": float(np.mean([one for each in by_family.values() for one in each])),
            "interval": clustered_interval(by_family, 5000, 0) if len(by_family) >= LEAST_FAMILIES else None,
        }
        for kind, by_family in found.items()
    }


EXPERIMENTS = {
    "live_rivals": Experiment(
        "Who loses least on recorded live sweeps, networks among them where they are trained? Minutes.",
        scenarios=lambda: list(cases()),
        measure=measured,
        summarise=summarise,
        under=under,
    )
}
