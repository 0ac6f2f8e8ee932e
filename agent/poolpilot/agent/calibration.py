"""Puts the gains of a trained policy back on the scale of J without changing the policy."""

from collections.abc import Sequence

import numpy as np
import torch

from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.env.ladder import DEFAULT_LADDER, Ladder
from poolpilot.env.sweep import WorkloadSweep
from poolpilot.models.forward import forward
from poolpilot.models.network import ScoreNetwork

CHUNK = 512
"""Windows scored at once."""


def gain_slope(network: ScoreNetwork, sweeps: Sequence[WorkloadSweep], ladder: Ladder = DEFAULT_LADDER) -> float:
    """Least-squares slope of measured differences of J on predicted gains, through the origin.

    Every measured window is a response set of one; every measured tuple of its sweep counts alike.
    """
    encoded = EncodedSweeps.of(sweeps, ladder)
    weights = network.state_to_numpy()
    product = square = 0.0
    for start in range(0, len(encoded.sweep_of), CHUNK):
        windows = np.arange(start, min(start + CHUNK, len(encoded.sweep_of)))
        gain = forward(weights, encoded.observation(windows[:, None])).gain
        sweep_of = encoded.sweep_of[windows]
        known = encoded.measured[sweep_of] > 0.0
        outcome = encoded.outcome[sweep_of] - encoded.reference[windows][:, None]
        product += float((outcome * gain)[known].sum())
        square += float(np.square(gain)[known].sum())
    return product / square if square > 0.0 else 1.0


def calibrate_gain(network: ScoreNetwork, sweeps: Sequence[WorkloadSweep], ladder: Ladder = DEFAULT_LADDER) -> float:
    """Scales the last layer by the slope and the sharpness by its inverse; returns the slope.

    PPO moves logits, which are gain times sharpness, and nothing holds the gain itself to the scale of J. The logits,
    and with them the policy, stay as they were. A slope that is not positive changes nothing.
    """
    slope = gain_slope(network, sweeps, ladder)
    if slope > 0.0:
        last = network.get_submodule("score_out")
        with torch.no_grad():
            for parameter in last.parameters():
                parameter.mul_(slope)
            network.log_sharpness.sub_(float(np.log(slope)))
    return slope
