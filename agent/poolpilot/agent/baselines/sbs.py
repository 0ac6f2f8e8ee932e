"""The single best static tuple: the least mean regret over the training sweeps, whatever the workload."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.baselines.choice import advise, best_allowed
from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction


class SingleBestStaticSettings(BaseModel):
    """Which tuples may become the single best static one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_coverage: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        description="Share of the training sweeps that must have measured the configuration.",
    )


class SingleBestStatic:
    """Names the tuple of the least mean regret on training workloads; the baseline that every learner must beat.

    Args:
        grid: The grid of the tuples.
        mean_regret: Mean regret of every tuple over the sweeps that measured it, NaN where too few did, (A,).
    """

    def __init__(self, grid: ActionGrid, mean_regret: NDArray[np.float64]) -> None:
        self.grid = grid
        self.mean_regret = mean_regret

    @classmethod
    def fit(
        cls,
        sweeps: Sequence[WorkloadSweep],
        settings: SingleBestStaticSettings | None = None,
        grid: ActionGrid = DEFAULT_GRID,
    ) -> Self:
        """Averages regrets over training sweeps.

        Raises:
            StoreError: There is no sweep.
        """
        settings = settings or SingleBestStaticSettings()
        encoded = EncodedSweeps.of(sweeps, grid)
        measured = encoded.measured.astype(np.float64)
        count = measured.sum(axis=0)
        mean = (encoded.regret * measured).sum(axis=0) / np.maximum(count, 1.0)
        return cls(grid, np.where(count >= max(1.0, settings.min_coverage * len(encoded)), mean, np.nan))

    @property
    def pool_tuple(self) -> PoolTuple:
        """The single best static tuple where the limits allow it."""
        return self.grid.tuples[int(np.nanargmin(self.mean_regret))]

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        """Names a tuple; see `Predictor.predict`."""
        best = best_allowed(-self.mean_regret, self.grid, limits)
        reason = (
            f"{self.grid.tuples[best]} is the best static configuration of the training workloads: "
            f"it loses {self.mean_regret[best]:.0%} of their optimum on average"
        )
        return advise(windows, self.grid.tuples[best].core, reason, "sbs")
