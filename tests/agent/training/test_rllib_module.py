"""The RLModule is the score network: same logits, same values, from dictionaries or flat rows."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns

from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.agent.training.all_action import AllActionSettings, new_network, to_tensors
from poolpilot.agent.training.flat_observation import flatten
from poolpilot.agent.training.rllib_module import ScoreModule, module_spec
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.environments.grid_env import observation_space
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.models.forward import MASKED_LOGIT
from poolpilot.models.network import ScoreNetwork


@pytest.fixture(scope="module")
def network(grid: ActionGrid) -> ScoreNetwork:
    return new_network(AllActionSettings(members=2, hidden=16), grid)


@pytest.fixture(scope="module")
def module(network: ScoreNetwork, grid: ActionGrid) -> ScoreModule:
    built = module_spec(network, grid, observation_space(grid)).build()
    assert isinstance(built, ScoreModule)
    return built


@pytest.fixture
def observation(training: Sequence[WorkloadSweep], grid: ActionGrid) -> Mapping[str, NDArray[np.float32]]:
    drawn = EncodedSweeps.of(training, grid).observation(np.array([[0, 1], [7, -1], [30, 31]]))
    drawn["action_mask"][:, 3] = 0.0
    return drawn


def test_module_gives_the_networks_logits_and_values(
    module: ScoreModule, network: ScoreNetwork, observation: Mapping[str, NDArray[np.float32]]
) -> None:
    batch = {Columns.OBS: to_tensors(observation)}
    expected = network(to_tensors(observation))
    trained = module.forward_train(batch)
    assert torch.equal(trained[Columns.ACTION_DIST_INPUTS], expected.logits)
    assert torch.equal(module.compute_values(batch), expected.value)
    assert torch.equal(module.compute_values(batch, trained[Columns.EMBEDDINGS]), expected.value)


def test_flat_rows_give_the_same_logits(module: ScoreModule, observation: Mapping[str, NDArray[np.float32]]) -> None:
    from_dictionary = module.forward_inference({Columns.OBS: to_tensors(observation)})
    from_rows = module.forward_inference({Columns.OBS: torch.from_numpy(flatten(observation))})
    assert torch.equal(from_dictionary[Columns.ACTION_DIST_INPUTS], from_rows[Columns.ACTION_DIST_INPUTS])


def test_forbidden_tuple_is_never_sampled(
    module: ScoreModule, observation: Mapping[str, NDArray[np.float32]], grid: ActionGrid
) -> None:
    logits = module.forward_exploration({Columns.OBS: to_tensors(observation)})[Columns.ACTION_DIST_INPUTS]
    assert (logits[:, 3] == MASKED_LOGIT).all()
    assert module.action_space == spaces.Discrete(len(grid))
    actions = np.asarray(module.get_exploration_action_dist_cls().from_logits(logits.repeat(500, 1)).sample())
    assert len(actions) == 1500
    assert not (actions == 3).any()
