"""The simulated backend gives what the live one gives, in virtual time, and the same again for the same seed."""

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from poolpilot.env.measurement.protocol import MeasurementSettings, observe, sweep
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool._core import LivePool
from poolpilot.native_pool.handling import ConnectionHandling
from poolpilot.native_pool.simulation import LoadChange, Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload

SILENT = Workload(
    "silent", "test", (RequestClass("all", (Step("cpu", us=50.0), Step("wait", us=2000.0))),), connections=32, cpus=2
)


def latched(first: int, second: int) -> tuple[Step, ...]:
    """Takes two latches with a wait between."""
    return (Step("acquire", latch=first), Step("wait", us=100.0), Step("acquire", latch=second))


def window_of(server: SimulatedServer, seconds: float = 1.0) -> Window:
    server.run_for(0.5)
    return observe(server, seconds).window


def test_snapshot_has_every_name_of_the_live_pool() -> None:
    live = LivePool(class_names=["all"])
    live.start()
    try:
        wanted = live.snapshot()
    finally:
        live.close()
    server = SimulatedServer(SILENT)
    server.run_for(0.2)
    snapshot = server.snapshot()
    assert set(snapshot.counters) == set(wanted["counters"])
    assert set(snapshot.gauges) == set(wanted["gauges"])
    assert set(snapshot.histograms) == set(wanted["histograms"])


def test_every_rich_feature_of_a_window_is_there() -> None:
    server = SimulatedServer(SILENT, initial=PoolTuple(8, 3, 10))
    features = window_of(server).profile.features
    assert features["connections"] == 32.0
    assert features["round_cpu_us_mean"] == pytest.approx(62.0, rel=0.3)
    assert features["active_round_us_mean"] == pytest.approx(2062.0, rel=0.2)


def test_same_seed_is_the_same_window() -> None:
    first, second = (window_of(SimulatedServer(SILENT)) for _ in range(2))
    assert first.profile.features == second.profile.features
    assert first.throughput_per_s == second.throughput_per_s


def test_sweep_finds_that_silent_waits_want_many_groups() -> None:
    server = SimulatedServer(SILENT)
    tuples = [PoolTuple(size, 3, 500) for size in (1, 2, 8, 32)]
    objective = Objective.of_classes(SILENT.classes)
    settings = MeasurementSettings(keep_shares=(1.0,), final_repeats=0, oracle_repeats=0)
    measured = sweep(server, tuples, objective, settings, np.random.default_rng(0))
    assert max(measured, key=lambda result: objective.value(result.window)).core[0] == 32


def test_machine_decides_what_a_request_costs() -> None:
    cheap, dear = (
        SimulatedServer(SILENT, Machine(overhead_us=overhead), initial=PoolTuple(64, 3, 10))
        for overhead in (1.0, 500.0)
    )
    assert window_of(cheap).throughput_per_s > 3.0 * window_of(dear).throughput_per_s


def test_load_change_takes_effect_at_its_time() -> None:
    server = SimulatedServer(SILENT, changes=[LoadChange(at_s=2.0, connections=1)], initial=PoolTuple(32, 3, 10))
    before = window_of(server).throughput_per_s
    server.run_for(1.0)
    assert window_of(server).throughput_per_s < 0.1 * before


@pytest.mark.parametrize("at_s", [0.0, 0.1, 1.0])
def test_who_is_to_be_silent_sends_neither_in_the_ramp_nor_after_a_pause(at_s: float) -> None:
    """Before, whoever was in a pause at the change sent one more request."""
    classes = (RequestClass("all", (Step("cpu", us=1.0),), think_ms=1000.0),)
    workload = Workload("pausing", "test", classes, connections=1000, cpus=2)
    server = SimulatedServer(workload, changes=[LoadChange(at_s=at_s, connections=1)], initial=PoolTuple(8, 3, 10))
    server.run_for(at_s + 0.01)
    sent = server.snapshot().counters["completed"]
    server.run_for(5.0)
    assert server.snapshot().counters["completed"] - sent < 20.0


def test_connections_that_were_silenced_before_they_sent_are_woken() -> None:
    changes = [LoadChange(at_s=0.0, connections=1), LoadChange(at_s=1.0, connections=32)]
    server = SimulatedServer(SILENT, changes=changes, initial=PoolTuple(32, 3, 10))
    few = window_of(server, 0.4).throughput_per_s
    assert window_of(server).throughput_per_s > 20.0 * few


def test_server_is_used_by_one_thread_at_a_time() -> None:
    server, told, begin = SimulatedServer(SILENT, initial=PoolTuple(32, 3, 10)), [], threading.Barrier(2)

    def use() -> None:
        begin.wait()
        try:
            server.run_for(30.0)
            told.append("ended")
        except ServerError as error:
            told.append(str(error))

    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == ["ended", "the simulated pool cannot go on: a pool is run by one thread at a time"]
    server.run_for(0.1)
    assert server.snapshot().counters["completed"] > 100_000


def test_requests_can_be_counted_instead_of_seconds() -> None:
    server = SimulatedServer(SILENT)
    server.run_requests(500)
    assert server.snapshot().counters["completed"] == 500.0


