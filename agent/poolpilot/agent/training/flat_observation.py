"""Observations as one row of numbers each, for stores and readers that know no dictionaries."""

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

Shapes = Mapping[str, tuple[int, ...]]
"""Shape of every array of one observation, by name, as `poolpilot.env.observation.observation_shapes` gives it."""

Rows = TypeVar("Rows", NDArray[np.float32], Tensor)


def flat_width(shapes: Shapes) -> int:
    """Numbers of one observation."""
    return sum(int(np.prod(shape)) for shape in shapes.values())


def flatten(observation: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """Arrays with a leading batch axis B to rows (B, D), names in alphabetical order."""
    return np.concatenate([array.reshape(len(array), -1) for _, array in sorted(observation.items())], axis=1)


def unflatten(rows: Rows, shapes: Shapes) -> dict[str, Rows]:
    """Rows (B, D) back to arrays by name, of numpy or torch alike."""
    observation = {}
    start = 0
    for name, shape in sorted(shapes.items()):
        stop = start + int(np.prod(shape))
        observation[name] = rows[:, start:stop].reshape(len(rows), *shape)
        start = stop
    return observation
