"""Every rival at 0, 1, 2, 3 and 5 trials on recorded live sweeps, with one family at a time left out of what they know.

    python benchmarks/live_rivals.py [--runs build/live_rivals.jsonl] [--networks all_action=build/networks/all_action]

Sets are the embedded pool under today's timer (`pipelines/native`, one and two processors) and MariaDB
(`pipelines/mariadb`). For each family its curves are taken out of what methods know, and those of every other family
of the same composition (of MariaDB: of the same scripts); all other live families and the simulated ones stay. A third
set is the MariaDB suite (`benchmarks/records/suite*`), of which nothing is ever known. Trees
are fitted without four families at once, since fitting is dear. What is seen and what judges is kept apart
(`recorded_cases.py`). Where the reference does not repeat, the workload is censored and counted. Networks are too dear
to be trained once a family: with `--networks` and `--mariadb-networks` those of `live_networks.py`, which have learned
from training families, are held against methods that know the curves of these, on validation and test families only.
Those that ship have learned from training families, too, so what `poolpilot advise` says takes part on the same
families alone; on machines that its network does not know `simulated_rivals.py` has it. Goes on where it was stopped,
with `--runs`. A few minutes on a quiet machine; `python benchmarks/pages.py` writes the tables.
"""

import argparse
import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.agent.baselines.formulas import WaitRatioFormula
from poolpilot.agent.baselines.static import StaticPredictor
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import regret
from poolpilot.env.output import terminal, write_json
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import ServerKind
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import Model
from poolpilot.models.champion import load_for
from poolpilot.models.latent.constants import constant_on
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.pipelines.evaluate.statistics.regret_statistics import clustered_interval
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars
from poolpilot.pipelines.store.recorded_curves import curve_of_sweep
from recorded_cases import RecordedCase, mean_value, recorded_cases
from rival_censoring import censored_cases
from rival_knowledge import Knowledge, Known
from rival_methods import NUMBERS, Tried, defaults, looked, portfolios, refined, searched, that_know
from rival_networks import RIVALS, RivalNetworks
from rival_statistics import LEAST_FAMILIES, UNSAFE, Row, mean, rows_of

STORES: Mapping[ServerKind, Path] = {"native": Path("pipelines/native"), "mariadb": Path("pipelines/mariadb")}
SUITE_KIND = "suite"
SUITE_STORES = tuple(Path("benchmarks/records") / name for name in ("suite", "suite_second", "suite_third"))
"""The sweeps that `mariadb_suite.py --records` has kept; methods are judged by them and learn nothing from them."""

HELD_OUT = "held out"
"""Suffix of the kind of workloads that networks are judged on."""

TREE_GROUP = 4
"""Families that trees are fitted without at once."""

SPLITS = ("train", "validation", "test")


