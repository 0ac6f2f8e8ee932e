"""Random search: tuples drawn blindly, the best of them held.

J. Bergstra and Y. Bengio, "Random Search for Hyper-Parameter Optimization", JMLR 13, 2012 (docs/references.md): where
few knobs matter, draws try as many values of each as there are rounds, and a grid only a few.
"""

import numpy as np

from poolpilot.agent.search.search_controller import Restart, SearchController, SearchSettings
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple


class RandomSearch(SearchController):
    """Draws every tuple at random.

    Args:
        space: The knobs that vary.
        objective: What counts.
        settings: What is maximised and when it ends.
        restart: Restarts the server under a new tuple, where a knob that varies takes that.

    Raises:
        SettingError: A knob that varies takes a restart, and there is nothing that restarts the server.
    """

    def __init__(
        self,
        space: SearchSpace,
        objective: Objective,
        settings: SearchSettings | None = None,
        restart: Restart | None = None,
    ) -> None:
        settings = settings or SearchSettings()
        super().__init__(space, objective, settings, restart)
        self._rng = np.random.default_rng(settings.seed)

    def _choose(self) -> tuple[PoolTuple, str]:
        return self.space.draw(self._rng), "was drawn at random"
