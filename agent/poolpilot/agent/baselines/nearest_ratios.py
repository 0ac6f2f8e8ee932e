"""The nearest workloads by ratios: what served the few that look most alike is tried, on any machine."""

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.baselines.choice import advise
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.latent.likeness import squared_distances
from poolpilot.models.latent.placed_curves import PlacedCurves
from poolpilot.models.latent.response_curves import ResponseCurves

SLIGHT = 1e-3
"""Weight of a tuple's own regret beside what trying it leaves: it decides where several would leave as little."""


class NearestRatiosSettings(BaseModel):
    """How many workloads are asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    neighbours: int = Field(default=3, ge=1, description="Workloads that are nearest by their ratios.")


class NearestRatios:
    """Names the configuration that serves the nearest known workloads best, then what serves them best beside it.

    How near a workload is says its likeness to the windows (`poolpilot.models.latent.likeness`), nothing of how J
    answered. After a trial the next one is what takes most off the regret that the neighbours would have left under the
    tuples measured.

    Args:
        curves: The known workloads; those of which no ratios were kept are as far as those that share none.
        settings: How many are asked.
    """

    def __init__(self, curves: ResponseCurves, settings: NearestRatiosSettings | None = None) -> None:
        self.curves = curves
        self.settings = settings or NearestRatiosSettings()

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`.

        Raises:
            SettingError: There is no window, or the server allows no configuration of the grid.
        """
        if not windows:
            raise SettingError("a prediction needs at least one window; measure the configuration in force first")
        placed = PlacedCurves.on(self.curves, limits, objective)
        distances = squared_distances(self.curves, windows, limits)
        nearest = np.argsort(distances, kind="stable")[: self.settings.neighbours]
        regrets = placed.regrets[nearest]
        measured = {window.pool_tuple.core for window in windows}
        done = np.array([pool_tuple.core in measured for pool_tuple in placed.tuples])
        if done.all():
            best = objective.best(windows).pool_tuple
            return advise(windows, best.core, f"{best} is the best measured, and there is no other", "nearest_ratios")
        least = regrets[:, done].min(axis=1, initial=1.0)
        left = np.minimum(regrets, least[:, None]).mean(axis=0) + SLIGHT * regrets.mean(axis=0)
        place = int(np.argmin(np.where(done, np.inf, left)))
        named = placed.tuples[place]
        reason = f"{named} loses {regrets[:, place].mean():.0%} on average under the {len(regrets)} nearest workloads"
        return advise(windows, named.core, reason, "nearest_ratios")
