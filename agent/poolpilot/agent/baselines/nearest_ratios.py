"""The nearest workloads by ratios: what served the few that look most alike is tried, on any machine."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.baselines.choice import advise, best_measured
from poolpilot.agent.baselines.ratio_library import RatioLibrary
from poolpilot.agent.baselines.ratios import ratios_of
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.schema import moments_of_present
from poolpilot.featurizer.window import Window
from poolpilot.models.predictor import Prediction

FLAT = 1e-6
"""A ratio whose standard deviation is below this tells no workloads apart."""

SLIGHT = 1e-3
"""Weight of a tuple's own regret beside what trying it leaves: it decides where several would leave as little."""


class NearestRatiosSettings(BaseModel):
    """How many workloads are asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    neighbours: int = Field(default=3, ge=1, description="Workloads that are nearest by their ratios.")


class NearestRatios:
    """Names the configuration that serves the nearest known workloads best, then what serves them best beside it.

    The distance is the mean squared difference of the standardised ratios that both have, in the window of the tuple
    that was in force first. After a trial the next one is what takes most off the regret that the neighbours would have
    left under the tuples measured. J of neighbours is compared as regret, so their levels do not matter.

    Args:
        library: The known workloads.
        settings: How many are asked.
    """

    def __init__(self, library: RatioLibrary, settings: NearestRatiosSettings | None = None) -> None:
        self.library = library
        self.settings = settings or NearestRatiosSettings()
        _, deviation = moments_of_present(library.ratios, np.isfinite(library.ratios))
        self._scale = np.where(deviation > FLAT, 1.0 / np.maximum(deviation, FLAT), 0.0)

    def nearest(self, window: Window, objective: Objective) -> NDArray[np.int64]:
        """Places of the nearest workloads in the library, the nearest first."""
        differences = np.square((self.library.ratios - ratios_of(window, objective)) * self._scale)
        both = np.isfinite(differences)
        distances = np.where(both, differences, 0.0).sum(axis=1) / np.maximum(both.sum(axis=1), 1)
        return np.argsort(distances, kind="stable")[: self.settings.neighbours]

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`.

        Raises:
            SettingError: There is no window, or the server allows no configuration of the grid.
        """
        if not windows:
            raise SettingError("a prediction needs at least one window; measure the tuple in force first")
        known = self.library.on(limits, objective)
        values = known.values[self.nearest(windows[0], objective)]
        regrets = 1.0 - np.exp(values - values.max(axis=1, keepdims=True))
        measured = {window.pool_tuple.core for window in windows}
        done = np.array([pool_tuple.core in measured for pool_tuple in known.tuples])
        if done.all():
            best = best_measured(windows, objective).pool_tuple
            return advise(windows, best.core, f"{best} is the best measured, and there is no other", "nearest_ratios")
        least = regrets[:, done].min(axis=1, initial=1.0)
        left = np.minimum(regrets, least[:, None]).mean(axis=0) + SLIGHT * regrets.mean(axis=0)
        place = int(np.argmin(np.where(done, np.inf, left)))
        named = known.tuples[place]
        reason = f"{named} loses {regrets[:, place].mean():.0%} on average under the {len(values)} nearest workloads"
        return advise(windows, named.core, reason, "nearest_ratios")
