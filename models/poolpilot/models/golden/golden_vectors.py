"""Golden vectors: inputs with what a network answered to them when it was saved.

Digests say that the files are those that were written. Only an answer says that this program, with this numpy on this
machine, makes of them what the program that wrote them did.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.observation import ENTRIES, Observation, observation_shapes
from poolpilot.errors import ArtefactError, DamagedArtefactError

Answer = Callable[[Observation], NDArray[np.float32]]
"""A network: observations with a leading axis (B, ...) to gains (B, A)."""

DIGITS = 4
"""Decimals of the inputs."""

TOLERANCE = 1e-3
"""Difference of gains that other orders of summation may make, and far less than decides anything."""

SEED = 0


@dataclass(frozen=True)
class GoldenVectors:
    """Inputs and answers of one network.

    Attributes:
        inputs: Observations, each array with a leading axis.
        gains: What was answered, (B, A).
    """

    inputs: Observation
    gains: NDArray[np.float32]

    @classmethod
    def of(cls, answer: Answer, grid: ActionGrid) -> Self:
        """Asks a network of a grid: observations of one window up to as many as it takes."""
        inputs = _drawn(observation_shapes(grid))
        return cls(inputs, answer(inputs))

    @classmethod
    def from_json(cls, content: bytes, where: str) -> Self:
        """Reads golden vectors.

        Args:
            content: What `as_json` gave.
            where: What they are called in a refusal.

        Raises:
            DamagedArtefactError: They are none.
        """
        try:
            found = json.loads(content)
            inputs = {name: np.array(values, dtype=np.float32) for name, values in found["inputs"].items()}
            return cls(inputs, np.array(found["gains"], dtype=np.float32))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise DamagedArtefactError(
                f"{where} holds no golden vectors ({error!r}); copy the whole folder again"
            ) from error

    def as_json(self) -> str:
        """The vectors as text."""
        inputs = {name: array.astype(np.float64).round(DIGITS).tolist() for name, array in self.inputs.items()}
        gains = self.gains.astype(np.float64).round(2 * DIGITS).tolist()
        return json.dumps({"inputs": inputs, "gains": gains}) + "\n"

    def check(self, answer: Answer, where: str) -> None:
        """Asks a network again.

        Raises:
            ArtefactError: It answers something else than it did.
        """
        try:
            gains = answer(self.inputs)
            differs = gains.shape != self.gains.shape or not np.allclose(gains, self.gains, TOLERANCE, TOLERANCE)
        except (ValueError, IndexError, KeyError) as error:
            raise ArtefactError(
                f"{where}: the network does not take the golden vectors ({error}); train it again"
            ) from error
        if differs:
            raise ArtefactError(
                f"{where}: the network does not answer what it did when it was saved; install the version that wrote "
                "it, or train and promote it again"
            )


def _drawn(shapes: Mapping[str, tuple[int, ...]]) -> Observation:
    """Made-up observations of 1, 2, ... windows, rounded as they are written."""
    random = np.random.default_rng(SEED)
    inputs = {
        name: random.uniform(0.0, 1.0, (ENTRIES, *shape)).round(DIGITS).astype(np.float32)
        for name, shape in shapes.items()
    }
    inputs["feature_mask"] = inputs["feature_mask"].round()
    inputs["action_mask"] = np.ones_like(inputs["action_mask"])
    inputs["present"] = np.tril(np.ones_like(inputs["present"]))
    return inputs
