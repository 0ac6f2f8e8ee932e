"""Standardised features: the unit spread they promise, and weights that mean the same on either scale."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from poolpilot.agent.encoded_sweeps import EncodedSweeps, draw_sets
from poolpilot.agent.training.all_action import AllActionSettings, new_network, to_tensors, train_all_action
from poolpilot.agent.training.standardisation import ENTRY, SMALLEST_SPREAD, Standardisation
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.models.forward import forward

SMALL = AllActionSettings(members=2, hidden=16, seed=1)


STILL, NEVER, SELDOM = 0, 1, 2
"""Features that always have the same value, that are never present, that are present now and then."""


@pytest.fixture(scope="module")
def encoded(training: Sequence[WorkloadSweep], grid: ActionGrid) -> EncodedSweeps:
    """Real sweeps with features that move by a few hundredths, as on one kind of server."""
    encoded, rng = EncodedSweeps.of(training, grid), np.random.default_rng(0)
    shape = encoded.features.shape
    features = rng.uniform(0.0, 0.6, shape[1]) + rng.normal(0.0, 0.05, shape)
    features[:, STILL] = 0.4
    mask = np.ones(shape, np.float32)
    mask[:, NEVER] = 0.0
    mask[:, SELDOM] = rng.random(shape[0]) < 0.3
    return replace(encoded, features=(features * mask).astype(np.float32), feature_mask=mask)


@pytest.fixture(scope="module")
def units(encoded: EncodedSweeps) -> Standardisation:
    return Standardisation.of(encoded)


def test_features_have_mean_zero_and_unit_spread(encoded: EncodedSweeps, units: Standardisation) -> None:
    applied = units.applied(encoded)
    for feature in range(SELDOM, encoded.features.shape[1]):
        present = applied.features[encoded.feature_mask[:, feature] > 0.0, feature]
        assert present.mean() == pytest.approx(0.0, abs=1e-3)
        assert present.std() == pytest.approx(1.0, abs=1e-3)


def test_absent_features_stay_zero(encoded: EncodedSweeps, units: Standardisation) -> None:
    applied = units.applied(encoded)
    assert not applied.features[encoded.feature_mask == 0.0].any()
    assert (units.mean[NEVER], units.spread[NEVER]) == (0.0, 1.0)


def test_a_feature_that_never_moved_is_not_blown_up(encoded: EncodedSweeps, units: Standardisation) -> None:
    assert units.spread[STILL] == np.float32(SMALLEST_SPREAD)
    assert np.abs(units.applied(encoded).features[:, STILL]).max() < 1e-3


def test_folded_weights_say_of_scaled_features_what_was_learned(
    encoded: EncodedSweeps, units: Standardisation, grid: ActionGrid
) -> None:
    weights = new_network(SMALL, grid).state_to_numpy()
    sets = draw_sets(encoded, sets_per_sweep=2, most_windows=3, rng=np.random.default_rng(0))
    learned = forward(weights, units.applied(encoded).observation(sets))
    served = forward(units.folded(weights), encoded.observation(sets))
    np.testing.assert_allclose(served.member_gain, learned.member_gain, atol=1e-4)
    assert np.abs(forward(weights, encoded.observation(sets)).member_gain - learned.member_gain).max() > 1e-2


def test_unfolding_is_the_inverse_of_folding(units: Standardisation, grid: ActionGrid) -> None:
    weights = new_network(SMALL, grid).state_to_numpy()
    again = units.unfolded(units.folded(weights))
    np.testing.assert_allclose(again[ENTRY], weights[ENTRY], atol=1e-4)
    assert again.keys() == weights.keys()


def test_fine_tuning_starts_from_what_the_model_said(
    training: Sequence[WorkloadSweep],
    validation: Sequence[WorkloadSweep],
    encoded: EncodedSweeps,
    grid: ActionGrid,
) -> None:
    initial = new_network(SMALL, grid).state_to_numpy()
    still = SMALL.model_copy(update={"standardise": True, "epochs": 1, "learning_rate": 1e-12, "keep": "last"})
    network = train_all_action(training, validation, still, grid=grid, initial=initial)
    sets = draw_sets(encoded, sets_per_sweep=1, most_windows=3, rng=np.random.default_rng(0))
    observation = encoded.observation(sets)
    before = forward(initial, observation).gain
    np.testing.assert_allclose(network(to_tensors(observation)).gain.detach().numpy(), before, atol=1e-3)
