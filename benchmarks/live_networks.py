"""Networks that learned from live records: of the exact loss, refined by PPO, and by MARWIL, with two sets of features.

    python benchmarks/live_networks.py --store pipelines/native --output build/networks/native
    python benchmarks/live_networks.py --store pipelines/mariadb --output build/networks/mariadb --server mariadb

They learn from the training families by the stages of `poolpilot train` with its defaults, from random weights; which
weights stay is chosen on validation families. `..._on_ratios` see the features alone of which the ratios are made. A
folder for each network is left in the output, and one that is there is kept. A quarter of an hour for each store;
`benchmarks/live_rivals.py` holds them against other methods.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from poolpilot.agent.baselines.sbs import SingleBestStatic
from poolpilot.agent.training.all_action import train_all_action
from poolpilot.agent.training.calibration import advice_error, calibrate_gain
from poolpilot.agent.training.marwil import imitate
from poolpilot.agent.training.ppo import refine
from poolpilot.agent.training.rllib_module import rebuilt
from poolpilot.agent.training.validation import evaluate_weights
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.models.artefact import load, save
from poolpilot.models.card import ModelCard
from poolpilot.models.champion import Kind
from poolpilot.models.network import ScoreNetwork
from poolpilot.models.out_of_distribution import OutOfDistribution
from poolpilot.pipelines.store.dataset import SweepDataset, read_dataset
from poolpilot.pipelines.train.train import windows_of
from poolpilot.pipelines.train.train_settings import TrainSettings
from ratio_view import swept_as_ratios_see
from rival_networks import ALL_ACTION, MARWIL, ON_RATIOS, PPO

Train = Callable[[ScoreNetwork], ScoreNetwork]
"""Turns the network of the exact loss into another one."""


def main() -> None:
    """Trains and saves what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--server", choices=("native", "mariadb"), default="native", help="whose recipe is followed")
    parser.add_argument("--today-only", action="store_true", help="no networks on the features of the ratios")
    arguments = parser.parse_args()
    recipe = Recipe(read_dataset(arguments.store, "train", "validation"), arguments.server, arguments.output)
    training, validation = (recipe.dataset.of_split(split) for split in ("train", "validation"))
    recipe.run("", training, validation)
    if not arguments.today_only:
        views = [[swept_as_ratios_see(sweep) for sweep in sweeps] for sweeps in (training, validation)]
        recipe.run(ON_RATIOS, *views)


class Recipe:
    """The stages for one store.

    Args:
        dataset: The store.
        server: Kind of server that the networks are for.
        output: Folder that the networks are saved in.
    """

    def __init__(self, dataset: SweepDataset, server: Kind, output: Path) -> None:
        self._settings = TrainSettings.load(None, {"server": server})
        self.dataset = dataset.with_server_views() if self._settings.server_views else dataset
        self._server: Kind = server
        self._output = output

    def run(self, suffix: str, training: Sequence[WorkloadSweep], validation: Sequence[WorkloadSweep]) -> None:
        """Trains the three networks on sweeps that show what they are to see."""
        settings, grid = self._settings, self.dataset.grid
        first = self._kept(
            f"{ALL_ACTION}{suffix}", training, validation, lambda: self._exact(training, validation, grid)
        )
        later: Mapping[str, Train] = {
            PPO: lambda network: refine(network, training, validation, settings.ppo, grid=grid),
            MARWIL: lambda network: imitate(network, training, validation, settings.marwil, grid=grid),
        }
        for name, train in later.items():
            self._kept(f"{name}{suffix}", training, validation, lambda train=train: train(first))  # type: ignore[misc]

    def _exact(
        self, training: Sequence[WorkloadSweep], validation: Sequence[WorkloadSweep], grid: ActionGrid
    ) -> ScoreNetwork:
        return train_all_action(training, validation, self._settings.all_action, grid=grid)

    def _kept(
        self,
        name: str,
        training: Sequence[WorkloadSweep],
        validation: Sequence[WorkloadSweep],
        train: Callable[[], ScoreNetwork],
    ) -> ScoreNetwork:
        """The network of this name: the one that is there, or one trained and saved now."""
        folder = self._output / name
        if folder.is_dir():
            artefact = load(folder)
            return rebuilt(artefact.card.architecture, artefact.weights)
        network = train()
        if not name.startswith(ALL_ACTION):
            calibrate_gain(network, validation, self.dataset.grid)
        judged = evaluate_weights(network.state_to_numpy(), validation, self._settings.choice, self.dataset.grid)
        print(f"{name}: validation score {judged.score:.4f}", flush=True)
        save(folder, network.state_to_numpy(), self._card(network, training, validation))
        return network

    def _card(
        self, network: ScoreNetwork, training: Sequence[WorkloadSweep], validation: Sequence[WorkloadSweep]
    ) -> ModelCard:
        settings, grid = self._settings, self.dataset.grid
        return ModelCard(
            architecture=network.architecture,
            grid=grid,
            training_digest=self.dataset.digest,
            residual_std=advice_error(network, validation, grid),
            out_of_distribution=OutOfDistribution.fit(
                windows_of(training),
                windows_of(validation),
                {sweep.limits.cpus for sweep in training},
                settings.familiarity,
            ),
            static_tuple=SingleBestStatic.fit(training, settings.baselines.sbs, grid).pool_tuple.core,
            settings=settings.predictor,
            server_kind=self._server,
        )


if __name__ == "__main__":
    main()
