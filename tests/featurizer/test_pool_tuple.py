"""The pool tuple: its JSON and its refusals."""

import pytest

from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple


def test_a_tuple_survives_its_dict() -> None:
    chosen = PoolTuple(16, 3, 10, create_thread_on_wait=False, idle_timeout_s=5.0)
    assert PoolTuple.from_dict(chosen.as_dict()) == chosen


def test_what_is_left_out_takes_its_default() -> None:
    core = {"pool_size": 16, "oversubscribe": 3, "timer_interval_ms": 10}
    assert PoolTuple.from_dict(core) == PoolTuple(16, 3, 10, create_thread_on_wait=True, idle_timeout_s=60.0)


def test_an_unknown_field_is_refused_by_name() -> None:
    with pytest.raises(SettingError, match="no field 'colour'"):
        PoolTuple.from_dict({"pool_size": 1, "oversubscribe": 3, "timer_interval_ms": 10, "colour": 1})


@pytest.mark.parametrize("name", ["pool_size", "oversubscribe", "timer_interval_ms"])
def test_a_missing_core_field_is_refused_by_name(name: str) -> None:
    values = {"pool_size": 1, "oversubscribe": 3, "timer_interval_ms": 10}
    del values[name]
    with pytest.raises(SettingError, match=f"needs the field '{name}'"):
        PoolTuple.from_dict(values)


def test_another_core_keeps_the_other_knobs() -> None:
    chosen = PoolTuple(16, 3, 10, create_thread_on_wait=False, idle_timeout_s=5.0).with_core((2, 1, 500))
    assert chosen == PoolTuple(2, 1, 500, create_thread_on_wait=False, idle_timeout_s=5.0)
    assert chosen.core == (2, 1, 500)


def test_a_tuple_prints_as_its_core() -> None:
    assert str(PoolTuple(16, 3, 10)) == "(16, 3, 10)"
