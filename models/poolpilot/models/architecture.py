"""The shape of the score network: layer sizes, weight names and the inputs that describe a candidate tuple."""

from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.observation import STOCK_TIMER_INTERVAL_MS, TUPLE_INPUTS, scaled_log, tuple_inputs
from poolpilot.featurizer.schema import feature_names

COORDINATES = 3
"""Scaled logarithms that place a tuple: size, 1 + oversubscribe, timer interval; `tuples` of an observation."""

CONTEXT_INPUTS = 2
"""Scaled logarithms of processors and connections; `context` of an observation."""

COORDINATE_MAP: NDArray[np.float32] = np.array(
    [[1, 0, 0, 1, 1, 1], [0, 1, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0]], dtype=np.float32
)
"""From coordinates to the logarithms among env's `TUPLE_INPUTS` on a server of one of everything, (3, 6)."""

CONTEXT_MAP: NDArray[np.float32] = np.array([[0, 0, 0, -1, 0, -1], [0, 0, 0, 0, -1, 0]], dtype=np.float32)
"""From the context to what the server takes off them, (2, 6)."""

THROTTLED_FROM = scaled_log(STOCK_TIMER_INTERVAL_MS - 0.5)
"""Timer coordinate that the throttle starts at; half a millisecond low, so that rounding cannot decide."""

ENTRY_SCALARS = 3
"""Besides features, mask and tuple inputs a response shows its relative J, share within target, being first."""


def grid_coordinates(grid: ActionGrid) -> NDArray[np.float32]:
    """Coordinates of every tuple of a grid, (A, 3)."""
    rows = [tuple_inputs(pool_tuple, cpus=1, connections=1)[:COORDINATES] for pool_tuple in grid.tuples]
    return np.stack(rows)


class Architecture(BaseModel):
    """Everything needed to rebuild the network in code; the weights are stored beside it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["response-set-scores-1"] = Field(
        default="response-set-scores-1", description="Name and version of the forward pass."
    )
    features: int = Field(gt=0, description="Features of one window, F.")
    candidates: int = Field(gt=0, description="Configurations on the grid, A.")
    members: int = Field(default=5, ge=1, description="Members of the ensemble, M.")
    hidden: int = Field(default=64, ge=1, description="Width of every hidden layer, H.")

    @classmethod
    def of(cls, grid: ActionGrid, *, members: int = 5, hidden: int = 64) -> Self:
        """The architecture for a grid and today's feature schema."""
        return cls(features=len(feature_names()), candidates=len(grid), members=members, hidden=hidden)

    @property
    def layers(self) -> dict[str, tuple[int, int]]:
        """Inputs and outputs of each linear layer by name."""
        width = self.hidden
        return {
            "entry_in": (2 * self.features + len(TUPLE_INPUTS) + ENTRY_SCALARS, width),
            "entry_out": (width, width),
            "pooled": (2 * width + CONTEXT_INPUTS + 1, width),
            "score_in": (width + len(TUPLE_INPUTS), width),
            "score_hidden": (width, width),
            "score_out": (width, 1),
            "value": (width, 1),
        }

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every stored array by name; members come first."""
        shapes: dict[str, tuple[int, ...]] = {"candidates": (self.candidates, COORDINATES), "log_sharpness": ()}
        for name, (inputs, outputs) in self.layers.items():
            shapes[f"{name}.weight"] = (self.members, inputs, outputs)
            shapes[f"{name}.bias"] = (self.members, 1, outputs)
        return shapes
