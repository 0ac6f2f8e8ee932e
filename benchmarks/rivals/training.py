"""Networks that learned from a store: of the exact loss, refined by PPO, and by MARWIL, with two sets of features.

They learn from the training families by the stages of `poolpilot learn train` with its defaults, from random weights;
which weights stay is chosen on validation families. `..._on_ratios` are shown the features alone of which the ratios
are made. A folder for each network is left in the output, and one that is there is kept.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from poolpilot.agent.baselines.sbs import SingleBestStatic
from poolpilot.agent.training.all_action import train_all_action
from poolpilot.agent.training.calibration import advice_error, calibrate_gain
from poolpilot.agent.training.marwil import imitate
from poolpilot.agent.training.ppo import refine
from poolpilot.agent.training.rllib_module import rebuilt
from poolpilot.agent.training.validation import evaluate_weights
from poolpilot.models.artefact import load, save
from poolpilot.models.card import ModelCard
from poolpilot.models.champion import Kind
from poolpilot.models.network import ScoreNetwork
from poolpilot.models.out_of_distribution import OutOfDistribution
from poolpilot.pipelines.store.dataset import SweepDataset
from poolpilot.pipelines.train.train import windows_of
from poolpilot.pipelines.train.train_settings import Features, TrainSettings
from rivals.networks import ALL_ACTION, MARWIL, ON_RATIOS, PPO

Train = Callable[[ScoreNetwork], ScoreNetwork]
"""Turns the network of the exact loss into another one."""


VIEWS: Mapping[str, Features] = {"": "all", ON_RATIOS: "ratios"}
"""Features that networks are shown, by what their names end with."""


class Recipe:
    """The stages for one store and one set of features.

    Args:
        dataset: The store.
        server: Kind of server that the networks are for.
        features: What they are shown.
        output: Folder that the networks are saved in.
    """

    def __init__(self, dataset: SweepDataset, server: Kind, features: Features, output: Path) -> None:
        self._settings = TrainSettings.load(None, {"server": server, "features": features})
        views = dataset.with_server_views() if self._settings.server_views else dataset
        self._dataset = views.hiding(self._settings.hidden_features)
        self._training, self._validation = (self._dataset.of_split(split) for split in ("train", "validation"))
        self._server: Kind = server
        self._output = output

    def run(self, suffix: str) -> None:
        """Trains the three networks, whose names end with `suffix`."""
        training, validation, settings, grid = self._training, self._validation, self._settings, self._dataset.grid
        first = self._kept(
            f"{ALL_ACTION}{suffix}", lambda: train_all_action(training, validation, settings.all_action, grid=grid)
        )
        later: Mapping[str, Train] = {
            PPO: lambda network: refine(network, training, validation, settings.ppo, grid=grid),
            MARWIL: lambda network: imitate(network, training, validation, settings.marwil, grid=grid),
        }
        for name, train in later.items():
            self._kept(f"{name}{suffix}", lambda train=train: train(first))  # type: ignore[misc]

    def _kept(self, name: str, train: Callable[[], ScoreNetwork]) -> ScoreNetwork:
        """The network of this name: the one that is there, or one trained and saved now."""
        folder = self._output / name
        if folder.is_dir():
            artefact = load(folder)
            return rebuilt(artefact.card.architecture, artefact.weights)
        network, grid = train(), self._dataset.grid
        if not name.startswith(ALL_ACTION):
            calibrate_gain(network, self._validation, grid)
        judged = evaluate_weights(network.state_to_numpy(), self._validation, self._settings.choice, grid)
        print(f"{name}: validation score {judged.score:.4f}", flush=True)
        save(folder, network.state_to_numpy(), self._card(network))
        return network

    def _card(self, network: ScoreNetwork) -> ModelCard:
        settings, grid = self._settings, self._dataset.grid
        return ModelCard(
            architecture=network.architecture,
            grid=grid,
            training_digest=self._dataset.digest,
            residual_std=advice_error(network, self._validation, grid),
            out_of_distribution=OutOfDistribution.fit(
                windows_of(self._training),
                windows_of(self._validation),
                {sweep.limits.cpus for sweep in self._training},
                settings.familiarity,
            ),
            static_tuple=SingleBestStatic.fit(self._training, settings.baselines.sbs, grid).pool_tuple.core,
            hidden_features=settings.hidden_features,
            settings=settings.predictor,
            server_kind=self._server,
        )
