"""Random search, and with it what all searches share: rounds, an end, the best held, nothing else touched."""

from dataclasses import replace
from itertools import groupby, pairwise

import pytest
from tests.conftest import answer_of

from poolpilot.agent.search.random_search import RandomSearch
from poolpilot.agent.search.search_controller import SearchSettings
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import TuningTrace, tune
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

ARCH = ((1, 100.0), (20, 1200.0), (128, 300.0))
KNOBS = KnobSpace.stock(4)
IN_FORCE = KNOBS.default_tuple()
SIZES = SearchSpace.of(KNOBS, ["pool_size"], None, IN_FORCE)
ALL = SearchSpace.of(
    KNOBS, ["pool_size", "oversubscribe", "timer_interval_ms"], {"timer_interval_ms": (10, 500)}, IN_FORCE
)
FREE = Objective(price_of_thread=0.0)


def searched(space: SearchSpace, settings: SearchSettings, seconds: float = 40.0) -> tuple[RandomSearch, TuningTrace]:
    search = RandomSearch(space, FREE, settings)
    return search, tune(CurveServer(ARCH), search, FREE, period_s=1.0, horizon_s=seconds)


def test_holds_the_best_of_its_rounds() -> None:
    search, trace = searched(SIZES, SearchSettings(rounds=12))
    assert search.rounds_done == 12
    assert {step.pool_tuple for step in trace.steps[13:]} == {trace.final_tuple}
    best = max(trace.steps[:13], key=lambda step: step.value)
    assert trace.final_tuple == best.pool_tuple
    assert "is the best of" in search.reason


def test_each_round_is_one_tuple_for_its_samples() -> None:
    search, trace = searched(ALL, SearchSettings(rounds=5, samples_per_round=3, settle_windows=1))
    lengths = [len(list(steps)) for _, steps in groupby(step.pool_tuple for step in trace.steps)]
    assert lengths[:6] == [1, 4, 4, 4, 4, 4]
    assert [
        measured.count for measured in search.observations.measured[1:] if measured.pool_tuple != trace.final_tuple
    ] == [3] * 4


def test_one_seed_gives_one_search() -> None:
    tuples = [
        [step.pool_tuple for step in searched(ALL, SearchSettings(rounds=8, seed=seed))[1].steps] for seed in (1, 1, 2)
    ]
    assert tuples[0] == tuples[1] != tuples[2]


def test_enumerated_knobs_only_take_their_values_and_held_ones_none() -> None:
    search, trace = searched(ALL, SearchSettings(rounds=30))
    assert {step.pool_tuple.timer_interval_ms for step in trace.steps} == {10, 500}
    assert all(KNOBS.allows(step.pool_tuple) for step in trace.steps)
    assert {step.pool_tuple.idle_timeout_s for step in trace.steps} == {IN_FORCE.idle_timeout_s}
    assert len(search.observations) > 20


def test_latency_target_picks_the_tuple_of_least_latency() -> None:
    expensive = Objective(price_of_thread=1.0)
    search = RandomSearch(SIZES, expensive, SearchSettings(rounds=20, target="latency"))
    trace = tune(CurveServer(ARCH), search, expensive, period_s=1.0, horizon_s=30.0)
    fastest = max(trace.steps, key=lambda step: step.goodput_per_s)
    assert trace.final_tuple == fastest.pool_tuple
    assert max(trace.steps, key=lambda step: step.value).pool_tuple != fastest.pool_tuple


def test_without_a_number_of_rounds_it_ends_when_results_are_stable() -> None:
    search, trace = searched(SIZES, SearchSettings(rounds=None, stable_rounds=6, stable_share=0.05), seconds=60.0)
    assert search.finished
    best, improved_at = float("-inf"), 0
    for number, step in enumerate(trace.steps[: search.rounds_done + 1]):
        if step.value > best + 0.0488:
            best, improved_at = step.value, max(number, 1)
    assert search.rounds_done == improved_at + 6


def test_what_somebody_else_sets_is_measured_and_the_search_goes_on() -> None:
    search = RandomSearch(SIZES, FREE, SearchSettings(rounds=6, samples_per_round=2))
    foreign = PoolTuple(20, 7, 77, idle_timeout_s=5.0)
    with CurveServer(ARCH) as server:
        for number in range(20):
            if number == 3:
                server.apply(foreign)
            window = observe(server, 1.0).window
            proposed = answer_of(search, window)
            if number == 3:
                assert "somebody else set (20, 7, 77)" in search.reason
            server.apply(proposed)
        final = server.tuple_in_force()
    assert foreign in {measured.pool_tuple for measured in search.observations.measured}
    assert final == foreign
    assert search.rounds_done == 6


def test_a_tuple_with_values_not_listed_is_never_held() -> None:
    space = SearchSpace.of(KNOBS, ["pool_size"], {"pool_size": (1, 128)}, replace(IN_FORCE, pool_size=20))
    search = RandomSearch(space, FREE, SearchSettings(rounds=4))
    trace = tune(CurveServer(ARCH, initial=space.in_force), search, FREE, period_s=1.0, horizon_s=8.0)
    assert trace.steps[0].value == trace.best_value
    assert trace.final_tuple.pool_size == 128


def test_server_that_takes_nothing_ends_the_search_all_the_same() -> None:
    search = RandomSearch(
        SearchSpace.of(KNOBS, ["pool_size"], {"pool_size": (1, 2)}, IN_FORCE), FREE, SearchSettings(rounds=3)
    )
    window = observe(CurveServer(ARCH), 1.0).window
    proposals = [answer_of(search, window) for _ in range(6)]
    assert proposals[-1] == window.pool_tuple
    assert "none of the configurations asked for" in search.reason


def test_restart_knob_is_refused_without_a_way_to_restart_and_restarted_with_one() -> None:
    pinned = replace(KNOBS.knobs["timer_interval_ms"], restart_only=True)
    knobs = KnobSpace(4, {**KNOBS.knobs, "timer_interval_ms": pinned})
    choices = {"timer_interval_ms": (10, 500)}
    space = SearchSpace.of(knobs, ["pool_size", "timer_interval_ms"], choices, IN_FORCE, allow_restart=True)
    with pytest.raises(SettingError, match="timer_interval_ms needs a restart"):
        RandomSearch(space, FREE)
    with CurveServer(ARCH) as server:
        restarted: list[PoolTuple] = []
        search = RandomSearch(
            space, FREE, SearchSettings(rounds=8), restart=lambda wanted: restarted.append(server.apply(wanted))
        )
        trace = tune(server, search, FREE, period_s=1.0, horizon_s=12.0)
    timers = [step.pool_tuple.timer_interval_ms for step in trace.steps]
    assert len(restarted) == sum(before != after for before, after in pairwise(timers)) > 0
