"""What chooses a tuple by knowledge: the learned policy, its training, searches, and the baselines.

Searches by a Gaussian process, boosted trees and training need the extra `train`.

Examples:
    >>> from poolpilot.agent import RandomSearch, SearchSettings, SearchSpace
    >>> from poolpilot.env import CurveServer, Objective, tune
    >>> server = CurveServer([(1, 100), (16, 1200), (64, 600)])
    >>> space = SearchSpace.of(server.knobs, ["pool_size"], None, server.tuple_in_force())
    >>> search = RandomSearch(space, Objective(), SearchSettings(rounds=30))
    >>> trace = tune(server, search, Objective(), period_s=0.5)
    >>> 10 <= trace.final_tuple.pool_size <= 24
    True
"""

from typing import TYPE_CHECKING

from poolpilot.errors.lazy_names import lazy_names

if TYPE_CHECKING:
    from poolpilot.agent.baselines.formulas import LittleFormula, WaitRatioFormula
    from poolpilot.agent.baselines.nearest import NearestWorkload
    from poolpilot.agent.baselines.sbs import SingleBestStatic
    from poolpilot.agent.baselines.static import DefaultPredictor, StaticPredictor
    from poolpilot.agent.baselines.trees import BoostedTrees
    from poolpilot.agent.baselines.usl import UslController
    from poolpilot.agent.controllers.predictor_controller import PredictorController
    from poolpilot.agent.controllers.refiner import Refiner
    from poolpilot.agent.controllers.warm_start import WarmStart, WarmStartSettings
    from poolpilot.agent.search.bayesian import BayesianOptimisation
    from poolpilot.agent.search.random_search import RandomSearch
    from poolpilot.agent.search.search_controller import SearchController, SearchSettings
    from poolpilot.agent.search.search_space import SearchSpace
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "baselines.formulas": ("LittleFormula", "WaitRatioFormula"),
            "baselines.nearest": ("NearestWorkload",),
            "baselines.sbs": ("SingleBestStatic",),
            "baselines.static": ("DefaultPredictor", "StaticPredictor"),
            "baselines.trees": ("BoostedTrees",),
            "baselines.usl": ("UslController",),
            "controllers.predictor_controller": ("PredictorController",),
            "controllers.refiner": ("Refiner",),
            "controllers.warm_start": ("WarmStart", "WarmStartSettings"),
            "search.bayesian": ("BayesianOptimisation",),
            "search.random_search": ("RandomSearch",),
            "search.search_controller": ("SearchController", "SearchSettings"),
            "search.search_space": ("SearchSpace",),
        },
    )

__all__ = [
    "BayesianOptimisation",
    "BoostedTrees",
    "DefaultPredictor",
    "LittleFormula",
    "NearestWorkload",
    "PredictorController",
    "RandomSearch",
    "Refiner",
    "SearchController",
    "SearchSettings",
    "SearchSpace",
    "SingleBestStatic",
    "StaticPredictor",
    "UslController",
    "WaitRatioFormula",
    "WarmStart",
    "WarmStartSettings",
]
