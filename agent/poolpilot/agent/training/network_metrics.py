"""Judges a network in training by the regret of what it would choose, never by its loss."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.models.network import ScoreNetwork


def starting_windows(encoded: EncodedSweeps, per_sweep: int) -> NDArray[np.int64]:
    """Windows to start from, spread evenly over the tuples of every sweep, (at most S * per_sweep,)."""
    picked = []
    for sweep in range(len(encoded)):
        windows = encoded.windows_of(sweep)
        first_of_tuple = windows[np.unique(encoded.tuples[windows], axis=0, return_index=True)[1]]
        count = min(per_sweep, len(first_of_tuple))
        picked.append(first_of_tuple[np.linspace(0, len(first_of_tuple) - 1, count).round().astype(int)])
    return np.concatenate(picked)


def one_shot_regret(network: ScoreNetwork, encoded: EncodedSweeps, per_sweep: int = 8) -> NDArray[np.float32]:
    """Regret of the first decision after one window, for several starting tuples of every sweep.

    Args:
        network: The network judged.
        encoded: The sweeps.
        per_sweep: Starting tuples of a sweep at most.

    Returns:
        One regret per starting window, (N,).
    """
    windows = starting_windows(encoded, per_sweep)
    observation = {name: torch.from_numpy(array) for name, array in encoded.observation(windows[:, None]).items()}
    with torch.no_grad():
        actions = network(observation).logits.argmax(dim=-1).numpy()
    regret: NDArray[np.float32] = encoded.regret[encoded.sweep_of[windows], actions]
    return regret


def regret_metrics(name: str, regret: NDArray[np.floating]) -> Mapping[str, float]:
    """Median, 90th percentile and mean of regrets, as metrics that carry `name`."""
    return {
        f"{name}_regret_median": float(np.median(regret)),
        f"{name}_regret_p90": float(np.quantile(regret, 0.9)),
        f"{name}_regret_mean": float(regret.mean()),
    }
