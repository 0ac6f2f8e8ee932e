"""The numpy twin gives the numbers and the tuple of the torch network."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.observation import ENTRIES, Observation, observation_shapes, tuple_inputs
from poolpilot.models.architecture import CONTEXT_MAP, COORDINATE_MAP, Architecture, grid_coordinates
from poolpilot.models.forward import MASKED_LOGIT, forward
from poolpilot.models.network import ScoreNetwork, Scores

BATCH = 500


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


def random_observations(seed: int, batch: int = BATCH) -> Observation:
    """A batch of observations with missing features, missing entries and forbidden tuples."""
    random = np.random.default_rng(seed)
    shapes = observation_shapes(DEFAULT_GRID)
    observation = {name: random.uniform(0.0, 1.0, (batch, *shape)).astype(np.float32) for name, shape in shapes.items()}
    count = random.integers(1, ENTRIES + 1, batch)
    observation["present"] = (np.arange(ENTRIES) < count[:, None]).astype(np.float32)
    for name in ("feature_mask", "action_mask"):
        observation[name] = (observation[name] < 0.8).astype(np.float32)
    observation["action_mask"][:, 0] = 1.0
    observation["relative"] -= 0.5
    return observation


def in_torch(network: ScoreNetwork, observation: Observation) -> Scores:
    with torch.no_grad():
        scores: Scores = network({name: torch.from_numpy(array) for name, array in observation.items()})
    return scores


def network_of(members: int = 5, hidden: int = 64) -> ScoreNetwork:
    architecture = Architecture.of(DEFAULT_GRID, members=members, hidden=hidden)
    return ScoreNetwork(architecture, grid_coordinates(DEFAULT_GRID))


def test_same_tuple_on_10000_random_inputs() -> None:
    network = network_of()
    weights = network.state_to_numpy()
    for seed in range(10_000 // BATCH):
        observation = random_observations(seed)
        expected, actual = in_torch(network, observation), forward(weights, observation)
        for name in ("logits", "value", "gain", "member_gain"):
            difference = np.abs(getattr(expected, name).numpy() - getattr(actual, name))
            assert difference.max() < 1e-4, name
        assert np.array_equal(expected.logits.numpy().argmax(axis=1), actual.logits.argmax(axis=1))


@settings(deadline=None)
@given(st.permutations(range(1, ENTRIES)), st.integers(0, 1000))
def test_order_of_later_windows_does_not_matter(later: list[int], seed: int) -> None:
    weights = network_of(members=2, hidden=8).state_to_numpy()
    observation = random_observations(seed, batch=3)
    observation["present"][:] = 1.0
    order = [0, *later]
    shuffled = {
        name: array if name in ("action_mask", "context") else array[:, order] for name, array in observation.items()
    }
    assert forward(weights, shuffled).gain == pytest.approx(forward(weights, observation).gain, abs=1e-6)


def test_absent_entries_and_absent_features_are_not_read() -> None:
    weights = network_of().state_to_numpy()
    observation = random_observations(1)
    scribbled = {name: array.copy() for name, array in observation.items()}
    for name in ("features", "feature_mask", "tuples", "relative", "within_target"):
        scribbled[name][observation["present"] == 0] = 7.0
    scribbled["features"][observation["feature_mask"] == 0] = 7.0
    assert np.abs(forward(weights, scribbled).gain - forward(weights, observation).gain).max() < 1e-6


def test_first_tuple_gains_nothing_over_itself_and_others_do() -> None:
    weights = network_of().state_to_numpy()
    observation = random_observations(2)
    observation["tuples"][:, 0] = weights["candidates"][7]
    gain = forward(weights, observation).member_gain
    assert np.abs(gain[..., 7]).max() < 1e-6
    assert np.abs(gain[..., 8]).min() > 1e-6


def test_latest_gain_is_the_gain_of_the_latest_windows_tuple() -> None:
    weights = network_of().state_to_numpy()
    observation = random_observations(3)
    latest = observation["present"].sum(axis=1).astype(int) - 1
    observation["tuples"][np.arange(BATCH), latest] = weights["candidates"][9]
    scores = forward(weights, observation)
    assert scores.latest_gain == pytest.approx(scores.member_gain[..., 9], abs=1e-5)


def test_forbidden_tuples_have_the_masked_logit() -> None:
    observation = random_observations(4)
    logits = forward(network_of().state_to_numpy(), observation).logits
    assert np.array_equal(logits == MASKED_LOGIT, observation["action_mask"] == 0)


@pytest.mark.parametrize("cpus", [1, 2, 72])
def test_candidate_inputs_are_those_of_the_observation_module(cpus: int) -> None:
    context: NDArray[np.float32] = tuple_inputs(DEFAULT_GRID.tuples[0], 1, 1)[:2] * 0
    context[:] = [np.log2(cpus) / 10.0, np.log2(96) / 10.0]
    computed = grid_coordinates(DEFAULT_GRID) @ COORDINATE_MAP + context @ CONTEXT_MAP
    expected = np.stack([tuple_inputs(pool_tuple, cpus, 96) for pool_tuple in DEFAULT_GRID.tuples])
    assert computed == pytest.approx(expected[:, :-1], abs=1e-6)


def test_forward_tells_throttled_from_unthrottled_timers() -> None:
    weights = {name: np.zeros_like(array) for name, array in network_of(members=1, hidden=1).state_to_numpy().items()}
    weights["candidates"] = grid_coordinates(DEFAULT_GRID)
    weights["score_in.weight"][0, -1, 0] = 1.0
    for name in ("score_hidden", "score_out"):
        weights[f"{name}.weight"][...] = 1.0
    observation = random_observations(5, batch=1)
    observation["tuples"][:, 0] = grid_coordinates(DEFAULT_GRID)[0]
    throttled = [pool_tuple.timer_interval_ms >= 500 for pool_tuple in DEFAULT_GRID.tuples]
    assert not throttled[0]
    assert forward(weights, observation).gain[0].tolist() == [float(one) for one in throttled]
