"""One controller on one curve: a sample, a size, a sample."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from climbing.shapes import Landscape
from poolpilot.native_pool import Climber

CONNECTIONS_PER_SIZE = 2.0
"""Connections over the largest size: always more than threads, so that the load is a heavy one."""

Sizes = NDArray[np.int64]


def play(climber: Climber, start: int, landscapes: Sequence[Landscape], noise: NDArray[np.float64]) -> Sizes:
    """Plays a climber against landscapes, one after the other for an equal number of samples.

    A closed loop: latency is connections over throughput (Little's law).

    Args:
        climber: The controller.
        start: Size in force during the first sample.
        landscapes: What a size gives; later ones are shifts of the workload.
        noise: Factors on the throughput of each sample.

    Returns:
        The size in force during every sample.
    """
    connections = CONNECTIONS_PER_SIZE * landscapes[0].scale
    size = start
    sizes: list[int] = []
    for landscape, part in zip(landscapes, np.array_split(noise, len(landscapes)), strict=True):
        throughputs = landscape.throughputs_per_s.tolist()
        for factor in part.tolist():
            sizes.append(size)
            throughput = throughputs[size - 1] * factor
            size = climber.update(throughput, connections, connections / throughput, size)
    return np.array(sizes)
