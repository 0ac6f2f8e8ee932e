"""Knobs refuse what is out of range, with the range in the message."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolpilot.env.knobs import STOCK_MAX_POOL_SIZE, Knob, KnobSpace
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool import LivePool

DEFAULT = PoolTuple(4, 3, 500)


def test_default_tuple_is_a_group_per_processor_and_mariadbs_defaults(stock: KnobSpace) -> None:
    assert stock.default_tuple() == DEFAULT
    assert stock.allows(stock.default_tuple())


@pytest.mark.parametrize(
    ("pool_tuple", "message"),
    [
        (replace(DEFAULT, pool_size=0), r"pool_size is 0, outside the allowed range 1\.\.128 \(thread groups\)"),
        (replace(DEFAULT, pool_size=129), r"pool_size is 129, outside .* 1\.\.128"),
        (replace(DEFAULT, oversubscribe=0), r"oversubscribe is 0, outside .* 1\.\.1000"),
        (replace(DEFAULT, timer_interval_ms=0), "timer_interval_ms is 0, outside"),
        (replace(DEFAULT, idle_timeout_s=float("nan")), "idle_timeout_s is nan, outside"),
        (PoolTuple(**(DEFAULT.as_dict() | {"pool_size": 2.5})), "pool_size is 2.5, but must be a whole number"),
    ],
)
def test_tuple_out_of_range_is_refused_with_the_range(stock: KnobSpace, pool_tuple: PoolTuple, message: str) -> None:
    assert not stock.allows(pool_tuple)
    with pytest.raises(SettingError, match=message):
        stock.check(pool_tuple)


def test_ranges_and_defaults_are_those_of_the_pools(stock: KnobSpace) -> None:
    rows = {row["name"]: row for row in LivePool.fields()}
    assert rows["max_pool_size"]["default"] == STOCK_MAX_POOL_SIZE == stock.knobs["pool_size"].high
    for name, knob in stock.knobs.items():
        row = rows[name]
        assert "low" in row
        if name != "pool_size":  # as many as there are processors, up to max_pool_size
            assert (knob.high, knob.default) == (row["high"], row["default"])
        assert knob.low == row["low"]
    own = PoolTuple(4, 3, 500).as_dict()
    assert {name: own[name] for name in ("create_thread_on_wait", "idle_timeout_s")} == {
        name: rows[name]["default"] for name in ("create_thread_on_wait", "idle_timeout_s")
    }


def test_default_size_never_exceeds_the_largest_size() -> None:
    assert KnobSpace.stock(64, max_pool_size=16).default_tuple().pool_size == 16


def test_json_restores_the_space(stock: KnobSpace) -> None:
    assert KnobSpace.from_dict(json.loads(json.dumps(stock.as_dict()))) == stock


@settings(deadline=None)
@given(st.integers(1, 128), st.integers(1, 1000), st.integers(1, 3_600_000))
def test_every_tuple_inside_the_ranges_is_allowed(size: int, oversubscribe: int, timer_interval_ms: int) -> None:
    assert KnobSpace.stock(2).allows(PoolTuple(size, oversubscribe, timer_interval_ms))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cpus": 0}, r"'cpus' is 0; a server has a whole number of processors in 1\.\.4096"),
        ({"cpus": 4097}, r"'cpus' is 4097; .* in 1\.\.4096"),
        ({"cpus": True}, r"'cpus' is .*; a server has a whole number"),
        ({"cpus": None}, "'cpus', the processors of the server, .* is not there"),
        ({"knobs": 3}, "'knobs', a list"),
        ({"knobs": []}, "need the knob pool_size"),
        ({"knobs": [3]}, "a knob needs a name, one of"),
        ({"knobs": [{"name": "colour"}]}, "a knob needs a name, one of"),
        ({"knobs": [{"name": []}]}, "a knob needs a name, one of"),
        ({"knobs": [{"name": "pool_size"}]}, "knob pool_size has a missing or unknown field"),
    ],
)
def test_malformed_limits_are_refused(stock: KnobSpace, change: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        KnobSpace.from_dict(stock.as_dict() | change)


@pytest.mark.parametrize("value", ["1", None, float("inf"), True])
def test_range_that_is_no_number_is_refused(stock: KnobSpace, value: object) -> None:
    values = stock.as_dict()
    values["knobs"][0]["high"] = value
    with pytest.raises(SettingError, match=r"high of knob pool_size is .* must be a finite number"):
        KnobSpace.from_dict(values)


def test_who_needs_processors_that_nobody_has_named_is_told_how_to_name_them(stock: KnobSpace) -> None:
    unknown = replace(stock, processors=None)
    with pytest.raises(SettingError, match=r"the processors of the server are not known: .* name it: --cpus N"):
        _ = unknown.cpus
    assert unknown.default_tuple() == stock.default_tuple()
    assert unknown.as_dict()["cpus"] is None


def test_own_server_needs_no_more_than_a_pool_size() -> None:
    space = KnobSpace.of(2, Knob("pool_size", 1, 32, 6, "workers"))
    assert space.default_tuple().pool_size == 6
    assert not space.allows(PoolTuple(33, 3, 10))
    with pytest.raises(SettingError, match="needs the knob pool_size; there are oversubscribe"):
        KnobSpace.of(2, Knob("oversubscribe", 1, 8, 3, "threads a group"))
    with pytest.raises(SettingError, match=r"pool_size is 64, outside the allowed range 1\.\.32"):
        KnobSpace.of(2, Knob("pool_size", 1, 32, 64, "workers"))


def test_threads_are_no_range_and_json_knows_nothing_of_them(stock: KnobSpace) -> None:
    few, large = replace(stock, most_threads=100), PoolTuple(20, 5, 500)
    assert few.has_threads_for(PoolTuple(20, 4, 500))
    assert not few.has_threads_for(large)
    assert few.allows(large)
    assert stock.has_threads_for(large)
    assert KnobSpace.from_dict(few.as_dict()) == few == stock
