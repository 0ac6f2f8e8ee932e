"""What trying buys, on replayed records: the bandit, portfolios and the network with the same number of trials.

    python benchmarks/replayed_trials.py [--json benchmarks/reports/replayed_trials.json]

Every record of a validation or test family is replayed once from its default. A method sees one window of each tuple it
tries; what it ends on is valued by the *other* windows of that tuple, where the record has some, and against the oracle
as it was measured afresh. The bandit knows simulated response curves only; portfolios and network have learned from the
training families of the same records. A minute; `python benchmarks/evaluation_page.py` writes the table.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.agent.baselines.portfolio import Portfolio, PortfolioSettings
from poolpilot.agent.controllers.refiner import Refiner, RefinerSettings
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.measurement.sweep import Core, WorkloadSweep
from poolpilot.env.objective import regret
from poolpilot.env.output import write_json
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.models.champion import load_champion
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import Predictor, ScorePredictor
from poolpilot.pipelines.store.dataset import SweepDataset, read_dataset

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
    rows = [row for kind, store in STORES.items() for row in rows_of(kind, store)]
    write_json(path, {"rows": rows})


def rows_of(kind: str, store: Path) -> list[dict[str, Any]]:
    """One row for every method and number of trials."""
    dataset = read_dataset(store, "train", "validation", "test")
    held_out = [sweep for sweep in dataset.sweeps if sweep.split != "train"]
    rows = []
    for tries in TRIES:
        for name, predictor in predictors(kind, dataset, tries).items():
            found = [played(sweep, predictor, tries, seed) for sweep in held_out for seed in range(SEEDS)]
            rows.append({"records": kind, "method": name, "tries": tries, **summary(found, held_out)})
            print(rows[-1])
    return rows


def predictors(kind: str, dataset: SweepDataset, tries: int) -> Mapping[str, Predictor]:
    """What is compared."""
    portfolio = Portfolio.fit(dataset.of_split("train"), PortfolioSettings(tries=tries), dataset.grid)
    bandit = LatentBandit(load_curves())
    network = ScorePredictor.for_trials(load_champion(None, "mariadb" if kind == "mariadb" else "native"))
    return {"portfolio": portfolio, "latent_bandit": bandit, "refiner": network}


def played(sweep: WorkloadSweep, predictor: Predictor, tries: int, seed: int) -> tuple[float, float]:
    """Regret of what the method ended on, and the mean regret of what it tried."""
    shown, values = sweep.kept_apart(np.random.default_rng([seed, *sweep.workload_id.encode()]))
    refiner = Refiner(predictor, RefinerSettings(decisions=tries, measurement=MeasurementSettings(window_s=WINDOW_S)))
    with RecordedServer(shown, seed=seed) as server:
        refinement = refiner.refine(server, sweep.objective)
    assert sweep.oracle_again is not None
    lost: Callable[[Core], float] = lambda core: regret(values(core), sweep.oracle_again or 0.0)  # noqa: E731
    tried = [lost(window.pool_tuple.core) for window in refinement.windows[1:]]
    return lost(refinement.pool_tuple.core), float(np.mean(tried)) if tried else 0.0


def summary(found: Sequence[tuple[float, float]], sweeps: Sequence[WorkloadSweep]) -> dict[str, Any]:
    """Statistics of one method; its mean with the standard error over families."""
    regrets = np.array([one for one, _ in found])
    families = np.repeat([sweep.family for sweep in sweeps], SEEDS)
    means = [regrets[families == family].mean() for family in sorted(set(families))]
    return {
        "workloads": len(sweeps),
        "regret_mean": float(regrets.mean()),
        "regret_mean_error": float(np.std(means, ddof=1) / np.sqrt(len(means))),
        "regret_median": float(np.median(regrets)),
        "regret_p90": float(np.quantile(regrets, 0.9)),
        "within_5pct": float(np.mean(regrets <= 0.05)),
        "tried": float(np.mean([tried for _, tried in found])),
    }


if __name__ == "__main__":
    main()
