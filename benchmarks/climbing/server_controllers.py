"""Every controller that needs windows of a server, by name, beside the climbers."""

from collections.abc import Callable, Mapping, Sequence

from climbing.reference_controllers import BASELINES, SPECTRAL, MakeClimber, ours
from poolpilot.agent.baselines.formulas import LittleFormula, WaitRatioFormula
from poolpilot.agent.baselines.nearest import NearestWorkload
from poolpilot.agent.baselines.trees import BoostedTrees, TreesSettings
from poolpilot.agent.baselines.usl import UslController, UslSettings
from poolpilot.agent.controllers.predictor_controller import PredictorController
from poolpilot.agent.search.random_search import RandomSearch
from poolpilot.agent.search.search_controller import SearchSettings
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.controller import Controller
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.models.advice.prediction import Predictor

SIZE_GRID = ActionGrid(sizes=(1, 2, 4, 8, 16, 32, 64, 128), oversubscribes=(3,), timer_intervals_ms=(500,))
"""What predictors choose from where only the pool size is climbed."""

SEARCH_ROUNDS = 30
"""Tuples that a search tries: more than a climb needs, fewer than AutoTiKV's 200, which would fill the run."""

MakeController = Callable[[PoolServer, Objective, int], Controller]
"""Makes a controller for a server; the number seeds what is random in it."""


def _climbing(make: MakeClimber) -> MakeController:
    def controller(server: PoolServer, objective: Objective, _: int) -> Controller:
        start = server.tuple_in_force()
        climber = make(start.pool_size, int(server.knobs.knobs["pool_size"].high))
        return ClimbController(climber, start, objective)

    return controller


def _advised(predictor: Predictor) -> MakeController:
    return lambda server, objective, _: PredictorController(predictor, server.knobs, objective)


def _sizes(server: PoolServer) -> SearchSpace:
    return SearchSpace.of(server.knobs, ("pool_size",), None, server.tuple_in_force())


def _search(seed: int) -> SearchSettings:
    return SearchSettings(rounds=SEARCH_ROUNDS, samples_per_round=2, seed=seed)


def _bayesian(server: PoolServer, objective: Objective, seed: int) -> Controller:
    from poolpilot.agent.search.bayesian import BayesianOptimisation
    from poolpilot.agent.search.bayesian_settings import BayesianSettings

    settings = BayesianSettings(rounds=SEARCH_ROUNDS, samples_per_round=2, seed=seed, candidates=200)
    return BayesianOptimisation(_sizes(server), objective, settings)


MAPPED_RANDOM_ROUNDS = 3
"""Random tuples before a search that remembers: enough to tell which stored workload is like this one."""


def _remembering(training: Sequence[WorkloadSweep]) -> MakeController:
    def controller(server: PoolServer, objective: Objective, seed: int) -> Controller:
        from poolpilot.agent.search.bayesian import BayesianOptimisation
        from poolpilot.agent.search.bayesian_settings import BayesianSettings
        from poolpilot.agent.search.stored_workload import stored_workloads
        from poolpilot.agent.search.workload_mapping import WorkloadMapping

        space = _sizes(server)
        settings = BayesianSettings(
            rounds=SEARCH_ROUNDS,
            samples_per_round=2,
            seed=seed,
            candidates=200,
            random_rounds=MAPPED_RANDOM_ROUNDS,
        )
        memory = WorkloadMapping(stored_workloads(training, space, objective))
        return BayesianOptimisation(space, objective, settings, memory)

    return controller


ON_WINDOWS: Mapping[str, MakeController] = {
    "wait_ratio": _advised(WaitRatioFormula(SIZE_GRID)),
    "little": _advised(LittleFormula(SIZE_GRID)),
    "usl": lambda server, objective, _: UslController(server.knobs, objective, UslSettings()),
    "random": lambda server, objective, seed: RandomSearch(_sizes(server), objective, _search(seed)),
    "bayesian": _bayesian,
}
"""Those that go by windows alone."""

LEARNED: Mapping[str, Callable[[Sequence[WorkloadSweep]], MakeController]] = {
    "ottertune": _remembering,
    "nearest": lambda training: _advised(NearestWorkload.fit(training, grid=SIZE_GRID)),
    "trees": lambda training: _advised(BoostedTrees.fit(training, TreesSettings(), SIZE_GRID)),
}
"""Those that learn from sweeps of other workloads first."""

NAMES = (SPECTRAL, *BASELINES, *ON_WINDOWS, *LEARNED)
"""Every controller that is compared."""


def controllers(training: Sequence[WorkloadSweep], settings: ClimbSettings) -> Mapping[str, MakeController]:
    """Every controller by name.

    Args:
        training: Sweeps of other workloads, which some learn from.
        settings: How our climber samples.
    """
    climbing = {
        SPECTRAL: _climbing(ours(settings.native())),
        **{name: _climbing(make) for name, make in BASELINES.items()},
    }
    return {**climbing, **ON_WINDOWS, **{name: learned(training) for name, learned in LEARNED.items()}}