def test_deadlock_is_an_error_that_names_the_latches() -> None:
    classes = (RequestClass("up", latched(0, 1)), RequestClass("down", latched(1, 0)))
    workload = Workload("deadlock", "test", classes, connections=2, cpus=2)
    server = SimulatedServer(workload, latch_timeout_s=0.0)
    with pytest.raises(ServerError, match="waits for latch 1"):
        server.run_for(1.0)


def test_handler_is_the_one_asked_for() -> None:
    server = SimulatedServer(SILENT, handling=ConnectionHandling(handler="per_connection"))
    server.run_for(0.5)
    assert server.snapshot().gauges["threads"] == SILENT.connections


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"initial": PoolTuple(0, 3, 500)}, "pool_size"),
        ({"throttle": "none"}, "throttle"),
        ({"handler": "oracle"}, "handler is 'oracle', but must be one of per_connection, pool, hybrid"),
        ({"latch_timeout_s": -1.0}, "latch_timeout_s"),
        ({"changes": [LoadChange(at_s=0.0, rate_per_s=5.0)]}, "rate_per_s"),
        ({"cycle_s": -1.0}, "cycle_s is -1.0, but must be a finite time of at least 0 seconds"),
        ({"cycle_s": float("nan")}, "cycle_s is nan"),
        ({"cycle_s": float("inf")}, "cycle_s is inf"),
        ({"max_pool_size": 0}, "max_pool_size is 0, but must be at least 1"),
    ],
)
def test_nonsense_is_refused_by_name(options: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        SimulatedServer(SILENT, **options)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"cpus": 0}, "cpus is 0, but must be at least 1"),
        ({"connections": 1.5}, "a value is of the wrong type: given was .*connections=1.5"),
    ],
)
def test_nonsense_of_a_workload_is_refused_by_name(changed: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        SimulatedServer(replace(SILENT, **changed))


def test_tuple_outside_the_ranges_is_refused_and_time_does_not_run_back() -> None:
    server = SimulatedServer(SILENT)
    with pytest.raises(SettingError, match="pool_size"):
        server.apply(PoolTuple(1000, 3, 500))
    for seconds in (-1.0, float("nan"), float("inf")):
        with pytest.raises(SettingError, match="must"):
            server.run_for(seconds)
    with pytest.raises(SettingError, match="requests must be at least 0"):
        server.run_requests(-1)


def net_silent_wait_us(*steps: Step) -> tuple[float, float]:
    """Silent waiting a round on a pool with room for everybody: as the feature has it, and net of latches."""
    workload = Workload("mine", "test", (RequestClass("all", steps),), connections=16, cpus=2)
    window = window_of(SimulatedServer(workload, initial=PoolTuple(16, 3, 10)))
    gross = window.profile.features["silent_wait_us_per_round"]
    assert gross is not None
    return gross, window.indicators["net_silent_wait_us_per_round"]


def test_a_latch_alone_is_no_silent_wait_once_its_sleep_is_taken_off() -> None:
    gross_us, net_us = net_silent_wait_us(
        Step("acquire", latch=0), Step("cpu", us=500.0), Step("release", latch=0), Step("cpu", us=20.0)
    )
    assert gross_us > 2000.0
    assert net_us < 0.02 * gross_us


def test_a_silent_wait_is_still_one_net_of_latches() -> None:
    gross_us, net_us = net_silent_wait_us(Step("cpu", us=50.0), Step("wait", us=2000.0))
    assert net_us == pytest.approx(gross_us)
    assert net_us == pytest.approx(2000.0, rel=0.1)


def test_a_silent_wait_beside_a_latch_is_told_apart_from_it() -> None:
    gross_us, net_us = net_silent_wait_us(
        Step("wait", us=3000.0), Step("acquire", latch=0), Step("cpu", us=500.0), Step("release", latch=0)
    )
    assert gross_us > 4000.0
    assert net_us == pytest.approx(3000.0, rel=0.15)


OFFERED = Workload("offered", "test", (RequestClass("all", (Step("cpu", us=1000.0),)),), 8, cpus=1, rate_per_s=2000.0)
"""Twice as much as one processor can serve."""


def p99_ms(server: SimulatedServer) -> float:
    latency_ms = window_of(server).p99_ms
    assert latency_ms is not None
    return latency_ms


def test_load_that_begins_anew_leaves_nothing_of_what_was_not_served() -> None:
    with SimulatedServer(OFFERED) as server:
        in_force = server.apply(server.tuple_in_force().with_core((1, 1, 20)))
        server.set_knobs(admission_limit=6)
        grown = [p99_ms(server) for _ in range(3)]
        assert grown == sorted(grown)
        server.begin_load_anew()
        assert server.tuple_in_force() == in_force
        assert server.set_knobs()["admission_limit"] == 6
        assert p99_ms(server) < grown[-1] / 2.0


def test_closed_loop_goes_on_where_a_load_begins_anew() -> None:
    with SimulatedServer(replace(OFFERED, rate_per_s=None)) as server:
        server.run_for(1.0)
        before = server.snapshot()
        server.begin_load_anew()
        assert server.snapshot().counters == before.counters


def test_backlog_is_as_long_as_it_may_be() -> None:
    with SimulatedServer(OFFERED, backlog_limit=100) as server:
        assert max(p99_ms(server) for _ in range(3)) < 250.0
