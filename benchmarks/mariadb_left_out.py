"""Leave families out: what the training recipe for MariaDB is worth, without looking at the sealed test families.

How to run: `python benchmarks/mariadb_left_out.py [--groups 8 | --number 1] [--plain] [--scratch]` (a minute each, one
processor). Training and validation families are dealt into groups; for each group a model is trained on all others and
asked about its families, from several tuples in force, as the server alone sees them. Results to expect: a table of
mean regret, and of advice that did harm, for several thresholds of the gain; the recipe and the thresholds of
`poolpilot train --server mariadb` were chosen by it.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from poolpilot.agent.training.all_action import AllActionSettings, train_all_action
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.observation import encode
from poolpilot.env.output import write_json
from poolpilot.models.artefact import load
from poolpilot.models.champion import any_machine_folder
from poolpilot.models.forward import Weights, forward
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.train.train_settings import TrainSettings

STARTS = ((2, 3, 500), (16, 3, 10), (64, 3, 10), (1, 1, 500), (8, 1, 500), (4, 3, 10))
WINDOWS_A_START = 2
MIN_GAINS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
CAUTIONS = (0.0, 0.5, 1.0)
HARM = 0.05
LEAST_REGRET = -0.2
"""A chaotic workload's oracle, measured again, may be far below any tuple: what is less counts as this."""


@dataclass(frozen=True)
class Asked:
    """One question to a model about a family it has not seen."""

    workload: str
    family: str
    start: tuple[int, int, int]
    chosen: tuple[int, int, int]
    gain: float
    disagreement: float
    true_gain: float
    regret: float
    regret_of_staying: float

    def follows(self, min_gain: float, caution: float) -> bool:
        """Whether the advice would be given under these thresholds."""
        return self.chosen != self.start and self.gain - caution * self.disagreement > min_gain


def asked_about(sweep: WorkloadSweep, weights: Weights, grid: ActionGrid) -> Iterator[Asked]:
    """What a model says of a sweep from every starting tuple that was measured."""
    view = sweep.server_view()
    reference = sweep.oracle_value if sweep.oracle_again is None else sweep.oracle_again
    for core in filter(view.entries.__contains__, STARTS):
        for window in view.entries[core].windows[:WINDOWS_A_START]:
            observation = encode([window], view.limits, view.objective, grid)
            gains = forward(weights, {name: array[None] for name, array in observation.items()}).member_gain[:, 0]
            best, stay = int(gains.mean(axis=0).argmax()), grid.index_of(window.pool_tuple)
            over_stay = gains[:, best] - gains[:, stay]
            value, staying = sweep.value(grid.tuples[best]), sweep.value(window.pool_tuple)
            yield Asked(
                sweep.workload_id,
                sweep.family,
                core,
                grid.tuples[best].core,
                float(over_stay.mean()),
                float(over_stay.std()),
                value - staying,
                1.0 - math.exp(value - reference),
                1.0 - math.exp(staying - reference),
            )


def grouped(sweeps: Sequence[WorkloadSweep], groups: int) -> Iterator[set[str]]:
    """Workloads of whole families, dealt into so many groups."""
    families = sorted({sweep.family for sweep in sweeps})
    for group in range(min(groups, len(families))):
        yield {sweep.workload_id for sweep in sweeps if sweep.family in families[group::groups]}


def numbered(sweeps: Sequence[WorkloadSweep], number: str) -> set[str]:
    """Workloads of that number of every family."""
    return {sweep.workload_id for sweep in sweeps if sweep.workload_id.endswith(f"-{number}")}


def summary_table(answers: Sequence[Asked]) -> Table:
    """Mean regret and harm by thresholds, from the default tuple and from all starts."""
    table = Table("start", "min_gain", "caution", "mean regret", "changes", "harmful", title="Families left out")
    for words, among in (("default", [one for one in answers if one.start == STARTS[0]]), ("all", list(answers))):
        for min_gain in MIN_GAINS:
            for caution in CAUTIONS:
                followed = [one for one in among if one.follows(min_gain, caution)]
                left = [one for one in among if not one.follows(min_gain, caution)]
                regrets = np.maximum(
                    [one.regret for one in followed] + [one.regret_of_staying for one in left], LEAST_REGRET
                )
                harmful = sum(one.true_gain < -HARM for one in followed)
                table.add_row(
                    words,
                    f"{min_gain:g}",
                    f"{caution:g}",
                    f"{np.mean(regrets):.3f}",
                    str(len(followed)),
                    str(harmful),
                )
    return table


def main() -> None:
    """Trains a model a family, asks, prints and writes the answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=Path("pipelines/mariadb"))
    parser.add_argument("--groups", type=int, default=8, help="as many as there are families: one at a time")
    parser.add_argument("--number", help="leave out the workloads of this number of every family, not families")
    parser.add_argument("--plain", action="store_true", help="features as scaled by the schema (decision 14)")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--scratch", action="store_true", help="random weights instead of the champion's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/mariadb_left_out.json"))
    given = parser.parse_args()
    console = Console()
    dataset = read_dataset(given.store, "train", "validation")
    sweeps = [*dataset.of_split("train"), *dataset.of_split("validation")]
    recipe: AllActionSettings = TrainSettings.load(None, {"server": "mariadb"}).all_action
    settings = recipe.model_copy(
        update={"seed": given.seed, "epochs": given.epochs or recipe.epochs, "standardise": not given.plain}
    )
    initial = None if given.scratch else load(any_machine_folder()).weights
    answers: list[Asked] = []
    for out in [numbered(sweeps, given.number)] if given.number else grouped(sweeps, given.groups):
        others = [sweep for sweep in sweeps if sweep.workload_id not in out]
        left_out = [sweep for sweep in sweeps if sweep.workload_id in out]
        both = [view for sweep in others for view in (sweep, sweep.server_view())]
        network = train_all_action(both, left_out, settings, grid=dataset.grid, initial=initial)
        weights = network.state_to_numpy()
        answers += [one for sweep in left_out for one in asked_about(sweep, weights, dataset.grid)]
        console.print(f"left out: {', '.join(sorted(out))}")
        write_json(given.json, [vars(one) for one in answers])
    console.print(summary_table(answers))


if __name__ == "__main__":
    main()
