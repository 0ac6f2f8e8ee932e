"""The score network as an RLModule: the same weights, trained by RLlib's algorithms."""

from collections.abc import Mapping
from typing import Any

from gymnasium import spaces
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor

from poolpilot.agent.training.flat_observation import Shapes, unflatten
from poolpilot.agent.training.validation import Weights
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.observation import observation_shapes
from poolpilot.models.architecture import Architecture
from poolpilot.models.network import ScoreNetwork, Scores

NETWORK = "network"
"""Name of the score network within the module."""


class ScoreModule(TorchRLModule, ValueFunctionAPI):
    """Policy and critic from one forward pass; observations are dictionaries of arrays or flat rows of the same."""

    def setup(self) -> None:
        """Builds the network from `model_config` as `module_spec` makes it."""
        config: Any = self.model_config
        self.network = rebuilt(Architecture.model_validate(config["architecture"]), config["weights"])
        self._shapes: Shapes = config["shapes"]

    def _forward(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Tensor]:
        return {Columns.ACTION_DIST_INPUTS: self._scores(batch).logits}

    def _forward_train(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Tensor]:
        scores = self._scores(batch)
        return {Columns.ACTION_DIST_INPUTS: scores.logits, Columns.EMBEDDINGS: scores.value}

    def compute_values(self, batch: Mapping[str, Any], embeddings: Tensor | None = None) -> Tensor:
        """The critic's estimates, (B,); `embeddings` is what `_forward_train` handed over."""
        return self._scores(batch).value if embeddings is None else embeddings

    def _scores(self, batch: Mapping[str, Any]) -> Scores:
        observation = batch[Columns.OBS]
        if isinstance(observation, Tensor):
            observation = unflatten(observation, self._shapes)
        scores: Scores = self.network(observation)
        return scores


def rebuilt(architecture: Architecture, weights: Weights) -> ScoreNetwork:
    """A network of its own with these weights."""
    network = ScoreNetwork(architecture, weights["candidates"])
    network.initialise_from(weights)
    return network


def module_spec(
    network: ScoreNetwork, grid: ActionGrid, observation_space: spaces.Space[Any] | None = None
) -> RLModuleSpec:
    """Says how RLlib builds the module.

    Args:
        network: Its shape and initial weights.
        grid: The grid of the actions.
        observation_space: For algorithms without an environment; else RLlib asks the environment.
    """
    return RLModuleSpec(
        module_class=ScoreModule,
        observation_space=observation_space,
        action_space=spaces.Discrete(len(grid)),
        model_config={
            "architecture": network.architecture.model_dump(),
            "weights": network.state_to_numpy(),
            "shapes": dict(observation_shapes(grid)),
        },
    )
