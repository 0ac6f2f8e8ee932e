"""Connection handlers through Python: the model of their settings is the pool's own, and each serves a load."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from poolpilot.native_pool import LivePool
from poolpilot.native_pool._core import SimulatedPool
from poolpilot.native_pool.handling import ConnectionHandling
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.simulation import simulated_pool
from poolpilot.native_pool.workload import RequestClass, Step, Workload

FIELDS = ConnectionHandling.model_fields
ROWS = {row["name"]: row for row in LivePool.fields() if row["name"] in FIELDS}
HANDLERS = get_args(FIELDS["handler"].annotation)
LOCKED = RequestClass(
    "locked",
    (
        Step("cpu", us=20),
        Step("wait", us=500, reported=True),
        Step("acquire", latch=1, reported=True),
        Step("release", latch=1),
    ),
)
LOCKING = Workload("locking", "test", (LOCKED,), connections=48, cpus=2)
SMALL: dict[str, Any] = {"hybrid_max_threads": 4, "hybrid_min_waiting": 1}


def test_model_has_the_defaults_of_the_pool() -> None:
    assert ConnectionHandling().model_dump() == {name: row["default"] for name, row in ROWS.items()}
    assert ROWS.keys() == FIELDS.keys()


def test_live_and_simulated_pools_have_the_same_rows() -> None:
    assert {row["name"]: row for row in SimulatedPool.fields() if row["name"] in FIELDS} == ROWS


@pytest.mark.parametrize("name", FIELDS)
def test_field_has_the_type_range_and_meaning_of_the_native_one(name: str) -> None:
    row, field = ROWS[name], FIELDS[name]
    assert field.description == f"{row['effect']} ({row['unit']})"
    if "names" in row:
        assert list(get_args(field.annotation)) == row["names"]
        with pytest.raises(ValidationError, match="'per_connection', 'pool' or 'hybrid'"):
            ConnectionHandling.model_validate({name: "oracle"})
        return
    assert field.annotation is type(row["default"])
    for beyond in (row["low"] - 1, row["high"] + 1):
        with pytest.raises(ValidationError, match=name):
            ConnectionHandling.model_validate({name: beyond})


def test_unknown_handler_is_refused_by_name_with_those_there_are() -> None:
    expected = r"^handler is 'oracle', but must be one of per_connection, pool, hybrid$"
    with pytest.raises(ValueError, match=expected):
        LivePool(handler="oracle")
    with pytest.raises(ValueError, match=expected):
        simulated_pool(LOCKING, handler="oracle")


def test_more_threads_to_wait_than_there_may_be_are_refused_with_the_range() -> None:
    expected = r"^hybrid_min_waiting is 5, but must be in 1\.\.4$"
    with pytest.raises(ValueError, match=expected):
        LivePool(hybrid_max_threads=4, hybrid_min_waiting=5)
    with pytest.raises(ValueError, match=expected):
        simulated_pool(LOCKING, hybrid_max_threads=4, hybrid_min_waiting=5)


@pytest.mark.parametrize("handler", HANDLERS)
@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_nothing_is_lost_under_load_while_the_tuple_changes(
    handler: str, kind: str, tmp_path: Path, left_open: Callable[[], set[str]]
) -> None:
    address = "tcp:127.0.0.1:0" if kind == "tcp" else f"unix:{tmp_path / 'pool.sock'}"
    pool = LivePool(address=address, handler=handler, class_names=["locked"], **SMALL)
    pool.start()
    with Load(pool.address, LOCKING) as load:
        for i in count():
            pool.set_tuple(pool_size=1 + i % 16, oversubscribe=3, timer_interval_ms=5, idle_timeout_s=0.05)
            if i >= 100 and pool.snapshot()["counters"]["completed"] > 100:
                break
        report = load.stop()
    completed = pool.snapshot()["counters"]["completed"]
    pool.close()
    assert report.sent == report.completed == completed
    assert (report.unexpected, report.lost, report.failed) == (0, 0, 0)
    assert left_open() == set()


@pytest.mark.parametrize("handler", HANDLERS)
def test_simulated_pool_answers_what_it_is_sent(handler: str) -> None:
    pool = simulated_pool(LOCKING, handler=handler, **SMALL)
    for i in range(20):
        pool.run(0.02)
        pool.set_tuple(pool_size=1 + i % 16, oversubscribe=3, timer_interval_ms=5, idle_timeout_s=0.05)
    counters = pool.snapshot()["counters"]
    assert counters["completed"] > 1000
    assert counters["failed"] == 0