def main() -> None:
    """Runs every method on every workload and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/live_rivals.json"))
    parser.add_argument("--runs", type=Path, default=None, help="file of finished workloads, to go on after a stop")
    parser.add_argument("--splits", nargs="+", choices=SPLITS, default=SPLITS, help="splits that are read")
    parser.add_argument("--networks", nargs="*", default=[], metavar="NAME=FOLDER", help="of the embedded pool")
    parser.add_argument("--mariadb-networks", nargs="*", default=[], metavar="NAME=FOLDER", help="of MariaDB")
    arguments = parser.parse_args()
    networks = {"native": RivalNetworks.of(arguments.networks), "mariadb": RivalNetworks.of(arguments.mariadb_networks)}
    cases = [case for kind, store in STORES.items() for case in recorded_cases(kind, store, *arguments.splits)]
    curves = library(cases)
    cases += held_out(cases, networks)
    cases += [case for store in SUITE_STORES for case in recorded_cases(SUITE_KIND, store, *arguments.splits)]
    done = played(cases, curves, networks, arguments.runs)
    reasons = censored_cases(cases)
    left = [case for case in cases if (case.kind, case.name) not in reasons]
    found = [(case, done[case.kind, case.name]) for case in left]
    found += [(case, done[case.kind.partition(", ")[0], case.name]) for case in parts_of(left)]
    report = {
        "knows": {"curves": len(curves.curves), "digest": curves.digest},
        "censored": [{"kind": kind, "name": name, "reason": reason} for (kind, name), reason in reasons.items()],
        "noise_floor": noise_floors(left),
        "rows": rows_of(found, sorted({case.kind for case, _ in found}), RIVALS),
    }
    write_json(arguments.json, report)


def library(cases: Sequence[RecordedCase]) -> ResponseCurves:
    """The simulated curves that ship, and those of all recorded workloads with what these are composed of."""
    shipped = load_curves()
    simulated = [curve for curve in shipped.curves if curve.composition]
    recorded = [
        curve_of_sweep(case.sweep, shipped.grid).model_copy(update={"composition": case.composition}) for case in cases
    ]
    return ResponseCurves(grid=shipped.grid, source=shipped.source, curves=(*simulated, *recorded))


def held_out(cases: Sequence[RecordedCase], networks: Mapping[str, RivalNetworks]) -> list[RecordedCase]:
    """The workloads that networks are judged on: those of validation and test families, once more."""
    return [case.of_kind(f"{case.kind}, {HELD_OUT}") for case in cases if case.split != "train" and networks[case.kind]]


def played(
    cases: Sequence[RecordedCase], curves: ResponseCurves, networks: Mapping[str, RivalNetworks], runs: Path | None
) -> dict[tuple[str, str], Sequence[Row]]:
    """What every method ends on under each workload, by kind and name; finished ones are taken from a file."""
    done = {(row["kind"], row["name"], row["asked"]): row["found"] for row in read_runs(runs)}
    found: dict[tuple[str, str], Sequence[Row]] = {}
    knowledge = Knowledge(curves, cases, [f"{kind}, {HELD_OUT}" for kind in STORES], TREE_GROUP)
    with opened_for_more(runs) as out, progress_bars(terminal()) as bars:
        for case in bars.each("replaying", cases, lambda one: f"{one.kind} {one.name}"):
            store, _, held = case.kind.partition(", ")
            asked_networks = networks[store] if held else RivalNetworks()
            asked = f"{curves.digest[:16]} {NUMBERS} {asked_networks.digests}"
            rows = done.get((case.kind, case.name, asked))
            if rows is None:
                tried = choices(case, knowledge.of(case), asked_networks)
                rows = [row_of(method, case, *one) for method, one in tried.items()]
                keep_run({"kind": case.kind, "name": case.name, "asked": asked, "found": rows}, out)
            found[case.kind, case.name] = rows
    return found


def choices(case: RecordedCase, known: Known, networks: RivalNetworks) -> dict[str, Tried]:
    """What every method ends on, by its name; the number behind it is that of its trials."""
    once: dict[str, Predictor] = {
        "constant_best": StaticPredictor(constant_on(known.curves, case.limits, case.objective)),
        "wait_ratio": WaitRatioFormula(case.grid),
        "latent_advisor": Advisor(Model.of(known.curves)),
    }
    space = {
        "pool_size": case.grid.sizes,
        "oversubscribe": case.grid.oversubscribes,
        "timer_interval_ms": case.grid.timer_intervals_ms,
    }
    seed = int.from_bytes(hashlib.sha256(case.name.encode()).digest()[:4])
    return {
        **defaults(case),
        **looked(case, once | networks.once() | shipped(known, networks)),
        **portfolios(case, known),
        **refined(case, that_know(known) | networks.tried()),
        # A search knows nothing, so that it would do on held-out families what it has done.
        **({} if networks else searched(case, space, seed)),
    }


def shipped(known: Known, networks: RivalNetworks) -> dict[str, Predictor]:
    """What `poolpilot advise` says, on families that its networks have not learned from."""
    return (
        {"advise": Advisor(Model.of(known.curves, [load_for(server) for server in STORES]), server_view=True)}
        if networks
        else {}
    )


def row_of(method: str, case: RecordedCase, choice: PoolTuple, tried: Sequence[PoolTuple]) -> Row:
    """One method: its choice against the reference, both judged, and what trying cost as it was seen."""
    core, best = case.nearest(choice), mean_value(case.objective, case.again)
    again = method == "default_again"
    windows = case.sweep.entries[core].windows[:1] if again else case.judged(core)
    value = mean_value(case.objective, windows) if again else case.value(core)
    goodput_per_s, p99_ms = measured(case, core)
    best_goodput_per_s, best_p99_ms = measured(case, case.reference)
    default = case.limits.default_tuple()
    shown = case.shown([default, *tried])
    safe_per_s = UNSAFE * case.objective.goodput_per_s(shown[default])
    return {
        "method": method,
        "chosen": core,
        "regret": regret(value, best),
        "goodput": goodput_per_s / best_goodput_per_s,
        "trying": mean([regret(case.objective.value(shown[one]), best) for one in tried]),
        "unsafe": mean([float(case.objective.goodput_per_s(shown[one]) < safe_per_s) for one in tried]),
        "threads": mean([window.threads for window in windows]),
        "p99": p99_ms / best_p99_ms if p99_ms and best_p99_ms else None,
        "was_seen": case.was_seen(core),
    }


def measured(case: RecordedCase, core: Core) -> tuple[float, float | None]:
    """Goodput and 99th percentile of latency of a tuple as judged."""
    windows = case.judged(core)
    goodput_per_s = float(np.mean([case.objective.goodput_per_s(window) for window in windows]))
    return goodput_per_s, mean([window.p99_ms for window in windows])


def noise_floors(cases: Sequence[RecordedCase]) -> dict[str, Any]:
    """J of the default as judged less J of it as seen, signed, of each kind; where it was measured more than once."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
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


def parts_of(cases: Sequence[RecordedCase]) -> list[RecordedCase]:
    """The workloads once more, each of the kinds that are parts of its own: numbers of processors, splits."""
    within = [case for case in cases if HELD_OUT not in case.kind]
    by_cpus = [case.of_kind(f"{case.kind}, {case.limits.cpus} cpus") for case in within if case.kind == "native"]
    return by_cpus + [case.of_kind(f"{case.kind}, {case.split}") for case in within if case.split != "validation"]


if __name__ == "__main__":
    main()
