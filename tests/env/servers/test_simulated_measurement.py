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
        (lambda: run_all([server := silent(0).open(), server], [1.0, 1.0]), "twice"),
        (lambda: run_all([silent(0).open()], [1.0, 2.0]), "one value for each pool"),
    ],
)
def test_nonsense_is_refused(run: Callable[[], object], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        run()
