"""A search within seconds ends in time, on the best tuple it has measured."""

import pytest

from poolpilot.agent.search.bayesian import BayesianOptimisation
from poolpilot.agent.search.bayesian_settings import BayesianSettings
from poolpilot.agent.search.random_search import RandomSearch
from poolpilot.agent.search.search_controller import SearchController, SearchSettings
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.agent.search.timed_search import TimedSearch
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import TuningTrace, tune

MEASUREMENT = MeasurementSettings(settle_s=0.2, window_s=0.5, window_ticks=0.0)


def search(server: CurveServer, kind: str) -> SearchController:
    space = SearchSpace.of(server.knobs, ("pool_size",), None, server.tuple_in_force())
    if kind == "random":
        return RandomSearch(space, Objective(), SearchSettings(seed=3))
    return BayesianOptimisation(space, Objective(), BayesianSettings(seed=3, random_rounds=3, candidates=50))


def run(kind: str, budget_s: float, most_trials: int | None = None) -> tuple[TimedSearch, TuningTrace]:
    with CurveServer([(1, 100), (16, 1200), (128, 600)], cpus=4) as server:
        timed = TimedSearch(search(server, kind), MEASUREMENT, budget_s, most_trials)
        return timed, tune(server, timed, Objective(), horizon_s=budget_s)


@pytest.mark.parametrize("kind", ["random", "gp"])
def test_it_ends_in_time_on_the_best_it_has_measured(kind: str) -> None:
    timed, trace = run(kind, 8.0)
    assert trace.duration_s == pytest.approx(8.0, abs=0.5)
    measured = {one.pool_tuple: one.value for one in timed.search.observations.measured}
    assert len(measured) > 5
    assert measured[trace.final_tuple] == pytest.approx(max(measured.values()), abs=0.05)


@pytest.mark.parametrize("kind", ["random", "gp"])
def test_same_seed_tries_the_same(kind: str) -> None:
    first, second = (run(kind, 6.0)[1] for _ in range(2))
    assert [step.pool_tuple for step in first.steps] == [step.pool_tuple for step in second.steps]


def test_no_more_is_tried_than_allowed() -> None:
    assert len({step.pool_tuple for step in run("random", 20.0, most_trials=2)[1].steps}) == 3


def test_stopped_early_it_leaves_the_best_so_far() -> None:
    with CurveServer([(1, 100), (16, 1200), (128, 600)], cpus=4) as server:
        timed = TimedSearch(search(server, "random"), MEASUREMENT, 100.0)
        tune(server, timed, Objective(), horizon_s=3.0)
        assert not timed.finished
        best = timed.search.observations.best
        assert best is not None
        assert server.tuple_in_force() == best.pool_tuple
