"""Batches give what single simulations give, keep what is finished, and name what cannot go on."""

from collections.abc import Callable

import numpy as np
import pytest

from poolpilot.env.servers import simulated_measurement
from poolpilot.env.servers.simulated import run_all
from poolpilot.env.servers.simulated_measurement import (
    Scenario,
    SimulatedMeasurement,
    SimulationStopped,
    measure_all,
    simulate_batch,
)
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.simulation import LoadChange
from poolpilot.native_pool.workload import RequestClass, Step, Workload

QUICK = SimulatedMeasurement(settle_s=0.05, max_settle_s=0.1)
TUPLES = (PoolTuple(1, 3, 10), PoolTuple(16, 3, 10), PoolTuple(64, 3, 10))


def silent(seed: int) -> Scenario:
    classes = (RequestClass("all", (Step("cpu", us=50.0, variation=0.5), Step("wait", us=1000.0))),)
    return Scenario(Workload(f"silent-{seed}", "test", classes, connections=16, seed=seed))


def stuck() -> Scenario:
    """Two connections that take two latches in opposite order."""

    def latched(first: int, second: int) -> tuple[Step, ...]:
        return (Step("acquire", latch=first), Step("wait", us=100.0, variation=1.0), Step("acquire", latch=second))

    classes = (RequestClass("up", latched(0, 1)), RequestClass("down", latched(1, 0)))
    return Scenario(Workload("stuck", "test", classes, connections=2))


def test_batch_has_a_row_for_every_scenario_and_tuple() -> None:
    columns = simulate_batch([silent(0), silent(1)], TUPLES, 500, settings=QUICK, together=4)
    assert columns["scenario"].tolist() == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    assert columns["pool_size"].tolist() == [1.0, 16.0, 64.0] * 2
    assert (columns["throughput_per_s"][1::3] > 3.0 * columns["throughput_per_s"][0::3]).all()
    assert ((columns["cpu_share"] > 0.0) & (columns["cpu_share"] <= 1.0 + 1e-9)).all()


def test_threads_and_chunks_change_nothing() -> None:
    one = simulate_batch([silent(0)], TUPLES, 300, settings=QUICK, threads=1, together=1)
    many = simulate_batch([silent(0)], TUPLES, 300, settings=QUICK, threads=3, together=64)
    assert all(np.array_equal(one[name], many[name]) for name in one)


def test_window_has_the_requests_asked_for() -> None:
    server = silent(0).open()
    (window,) = measure_all([server], [TUPLES[1]], SimulatedMeasurement(requests=777))
    assert sum(of_class.latency.count for of_class in window.classes.values()) == 777


def ramping() -> Scenario:
    """Connections that are told apart from the ramp of the load only by how many of them have begun to send."""
    steps = (Step("cpu", us=50.0), Step("wait", us=5000.0, reported=True))
    return Scenario(Workload("ramping", "test", (RequestClass("all", steps),), connections=512, cpus=16))


def test_windows_begin_after_the_ramp_whatever_the_timer() -> None:
    tuples = [PoolTuple(128, 3, 10), PoolTuple(128, 3, 500)]
    fast, slow = simulate_batch([ramping()], tuples, 8000)["goodput_per_s"]
    assert fast == pytest.approx(slow, rel=0.05)
    again = simulate_batch([ramping()], tuples, 8000)["goodput_per_s"]
    assert again.tolist() == [fast, slow]


def test_ramp_is_waited_for_once_and_not_where_there_is_none() -> None:
    servers = [silent(0).open(), swinging().open()]
    assert [server.ramp_left_s for server in servers] == [0.2, 0.0]
    dropped_s = []
    for _ in range(2):
        began_s = [server.snapshot().time_s for server in servers]
        windows = measure_all(servers, [TUPLES[0]] * 2, QUICK)
        ended_s = [server.snapshot().time_s for server in servers]
        dropped_s.append(
            [end - begin - one.duration_s for begin, one, end in zip(began_s, windows, ended_s, strict=True)]
        )
    (ramped, even), again = dropped_s
    assert ramped >= 0.25
    assert max(even, *again) <= 0.1 + 1e-6
    assert [server.ramp_left_s for server in servers] == [0.0, 0.0]


