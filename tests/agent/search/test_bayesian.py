"""Bayesian optimisation: ten random rounds, then the greatest upper confidence bound, then the best is held."""

import math

import numpy as np
import pytest

from poolpilot.agent.search.bayesian import BayesianOptimisation, GaussianProcess
from poolpilot.agent.search.bayesian_settings import BayesianSettings
from poolpilot.agent.search.random_search import RandomSearch
from poolpilot.agent.search.search_controller import SearchController, SearchSettings
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.agent.search.stored_workload import StoredWorkload
from poolpilot.agent.search.workload_mapping import WorkloadMapping
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import TuningTrace, tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.schema import feature_names

KNOBS = KnobSpace.stock(4)
IN_FORCE = KNOBS.default_tuple()
SPACE = SearchSpace.of(
    KNOBS,
    ["pool_size", "oversubscribe", "timer_interval_ms"],
    {"oversubscribe": (1, 2, 3, 5, 8, 13), "timer_interval_ms": (10, 50, 100, 500, 1000)},
    IN_FORCE,
)
SIZES = SearchSpace.of(KNOBS, ["pool_size"], None, IN_FORCE)
FREE = Objective(price_of_thread=0.0)


class ArchServer(CurveServer):
    """A smooth optimum at (24, 5, 100), lower by 40 % at a distance of 0.25 in the unit cube."""

    def __init__(self, noise: float = 0.0) -> None:
        super().__init__(((1, 1.0), (2, 1.0)), noise=noise)

    def throughput_per_s(self, pool_tuple: PoolTuple) -> float:
        distance = SPACE.encode(pool_tuple) - SPACE.encode(PoolTuple(24, 5, 100))
        return 10_000.0 * math.exp(-8.0 * float(np.square(distance).sum()))


def searched(search: SearchController, seconds: float, noise: float = 0.0) -> TuningTrace:
    return tune(ArchServer(noise), search, FREE, period_s=1.0, horizon_s=seconds)


def quick(**values: int | float | str) -> BayesianSettings:
    return BayesianSettings.model_validate({"candidates": 100, **values})


def test_first_ten_rounds_are_random_and_the_rest_maximise_the_bound() -> None:
    search = BayesianOptimisation(SPACE, FREE, quick(rounds=12, deviations=2.0))
    server = ArchServer()
    tuples: list[PoolTuple] = []
    for number in range(1, 13):
        tuples.append(tune(server, search, FREE, period_s=1.0, horizon_s=1.0).steps[-1].pool_tuple)
        seen = search.acquisition
        assert (seen is None) == (number <= 10)
        if seen is not None:
            bound = seen.mean + 2.0 * seen.deviation
            assert bound[seen.chosen] == bound.max()
            assert seen.candidates[seen.chosen] == server.tuple_in_force()
    assert "may be best" in search.reason
    random = RandomSearch(SPACE, FREE, SearchSettings(rounds=10))
    assert [step.pool_tuple for step in searched(random, 11.0).steps] == tuples[:11]


def test_what_is_expected_is_told_against_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    search = BayesianOptimisation(SPACE, FREE, quick(rounds=3, random_rounds=2, deviations=2.0))
    searched(search, 3.0)
    best = search.observations.best
    assert best is not None
    mean, deviation = np.array([best.value + math.log(1.5)]), np.array([math.log(2.0)])
    monkeypatch.setattr(GaussianProcess, "posterior", lambda *_: (np.repeat(mean, 100), np.repeat(deviation, 100)))
    _, why = search._choose()
    assert why == "may be best: +50 % against the best so far is expected, up to +500 % is possible"


def test_ends_on_the_measured_tuple_of_the_greatest_posterior_mean() -> None:
    search = BayesianOptimisation(SPACE, FREE, quick(rounds=5, random_rounds=4))
    trace = searched(search, 9.0, noise=0.1)
    assert search.finished
    assert trace.final_tuple in {step.pool_tuple for step in trace.steps[:6]}
    points = SPACE.encode_all([step.pool_tuple for step in trace.steps[:6]])
    mean, _ = GaussianProcess(points, np.array([step.value for step in trace.steps[:6]]), 0, 1).posterior(points)
    assert trace.final_tuple == trace.steps[int(np.argmax(mean))].pool_tuple


