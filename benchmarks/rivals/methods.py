"""Methods that are held against one another on windows of one workload: what each of them ends on and has tried."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

from poolpilot.agent.baselines.nearest_ratios import NearestRatios
from poolpilot.agent.baselines.portfolio import portfolio_on
from poolpilot.agent.controllers.refiner import Refiner, RefinerSettings
from poolpilot.agent.controllers.warm_start import WarmStartSettings
from poolpilot.agent.search.bayesian import BayesianOptimisation
from poolpilot.agent.search.bayesian_settings import BayesianSettings
from poolpilot.agent.search.random_search import RandomSearch
from poolpilot.agent.search.search_controller import SearchController, SearchSettings
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.agent.search.timed_search import TimedSearch
from poolpilot.env.knobs import CORE_KNOBS, KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.servers.replay_server import ReplayServer
from poolpilot.env.tuning.loop import tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from rivals.knowledge import Known

NUMBERS = (1, 2, 3, WarmStartSettings().decisions)
"""Numbers of trials; the last is what `poolpilot climb --warm` makes."""

AT_ONCE = MeasurementSettings(settle_s=0.0, window_ticks=0.0, max_settle_s=0.0)
"""The windows that are shown have settled already."""

Tried = tuple[PoolTuple, Sequence[PoolTuple]]
"""What a method ends on, and what it has tried."""

Choices = Mapping[str, Sequence[float]]
"""Values of knobs that a search chooses among, by knob; a knob that is not named is searched in its range."""

Search = Callable[[SearchSpace, Objective, int], SearchController]
"""Makes a search of a space, an objective and a seed."""

SEARCHES: Mapping[str, Search] = {
    "random_search": lambda space, objective, seed: RandomSearch(space, objective, SearchSettings(seed=seed)),
    "gp_ucb": lambda space, objective, seed: BayesianOptimisation(
        space, objective, BayesianSettings(random_rounds=1, seed=seed)
    ),
}


class ShownWindows(Protocol):
    """Windows of one workload that methods may see."""

    @property
    def limits(self) -> KnobSpace:
        """The knobs of the server."""

    @property
    def objective(self) -> Objective:
        """What counts."""

    def shown(self, tuples: Sequence[PoolTuple]) -> Mapping[PoolTuple, Window]:
        """One window of each tuple, the same whoever asks."""


class ShownServer(ReplayServer):
    """A server that gives methods the windows that they may see, and no others.

    Args:
        windows: Windows of the workload.
    """

    def __init__(self, windows: ShownWindows) -> None:
        super().__init__(windows.limits)
        self._windows = windows

    def observe(self, seconds: float) -> Window:  # noqa: ARG002
        """The window of the tuple in force, whatever its length."""
        return self._windows.shown([self._tuple])[self._tuple]


def defaults(windows: ShownWindows) -> dict[str, Tried]:
    """The default, and the default scored a second time."""
    default = windows.limits.default_tuple()
    return {"default": (default, ()), "default_again": (default, ())}


def looked(windows: ShownWindows, predictors: Mapping[str, Predictor]) -> dict[str, Tried]:
    """What predictors say after one look at the default."""
    default = windows.limits.default_tuple()
    first = windows.shown([default])[default]
    return {
        name: (one.predict([first], windows.limits, windows.objective).pool_tuple, ())
        for name, one in predictors.items()
    }


def that_know(known: Known) -> dict[str, Predictor]:
    """Predictors that try what known response curves promise; those that need ratios where the curves hold any."""
    found: dict[str, Predictor] = {"latent_bandit": Advisor(Model.of(known.curves), Purpose.WARM_START)}
    if known.trees is not None:
        found |= {"nearest": NearestRatios(known.curves), "trees": known.trees}
    return found


def refined(windows: ShownWindows, predictors: Mapping[str, Predictor]) -> dict[str, Tried]:
    """What predictors end on after each number of trials."""
    return {f"{name}_{tries}": refined_on(windows, one, tries) for name, one in predictors.items() for tries in NUMBERS}


def portfolios(windows: ShownWindows, known: Known) -> dict[str, Tried]:
    """What portfolios of each number of constants end on."""
    limits, objective = windows.limits, windows.objective
    return {
        f"portfolio_{tries}": refined_on(windows, portfolio_on(known.curves, limits, objective, tries), tries)
        for tries in NUMBERS
    }


def searched(windows: ShownWindows, choices: Choices, seed: int) -> dict[str, Tried]:
    """What searches end on after each number of trials."""
    return {
        f"{name}_{tries}": _searched(windows, make, tries, choices, seed)
        for name, make in SEARCHES.items()
        for tries in NUMBERS
    }


def refined_on(windows: ShownWindows, predictor: Predictor, tries: int) -> Tried:
    """Tries what a predictor names and ends on the best measured."""
    refiner = Refiner(predictor, RefinerSettings(decisions=tries, measurement=AT_ONCE))
    refinement = refiner.refine(ShownServer(windows), windows.objective)
    return refinement.pool_tuple, [window.pool_tuple for window in refinement.windows[1:]]


def _searched(windows: ShownWindows, make: Search, tries: int, choices: Choices, seed: int) -> Tried:
    """Lets a search try so many tuples."""
    server = ShownServer(windows)
    default = server.knobs.default_tuple()
    space = SearchSpace.of(server.knobs, CORE_KNOBS, choices, default)
    search = TimedSearch(make(space, windows.objective, seed), AT_ONCE, np.inf, tries)
    tune(server, search, windows.objective)
    tried = [measured.pool_tuple for measured in search.search.observations.measured if measured.pool_tuple != default]
    return search.recommend() or default, tried
