"""The observation holds the response set, masked where there is nothing."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.observation import (
    BOUND,
    ENTRIES,
    TUPLE_INPUTS,
    assemble,
    encode,
    encode_window,
    observation_shapes,
    tuple_inputs,
)
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

MakeWindow = Callable[..., Window]
Observed = dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]

FREE = Objective(price_of_thread=0.0)


def observed(*windows: Window, max_pool_size: int = 128) -> Observed:
    return encode(windows, KnobSpace.stock(4, max_pool_size), FREE, DEFAULT_GRID)


def test_arrays_have_the_stated_shapes_in_float32_and_in_bounds(make_window: MakeWindow) -> None:
    arrays = observed(make_window({"a": {1.0: 100}}), make_window({"a": {1.0: 10**9}}))
    assert {name: array.shape for name, array in arrays.items()} == observation_shapes(DEFAULT_GRID)
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.float32)}
    assert all(np.abs(array).max() <= BOUND for array in arrays.values())


def test_entries_say_which_tuple_and_what_it_changed(make_window: MakeWindow) -> None:
    arrays = observed(
        make_window({"a": {1.0: 100}}, PoolTuple(4, 3, 512)), make_window({"a": {1.0: 200}}, PoolTuple(1024, 1, 1))
    )
    assert arrays["present"].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert arrays["relative"][:, 0] == pytest.approx([0.0, math.log(2.0), 0.0, 0.0])
    assert arrays["tuples"][:2].ravel() == pytest.approx([0.2, 0.2, 0.9, 1.0, 0.1, 0.0])
    assert arrays["context"] == pytest.approx([0.2, 0.6])
    assert not arrays["features"][2:].any()


def test_absent_features_are_masked_and_zero(make_window: MakeWindow) -> None:
    arrays = observed(make_window({"a": {1.0: 100}}))
    absent = arrays["feature_mask"][0] == 0.0
    assert absent.any()
    assert not absent.all()
    assert not arrays["features"][0, absent].any()


def test_share_within_target_is_seen(make_window: MakeWindow) -> None:
    window = make_window({"a": {1.0: 25, 100.0: 75}})
    arrays = encode([window], KnobSpace.stock(4), Objective(targets_ms={"a": 10.0}), DEFAULT_GRID)
    assert arrays["within_target"][0, 0] == pytest.approx(0.25)


def test_of_many_windows_the_first_and_the_latest_are_kept(make_window: MakeWindow) -> None:
    windows = [make_window({"a": {1.0: 100}}, PoolTuple(2**power, 3, 500)) for power in range(7)]
    arrays = observed(*windows)
    assert arrays["tuples"][:, 0] == pytest.approx([0.0, 0.4, 0.5, 0.6])
    assert arrays["present"].tolist() == [1.0] * ENTRIES


def test_actions_the_server_does_not_allow_are_masked(make_window: MakeWindow) -> None:
    arrays = observed(make_window({"a": {1.0: 100}}), max_pool_size=8)
    assert arrays["action_mask"].tolist() == [float(pool_tuple.pool_size <= 8) for pool_tuple in DEFAULT_GRID.tuples]


def test_no_window_is_refused() -> None:
    with pytest.raises(SettingError, match="at least one window"):
        observed()


def test_tuple_inputs_are_logarithms_of_ratios() -> None:
    inputs = dict(zip(TUPLE_INPUTS, tuple_inputs(PoolTuple(8, 3, 512), 2, 64), strict=True))
    assert inputs == pytest.approx(
        {
            "log_size": 0.3,
            "log_oversubscribe": 0.2,
            "log_timer": 0.9,
            "log_size_per_cpu": 0.2,
            "log_size_per_connection": -0.3,
            "log_threads_per_cpu": 0.4,
            "throttled": 1.0,
        }
    )


def test_throttle_input_steps_at_the_stock_timer_interval() -> None:
    below, at = (tuple_inputs(PoolTuple(8, 3, timer), 2, 64)[-1] for timer in (499, 500))
    assert (below, at) == (0.0, 1.0)


def test_arrays_belong_to_whoever_asked(make_window: MakeWindow) -> None:
    entry = encode_window(make_window({"a": {1.0: 100}}), KnobSpace.stock(4), FREE)
    mask = np.ones(len(DEFAULT_GRID), np.float32)
    for array in assemble([entry], mask).values():
        array *= 0.0
    assert mask.all()
    assert entry.context.all()
    assert assemble([entry], mask)["context"].all()
