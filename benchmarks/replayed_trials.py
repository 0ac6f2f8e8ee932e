"""What trying buys, on replayed records: the bandit, portfolios and the network with the same number of trials.

    python benchmarks/replayed_trials.py [--json benchmarks/reports/replayed_trials.json]

Every record of a validation or test family is replayed five times from its default, each time with other windows kept
back. A method sees one window of each tuple it tries; what it ends on is valued by the *other* windows of that tuple,
where the record has some, and the oracle itself by the windows in which it was measured afresh, against which all is
held: those by which it was chosen flatter it. Where the reference does not repeat, the workload is censored and counted
(`rival_censoring.py`). The bandit knows the curves that ship; portfolios and network have learned from the training
families of the same records; those of the embedded pool are of the older timer, as the network was that the kept report
is of (before decision 45). A minute; `python benchmarks/evaluation_page.py` writes the table.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.agent.baselines.portfolio import Portfolio, PortfolioSettings
from poolpilot.agent.controllers.refiner import Refiner, RefinerSettings
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import regret
from poolpilot.env.output import write_json
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.champion import load_champion
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import ScorePredictor
from poolpilot.pipelines.store.dataset import SweepDataset, read_dataset
from recorded_cases import RecordedCase, mean_value, recorded_cases
from rival_censoring import censored_cases

STORES = {"native": Path("pipelines/records"), "mariadb": Path("pipelines/mariadb")}
TRIES = (1, 2, 3)
WINDOW_S = 0.3
SEEDS = 5
"""Replays of each record, each with other windows kept back."""


def main() -> None:
    """Replays and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/replayed_trials.json"))
    path = parser.parse_args().json
    cases = {kind: recorded_cases(kind, store, "validation", "test") for kind, store in STORES.items()}
    reasons = {kind: censored_cases(each) for kind, each in cases.items()}
    censored = [
        {"records": kind, "name": name, "reason": reason}
        for each in reasons.values()
        for (kind, name), reason in each.items()
    ]
    rows = [
        row
        for kind, store in STORES.items()
        for row in rows_of(kind, store, [case for case in cases[kind] if (kind, case.name) not in reasons[kind]])
    ]
    write_json(path, {"censored": censored, "rows": rows})


def rows_of(kind: str, store: Path, cases: Sequence[RecordedCase]) -> list[dict[str, Any]]:
    """One row for every method and number of trials."""
    training = read_dataset(store, "train")
    rows = []
    for tries in TRIES:
        for name, predictor in predictors(kind, training, tries).items():
            found = [played(case, predictor, tries, seed) for case in cases for seed in range(SEEDS)]
            rows.append({"records": kind, "method": name, "tries": tries, **summary(found, cases)})
            print(rows[-1])
    return rows


def predictors(kind: str, dataset: SweepDataset, tries: int) -> Mapping[str, Predictor]:
    """What is compared."""
    portfolio = Portfolio.fit(dataset.of_split("train"), PortfolioSettings(tries=tries), dataset.grid)
    bandit = LatentBandit(load_curves())
    network = ScorePredictor.for_trials(load_champion(None, "mariadb" if kind == "mariadb" else "native"))
    return {"portfolio": portfolio, "latent_bandit": bandit, "refiner": network}


def played(case: RecordedCase, predictor: Predictor, tries: int, seed: int) -> tuple[float, float]:
    """Regret of what the method ended on, and the mean regret of what it tried."""
    sweep, oracle = case.sweep, mean_value(case.objective, case.again)
    shown, others = sweep.kept_apart(np.random.default_rng([seed, *sweep.workload_id.encode()]))
    refiner = Refiner(predictor, RefinerSettings(decisions=tries, measurement=MeasurementSettings(window_s=WINDOW_S)))
    with RecordedServer(shown, seed=seed) as server:
        refinement = refiner.refine(server, sweep.objective)

    def lost(core: Core) -> float:
        return regret(oracle if core == case.reference else others(core), oracle)

    tried = [lost(window.pool_tuple.core) for window in refinement.windows[1:]]
    return lost(refinement.pool_tuple.core), float(np.mean(tried)) if tried else 0.0


def summary(found: Sequence[tuple[float, float]], cases: Sequence[RecordedCase]) -> dict[str, Any]:
    """Statistics of one method; its mean with the standard error over families."""
    regrets = np.array([one for one, _ in found])
    families = np.repeat([case.family for case in cases], SEEDS)
    means = [regrets[families == family].mean() for family in sorted(set(families))]
    return {
        "workloads": len(cases),
        "regret_mean": float(regrets.mean()),
        "regret_mean_error": float(np.std(means, ddof=1) / np.sqrt(len(means))),
        "regret_median": float(np.median(regrets)),
        "regret_p90": float(np.quantile(regrets, 0.9)),
        "within_5pct": float(np.mean(regrets <= 0.05)),
        "tried": float(np.mean([tried for _, tried in found])),
    }


if __name__ == "__main__":
    main()