def test_tuple_that_completes_nothing_has_no_latency() -> None:
    long = Workload("long", "test", (RequestClass("all", (Step("cpu", us=1_500_000.0),)),), connections=100, cpus=2)
    brief = SimulatedMeasurement(most_s=5.0)
    columns = simulate_batch([Scenario(long)], [PoolTuple(1, 1, 2000), PoolTuple(128, 1, 2000)], 100, settings=brief)
    assert columns["throughput_per_s"][0] > 0.0 == columns["throughput_per_s"][1]
    assert columns["p99_ms"][0] > 1000.0
    assert np.isnan(columns["p99_ms"][1])


def swinging() -> Scenario:
    """Arrivals that alternate between few and many five times a second."""
    workload = Workload("swinging", "test", (RequestClass("all", (Step("cpu", us=50.0),)),), 16, rate_per_s=500.0)
    changes = tuple(LoadChange(at_s=0.1 * half, rate_per_s=5000.0 if half % 2 else 500.0) for half in range(1, 200))
    return Scenario(workload, changes=changes, cycle_s=0.2)


def test_windows_of_a_load_that_repeats_itself_last_whole_cycles_whatever_the_requests() -> None:
    servers, few = [swinging().open(), silent(0).open()], SimulatedMeasurement(requests=100, settle_s=0.03)
    windows = [measure_all(servers, [PoolTuple(16, 3, 150)] * 2, few) for _ in range(5)]
    assert [cyclic.duration_s for cyclic, _ in windows] == pytest.approx([0.4] * 5)
    rates_per_s = [cyclic.throughput_per_s for cyclic, _ in windows]
    assert max(rates_per_s) < 1.2 * min(rates_per_s)
    assert all(even.duration_s == pytest.approx(0.303, abs=0.1) for _, even in windows)


def test_batch_measures_whole_cycles() -> None:
    columns = simulate_batch([swinging(), silent(0)], TUPLES[1:], 300, settings=QUICK)
    assert columns["seconds"][:2] == pytest.approx([0.2, 0.2])
    assert (columns["seconds"][2:] < 0.1).all()


def test_tuples_that_a_server_does_not_allow_are_left_out_while_others_are_there() -> None:
    columns = simulate_batch([silent(0)], [PoolTuple(200, 3, 10), TUPLES[0]], 300, settings=QUICK)
    assert (columns["tuple"].tolist(), columns["pool_size"].tolist()) == ([1.0], [1.0])


@pytest.mark.parametrize("together", [1, 64])
def test_batch_of_which_nothing_is_allowed_is_refused_by_knob_and_range(together: int) -> None:
    """Before, it was a mapping without a column."""
    tuples = [PoolTuple(200, 3, 10), PoolTuple(300, 3, 10)]
    with pytest.raises(SettingError, match=r"of the first, pool_size is 200, outside the allowed range 1\.\.128"):
        simulate_batch([silent(0), silent(1)], tuples, 300, settings=QUICK, together=together)


def test_stopped_batch_keeps_what_is_finished() -> None:
    def stop_after_two(done: int) -> None:
        if done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(SimulationStopped) as stopped:
        simulate_batch([silent(0)], TUPLES, 300, settings=QUICK, together=1, on_done=stop_after_two)
    assert len(stopped.value.columns["value"]) == 2


def test_pool_that_cannot_go_on_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from poolpilot.env.servers.simulated import SimulatedServer

    def without_timeout(self: Scenario, initial: PoolTuple | None = None) -> SimulatedServer:
        return SimulatedServer(self.workload, initial=initial, latch_timeout_s=0.0)

    monkeypatch.setattr(simulated_measurement.Scenario, "open", without_timeout)
    with pytest.raises(ServerError, match="'stuck' cannot go on"):
        simulate_batch([silent(0), stuck()], TUPLES[1:2], 5000, settings=QUICK)


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (lambda: simulate_batch([], TUPLES), "nothing to simulate"),
        (lambda: simulate_batch([silent(0)], TUPLES, requests=0), "requests is 0, but must be at least 1"),
        (lambda: simulate_batch([silent(0)], TUPLES, together=-1), "together is -1, but must be at least 1"),
        (lambda: run_all([server := silent(0).open(), server], [1.0, 1.0]), "twice"),
        (lambda: run_all([silent(0).open()], [1.0, 2.0]), "one value for each pool"),
    ],
)
def test_nonsense_is_refused(run: Callable[[], object], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        run()
