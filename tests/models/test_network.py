"""The torch network learns, and its parts touch only what they should."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.observation import observation_shapes
from poolpilot.models.architecture import Architecture, grid_coordinates
from poolpilot.models.network import ScoreNetwork


@pytest.fixture
def network() -> ScoreNetwork:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return ScoreNetwork(Architecture.of(DEFAULT_GRID, members=3, hidden=16), grid_coordinates(DEFAULT_GRID))


@pytest.fixture
def observation() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(1)
    shapes = observation_shapes(DEFAULT_GRID)
    made = {name: torch.rand(32, *shape, generator=generator) for name, shape in shapes.items()}
    return made | {"present": torch.ones(32, 4), "action_mask": torch.ones(32, len(DEFAULT_GRID))}


def test_regression_on_gains_fits_a_preference_for_large_pools(
    network: ScoreNetwork, observation: dict[str, Tensor]
) -> None:
    sizes = network.candidates[:, 0]
    target = sizes - observation["tuples"][:, 0, :1]
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(150):
        optimiser.zero_grad()
        loss = (network(observation).member_gain - target).square().mean()
        loss.backward()
        optimiser.step()
    chosen = network(observation).logits.argmax(dim=1)
    assert (sizes[chosen] == sizes.max()).all()


def test_critic_does_not_move_the_scores(network: ScoreNetwork, observation: dict[str, Tensor]) -> None:
    network(observation).value.sum().backward()
    moved = {name for name, parameter in network.named_parameters() if parameter.grad is not None}
    assert moved == {"value.weight", "value.bias"}


def test_observation_of_nothing_is_finite(network: ScoreNetwork) -> None:
    shapes = observation_shapes(DEFAULT_GRID)
    scores = network({name: torch.zeros(2, *shape) for name, shape in shapes.items()})
    assert torch.isfinite(scores.logits).all()
    assert torch.isfinite(scores.value).all()


def test_members_disagree_until_made_alike(network: ScoreNetwork, observation: dict[str, Tensor]) -> None:
    assert (network(observation).disagreement.max(dim=1).values > 0).all()
    alike = {
        name: np.repeat(array[:1], 3, axis=0) if array.ndim == 3 else array
        for name, array in network.state_to_numpy().items()
    }
    network.initialise_from(alike)
    assert network(observation).disagreement.max() < 1e-6


def test_weights_survive_the_way_through_numpy(
    network: ScoreNetwork, weights: dict[str, NDArray[np.float32]], observation: dict[str, Tensor]
) -> None:
    before = network(observation).logits
    network.initialise_from(weights)
    assert not torch.equal(network(observation).logits, before)
    returned = network.state_to_numpy()
    assert set(returned) == set(weights) == set(network.architecture.shapes)
    assert all(np.array_equal(returned[name], weights[name]) for name in weights)


def test_default_network_is_small() -> None:
    network = ScoreNetwork(Architecture.of(DEFAULT_GRID), grid_coordinates(DEFAULT_GRID))
    assert sum(parameter.numel() for parameter in network.parameters()) < 250_000
