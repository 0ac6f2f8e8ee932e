"""How far the gains of a network are off, and their way back to the scale of J."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.models.forward import forward
from poolpilot.models.network import ScoreNetwork

CHUNK = 512
"""Windows scored at once."""


def gain_slope(network: ScoreNetwork, sweeps: Sequence[WorkloadSweep], grid: ActionGrid = DEFAULT_GRID) -> float:
    """Least-squares slope of measured differences of J on predicted gains, through the origin.

    Every measured window is a response set of one; every measured tuple of its sweep counts alike.
    """
    encoded = EncodedSweeps.of(sweeps, grid)
    product = square = 0.0
    for windows, gain in _gains(network, encoded):
        sweep_of = encoded.sweep_of[windows]
        known = encoded.measured[sweep_of] > 0.0
        outcome = encoded.outcome[sweep_of] - encoded.reference[windows][:, None]
        product += float((outcome * gain)[known].sum())
        square += float(np.square(gain)[known].sum())
    return product / square if square > 0.0 else 1.0


def advice_error(network: ScoreNetwork, sweeps: Sequence[WorkloadSweep], grid: ActionGrid = DEFAULT_GRID) -> float:
    """Root mean square error of the predicted gain of the tuple advised after one window.

    Only advised tuples count: how wrong the network is about tuples it would never set is of no concern to the
    interval it states.
    """
    encoded = EncodedSweeps.of(sweeps, grid)
    errors = []
    for windows, gain in _gains(network, encoded):
        sweep_of = encoded.sweep_of[windows]
        advised = np.where(encoded.measured[sweep_of] > 0.0, gain, -np.inf).argmax(axis=1)
        outcome = encoded.outcome[sweep_of, advised] - encoded.reference[windows]
        errors.append(outcome - gain[np.arange(len(windows)), advised])
    return float(np.sqrt(np.mean(np.square(np.concatenate(errors)))))


def calibrate_gain(network: ScoreNetwork, sweeps: Sequence[WorkloadSweep], grid: ActionGrid = DEFAULT_GRID) -> float:
    """Scales the last layer by the slope and the sharpness by its inverse; returns the slope.

    PPO moves logits, which are gain times sharpness, and nothing holds the gain itself to the scale of J. The logits,
    and with them the policy, stay as they were. A slope that is not positive changes nothing.
    """
    slope = gain_slope(network, sweeps, grid)
    if slope > 0.0:
        last = network.get_submodule("score_out")
        with torch.no_grad():
            for parameter in last.parameters():
                parameter.mul_(slope)
            network.log_sharpness.sub_(float(np.log(slope)))
    return slope


def _gains(network: ScoreNetwork, encoded: EncodedSweeps) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Indices of some windows (n,) and the gains predicted from each alone (n, A), until all had their turn."""
    weights = network.state_to_numpy()
    for start in range(0, len(encoded.sweep_of), CHUNK):
        windows = np.arange(start, min(start + CHUNK, len(encoded.sweep_of)))
        yield windows, forward(weights, encoded.observation(windows[:, None])).gain
