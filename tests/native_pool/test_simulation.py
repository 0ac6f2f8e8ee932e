"""The machine as a model is the simulator's own machine."""

import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import get_args

import pytest
from pydantic import ValidationError

from poolpilot.native_pool._core import SimulatedMachine, SimulatedPool, run_all
from poolpilot.native_pool.simulation import CALIBRATED, Machine, simulated_pool
from poolpilot.native_pool.workload import RequestClass, Step, Workload

ROWS = {row["name"]: row for row in SimulatedMachine.fields() if row["name"] != "cpus"}


def test_model_has_every_field_of_the_machine_with_its_default() -> None:
    assert Machine().model_dump() == {name: ROWS[name]["default"] for name in Machine.model_fields}
    assert Machine.model_fields.keys() == ROWS.keys()


@pytest.mark.parametrize("name", ROWS)
def test_field_has_the_type_range_and_meaning_of_the_native_one(name: str) -> None:
    row, field = ROWS[name], Machine.model_fields[name]
    assert field.description == f"{row['effect']} ({row['unit']})"
    if "names" in row:
        assert list(get_args(field.annotation)) == row["names"]
        return
    assert field.annotation is type(row["default"])
    if isinstance(row["default"], bool):
        return
    for end in (row["low"], row["high"]):
        SimulatedMachine(**{name: getattr(Machine.model_validate({name: end}), name)})
    for beyond in (row["low"] - 1, row["high"] + 1):
        with pytest.raises(ValidationError, match=name):
            Machine.model_validate({name: beyond})


def test_calibrated_machine_is_one_the_simulator_takes() -> None:
    SimulatedMachine(**CALIBRATED.model_dump())


QUERY = RequestClass("query", (Step("cpu", us=50.0),))
CALLS: tuple[Callable[[SimulatedPool], object], ...] = (
    lambda pool: pool.run(0.1),
    lambda pool: pool.snapshot(),
    lambda pool: pool.set_tuple(pool_size=1, oversubscribe=1, timer_interval_ms=10),
    lambda pool: pool.set_knobs(admission_limit=5),
    lambda pool: (pool.pool_tuple, pool.knobs),
    lambda pool: (pool.now_s, pool.events, pool.sent, pool.answered, pool.thread_changes),
    lambda pool: pool.replayed_events(),
    lambda pool: run_all([pool], seconds=[0.1], least_s=[0.0]),
)


def is_in_use(pool: SimulatedPool) -> bool:
    try:
        return pool.now_s < 0.0
    except RuntimeError:
        return True


@pytest.mark.parametrize("together", [False, True])
def test_pool_that_a_thread_runs_is_refused_to_all_others(together: bool) -> None:
    """Before, they changed what the run was changing, and the process died."""
    pool = simulated_pool(Workload("mine", "test", (QUERY,), connections=16, cpus=2))
    run = (lambda: run_all([pool], seconds=[30.0], least_s=[0.0])) if together else (lambda: pool.run(30.0))
    runner = threading.Thread(target=run)
    runner.start()
    while not is_in_use(pool):
        time.sleep(0.001)
    for call in CALLS:
        with pytest.raises(RuntimeError, match=r"^a pool is run by one thread at a time$"):
            call(pool)
    assert runner.is_alive()
    runner.join()
    for call in CALLS:
        call(pool)
    assert pool.now_s == pytest.approx(30.2)


@pytest.mark.parametrize("together", [False, True])
def test_more_requests_than_can_be_counted_are_no_limit(together: bool) -> None:
    """Before, their number and that of those answered already went round, and the run ended at once."""
    pool = simulated_pool(Workload("mine", "test", (QUERY,), connections=16, cpus=2))
    pool.run(0.1)
    assert pool.answered > 0
    if together:
        assert run_all([pool], seconds=[0.2], requests=sys.maxsize, least_s=[0.0]) == [None]
    else:
        pool.run(0.2, requests=sys.maxsize)
    assert pool.now_s == pytest.approx(0.3)


def test_runs_of_which_one_is_refused_begin_none() -> None:
    free, taken = (simulated_pool(Workload("mine", "test", (QUERY,), connections=16, cpus=2)) for _ in range(2))
    runner = threading.Thread(target=taken.run, args=(10.0,))
    runner.start()
    while not is_in_use(taken):
        time.sleep(0.001)
    with pytest.raises(RuntimeError, match="one thread at a time"):
        run_all([free, taken], seconds=[1.0, 1.0], least_s=[0.0, 0.0])
    runner.join()
    assert free.now_s == 0.0


def test_pools_live_as_long_as_their_run_whoever_empties_the_list() -> None:
    """Before, the threads went on with a pool that was gone."""
    pools = [simulated_pool(Workload("mine", "test", (QUERY,), connections=16, cpus=2))]
    seen = weakref.ref(pools[0])
    runner = threading.Thread(target=run_all, args=(pools,), kwargs={"seconds": [30.0], "least_s": [0.0]})
    runner.start()
    while not is_in_use(pools[0]):
        time.sleep(0.001)
    pools.clear()
    assert runner.is_alive()
    assert seen() is not None
    runner.join()
    assert seen() is None


def test_none_among_pools_is_refused() -> None:
    pool = simulated_pool(Workload("mine", "test", (QUERY,), connections=16, cpus=2))
    with pytest.raises(ValueError, match="not None"):
        run_all([pool, None], seconds=[1.0, 1.0], least_s=[0.0, 0.0])  # type: ignore[list-item]