def rounds_to_optimum(search: SearchController, most: int) -> int:
    """Rounds until a tuple within 5 % of the optimum was in force; `most` if none was."""
    server = ArchServer()
    for number in range(most):
        step = tune(server, search, FREE, period_s=1.0, horizon_s=1.0).steps[-1]
        if math.log(10_000.0) - step.value < 0.05:
            return number
    return most


def test_finds_the_optimum_in_fewer_rounds_than_random_search() -> None:
    seeds = range(3)
    settings = [quick(random_rounds=5, deviations=1.0, candidates=300, seed=seed) for seed in seeds]
    bayesian = [rounds_to_optimum(BayesianOptimisation(SPACE, FREE, each), 20) for each in settings]
    random = [rounds_to_optimum(RandomSearch(SPACE, FREE, SearchSettings(seed=seed)), 100) for seed in seeds]
    assert max(bayesian) < 20
    assert np.mean(bayesian) < np.mean(random)


def test_one_seed_gives_one_search() -> None:
    def tuples(seed: int) -> list[PoolTuple]:
        settings = quick(rounds=4, random_rounds=3, seed=seed)
        return [step.pool_tuple for step in searched(BayesianOptimisation(SPACE, FREE, settings), 6.0).steps]

    assert tuples(4) == tuples(4) != tuples(5)


def test_values_listed_are_the_only_ones_and_held_knobs_stay() -> None:
    trace = searched(BayesianOptimisation(SPACE, FREE, quick(rounds=8, random_rounds=3)), 10.0)
    assert {step.pool_tuple.oversubscribe for step in trace.steps} <= {1, 2, 3, 5, 8, 13}
    assert {step.pool_tuple.timer_interval_ms for step in trace.steps} <= {10, 50, 100, 500, 1000}
    assert all(KNOBS.allows(step.pool_tuple) for step in trace.steps)
    assert {step.pool_tuple.create_thread_on_wait for step in trace.steps} == {True}


def test_flat_server_is_searched_without_a_word() -> None:
    search = BayesianOptimisation(SIZES, FREE, quick(rounds=3, random_rounds=2))
    tune(CurveServer(((1, 100.0), (128, 100.0))), search, FREE, period_s=1.0, horizon_s=5.0)
    assert search.finished


def test_until_stable_it_goes_on_past_the_random_rounds() -> None:
    settings = BayesianSettings(rounds=None, stable_rounds=1, stable_share=100.0, random_rounds=3, candidates=50)
    search = BayesianOptimisation(SPACE, FREE, settings)
    searched(search, 8.0)
    assert (search.finished, search.rounds_done) == (True, 3)


def test_defaults_are_those_of_autotikv() -> None:
    settings = BayesianSettings()
    assert (settings.random_rounds, settings.rounds, settings.deviations) == (10, 200, 3.0)


def test_process_interpolates_and_is_unsure_far_away() -> None:
    points = np.array([[0.0], [0.1], [0.2], [0.3]])
    process = GaussianProcess(points, 5.0 + np.sin(6.0 * points[:, 0]), seed=0, threads=1)
    mean, deviation = process.posterior(np.array([[0.15], [1.0]]))
    assert mean[0] == pytest.approx(5.0 + math.sin(0.9), abs=0.05)
    assert deviation[1] > 3.0 * deviation[0]


def test_stored_workload_like_this_one_saves_rounds() -> None:
    grid = np.array([[SIZES.encode(PoolTuple(size, 3, 500))[0]] for size in (1, 2, 4, 8, 16, 24, 32, 64, 128)])
    optimum = float(SIZES.encode(PoolTuple(24, 3, 500))[0])
    metrics = np.full((len(grid), len(feature_names())), np.nan)
    metrics[:, feature_names().index("connections")] = 0.5
    stored = StoredWorkload("alike", grid, metrics, 3.0 - 8.0 * np.square(grid[:, 0] - optimum))
    settings = quick(rounds=3, random_rounds=1, deviations=0.0)
    search = BayesianOptimisation(SIZES, FREE, settings, WorkloadMapping([stored]))
    tuples = [step.pool_tuple.pool_size for step in searched(search, 4.0).steps]
    assert 18 <= tuples[2] <= 32
