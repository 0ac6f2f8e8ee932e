"""A stored sweep knows its best tuple, its noise, and values between the sizes measured."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import AGAIN_ROUND, WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.errors import StoreError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

MakeWindow = Callable[..., Window]

FREE = Objective(price_of_thread=0.0)


def built(observed: list[tuple[int, Window]], objective: Objective = FREE) -> WorkloadSweep:
    return WorkloadSweep.build(
        observed, workload_id="w", family="f", split="train", limits=KnobSpace.stock(4), objective=objective
    )


def test_value_is_the_mean_of_the_repeats(make_window: MakeWindow) -> None:
    stored = built([(0, make_window({"a": {1.0: 100}})), (1, make_window({"a": {1.0: 400}}))])
    assert stored.value(PoolTuple(4, 3, 500)) == pytest.approx(math.log(200.0))


def test_value_between_sizes_is_interpolated_in_the_logarithm_of_the_size(make_window: MakeWindow) -> None:
    stored = built(
        [
            (0, make_window({"a": {1.0: 100}}, PoolTuple(4, 3, 500))),
            (0, make_window({"a": {1.0: 400}}, PoolTuple(16, 3, 500))),
            (0, make_window({"a": {1.0: 7}}, PoolTuple(8, 10, 10))),
        ]
    )
    assert stored.value(PoolTuple(8, 3, 450)) == pytest.approx(math.log(200.0))
    assert stored.value(PoolTuple(2, 3, 500)) == pytest.approx(math.log(100.0))
    assert stored.value(PoolTuple(100, 3, 500)) == pytest.approx(math.log(400.0))


def test_lucky_window_of_a_dropped_tuple_is_no_oracle(make_window: MakeWindow) -> None:
    lucky, solid = PoolTuple(1, 3, 500), PoolTuple(2, 3, 500)
    stored = built(
        [
            (0, make_window({"a": {1.0: 1000}}, lucky)),
            (0, make_window({"a": {1.0: 900}}, solid)),
            (1, make_window({"a": {1.0: 900}}, solid)),
            (AGAIN_ROUND, make_window({"a": {1.0: 850}}, solid)),
        ]
    )
    assert stored.oracle_tuple == solid
    assert stored.oracle_value == pytest.approx(math.log(900.0))
    assert stored.oracle_again == pytest.approx(math.log(850.0))
    assert stored.regret(solid) == 0.0


def test_feasible_tuple_is_the_oracle_before_a_better_one(make_window: MakeWindow) -> None:
    objective = Objective(min_share={"b": 0.9})
    default, starving = PoolTuple(4, 3, 500), PoolTuple(8, 3, 500)
    stored = built(
        [
            (0, make_window({"a": {1.0: 100}, "b": {1.0: 100}}, default)),
            (0, make_window({"a": {1.0: 900}, "b": {1.0: 10}}, starving)),
        ],
        objective,
    )
    assert stored.oracle_tuple == default
    assert not stored.entries[starving.core].feasible


def test_tuple_that_breaks_a_floor_counts_as_no_better_than_the_default(make_window: MakeWindow) -> None:
    """A model that starves a class was rewarded for it by the gate."""
    default, starving = PoolTuple(4, 3, 500), PoolTuple(8, 3, 500)
    observed = [
        (0, make_window({"a": {1.0: 100}, "b": {1.0: 100}}, default)),
        (0, make_window({"a": {1.0: 900}, "b": {1.0: 10}}, starving)),
    ]
    stored = built(observed, Objective(min_share={"b": 0.9}))
    assert not stored.keeps_floors(starving.core)
    assert not stored.keeps_floors((9, 3, 500)), "the nearest that was measured tells"
    assert stored.regret(starving) < 0.0
    assert stored.regret_within_floors(starving) == stored.regret_within_floors(default) == 0.0
    assert built(observed).regret_within_floors(default) == built(observed).regret(default) > 0.0


def test_reference_that_is_named_is_what_floors_are_shares_of(make_window: MakeWindow) -> None:
    first, other = PoolTuple(16, 3, 500), PoolTuple(8, 3, 500)
    swept = WorkloadSweep.build(
        [
            (0, make_window({"a": {1.0: 100}, "b": {1.0: 100}}, first)),
            (0, make_window({"a": {1.0: 900}, "b": {1.0: 10}}, other)),
        ],
        workload_id="w",
        family="f",
        split="train",
        limits=KnobSpace.stock(4),
        objective=Objective(min_share={"b": 0.9}),
        reference=first,
    )
    assert swept.oracle_tuple == first


def test_windows_measured_again_are_those_of_the_best_tuple_alone(make_window: MakeWindow) -> None:
    """A repaired sweep may hold some of the tuple that was its best before."""
    best, before = PoolTuple(8, 3, 500), PoolTuple(16, 3, 500)
    stored = built(
        [
            (0, make_window({"a": {1.0: 500}}, before)),
            (AGAIN_ROUND, make_window({"a": {1.0: 100}}, before)),
            (0, make_window({"a": {1.0: 900}}, best)),
            (AGAIN_ROUND, make_window({"a": {1.0: 800}}, best)),
        ]
    )
    assert stored.again_values == pytest.approx([FREE.value(make_window({"a": {1.0: 800}}, best))])


def test_floors_are_shares_of_all_windows_of_the_default(make_window: MakeWindow) -> None:
    objective = Objective(min_share={"b": 0.5})
    default, other = PoolTuple(4, 3, 500), PoolTuple(8, 3, 500)
    counts = {default: (1, 9, 8), other: (4, 3, 2)}
    observed = [
        (number, make_window({"a": {1.0: 100}, "b": {1.0: count}}, pool_tuple))
        for pool_tuple, each in counts.items()
        for number, count in enumerate(each)
    ]
    assert built(observed, objective).entries[other.core].feasible
    assert not built(observed, Objective(min_share={"b": 0.6})).entries[other.core].feasible


def test_noise_is_the_pooled_deviation_of_repeats(make_window: MakeWindow) -> None:
    observed = [
        (number, make_window({"a": {1.0: count}}, PoolTuple(size, 3, 500)))
        for size, counts in ((1, (100, 200)), (2, (300, 600)), (4, (5,)))
        for number, count in enumerate(counts)
    ]
    assert built(observed).noise == pytest.approx(np.std([0.0, math.log(2.0)], ddof=1))
    assert built(observed[-1:]).noise == 0.0
    assert built(observed[-1:]).oracle_again is None


def test_sweep_without_windows_is_refused() -> None:
    with pytest.raises(StoreError, match="'w' has no windows"):
        built([])


def test_view_of_the_server_hides_the_classes_and_keeps_what_tuples_are_worth(make_window: MakeWindow) -> None:
    stored = built([(0, make_window({"a": {1.0: 100}})), (1, make_window({"a": {1.0: 400}}))])
    seen = stored.server_view()
    (entry,) = seen.entries.values()
    assert all(window.classes == {} for window in entry.windows)
    assert entry.value == stored.value(PoolTuple(4, 3, 500)) == seen.oracle_value
    assert seen.workload_id != stored.workload_id
    assert seen.family == stored.family


def test_hidden_features_are_missing_in_every_window_and_nothing_else_changes(make_window: MakeWindow) -> None:
    stored = built([(0, make_window({"a": {1.0: 100}})), (1, make_window({"a": {1.0: 400}}))])
    shown = stored.hiding(["connections"])
    (entry,) = shown.entries.values()
    assert all(window.profile.hidden == {"connections"} for window in entry.windows)
    assert entry.value == stored.value(PoolTuple(4, 3, 500)) == shown.oracle_value
    assert shown.workload_id == stored.workload_id


def test_what_is_shown_is_kept_apart_from_what_it_is_judged_by(make_window: MakeWindow) -> None:
    once, twice = PoolTuple(2, 3, 500), PoolTuple(4, 3, 500)
    rates = {twice: (100, 400), once: (900,)}
    windows = [make_window({"a": {1.0: rate}}, each) for each, given in rates.items() for rate in given]
    shown, value_of = built([(0, window) for window in windows]).kept_apart(np.random.default_rng(1))
    (seen,) = shown.entries[twice.core].values
    assert sorted([seen, value_of(twice.core)]) == pytest.approx([math.log(100.0), math.log(400.0)])
    assert value_of(once.core) == pytest.approx(math.log(900.0)), "the only one there is"
