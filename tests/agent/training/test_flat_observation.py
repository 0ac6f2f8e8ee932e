"""Flat observations go back to what they were."""

from collections.abc import Sequence

import numpy as np
import torch

from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.agent.training.flat_observation import flat_width, flatten, unflatten
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.observation import observation_shapes


def test_flattening_loses_nothing(training: Sequence[WorkloadSweep], grid: ActionGrid) -> None:
    shapes = observation_shapes(grid)
    observation = EncodedSweeps.of(training, grid).observation(np.array([[0, 1, -1], [5, -1, -1]]))
    rows = flatten(observation)
    assert rows.shape == (2, flat_width(shapes))
    back = unflatten(rows, shapes)
    assert back.keys() == observation.keys()
    tensors = unflatten(torch.from_numpy(rows), shapes)
    for name, array in observation.items():
        assert np.array_equal(back[name], array)
        assert np.array_equal(tensors[name].numpy(), array)
