"""Calibration changes the scale of the gains and nothing else; the error of the advice is measured."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.agent.training.all_action import AllActionSettings, new_network
from poolpilot.agent.training.calibration import advice_error, calibrate_gain, gain_slope
from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.models.forward import forward


def test_slope_is_one_afterwards_and_the_policy_is_the_same(training: Sequence[WorkloadSweep]) -> None:
    network = new_network(AllActionSettings(members=2, hidden=8, seed=3), DEFAULT_GRID)
    encoded = EncodedSweeps.of(training, DEFAULT_GRID)
    observation = encoded.observation(np.arange(len(encoded.sweep_of))[:, None])
    before = forward(network.state_to_numpy(), observation).logits
    if gain_slope(network, training) < 0.0:
        with torch.no_grad():
            for parameter in network.get_submodule("score_out").parameters():
                parameter.neg_()
        before = forward(network.state_to_numpy(), observation).logits
    slope = calibrate_gain(network, training)
    assert slope > 0.0
    assert gain_slope(network, training) == pytest.approx(1.0, rel=1e-3)
    np.testing.assert_allclose(forward(network.state_to_numpy(), observation).logits, before, rtol=1e-3, atol=1e-4)


def test_gains_that_point_the_wrong_way_are_left_alone(training: Sequence[WorkloadSweep]) -> None:
    network = new_network(AllActionSettings(members=2, hidden=8, seed=3), DEFAULT_GRID)
    if gain_slope(network, training) > 0.0:
        with torch.no_grad():
            for parameter in network.get_submodule("score_out").parameters():
                parameter.neg_()
    weights = network.state_to_numpy()
    assert calibrate_gain(network, training) <= 0.0
    assert all(np.array_equal(weights[name], array) for name, array in network.state_to_numpy().items())


def test_the_error_of_the_advice_is_that_of_the_advised_tuples_alone(training: Sequence[WorkloadSweep]) -> None:
    network = new_network(AllActionSettings(members=2, hidden=8, seed=3), DEFAULT_GRID)
    encoded = EncodedSweeps.of(training, DEFAULT_GRID)
    squares = []
    for window, sweep in enumerate(encoded.sweep_of):
        gain = forward(network.state_to_numpy(), encoded.observation(np.array([[window]]))).gain[0]
        advised = max(np.flatnonzero(encoded.measured[sweep]), key=lambda action: gain[action])
        squares.append((encoded.outcome[sweep, advised] - encoded.reference[window] - gain[advised]) ** 2)
    assert advice_error(network, training) == pytest.approx(np.sqrt(np.mean(squares)), rel=1e-4)
