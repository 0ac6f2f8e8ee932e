"""A workload rebuilt from one window does under other tuples what the real one does."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, measure_all
from poolpilot.env.workloads.observed_workload import observed_workload
from poolpilot.errors import FeatureError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.native_pool.workload import RequestClass, Step, Workload

TUPLES = [PoolTuple(1, 3, 500), PoolTuple(4, 3, 10), PoolTuple(16, 3, 500), PoolTuple(64, 3, 500)]
LONG = SimulatedMeasurement(requests=20_000, most_s=30.0)
CPU = Step("cpu", us=200.0, variation=0.5)


def window_of(workload: Workload, pool_tuple: PoolTuple) -> Window:
    (window,) = measure_all([Scenario(workload, CALIBRATED).open()], [pool_tuple], LONG)
    return window


def goodputs(workload: Workload, objective: Objective) -> np.ndarray:
    servers = [Scenario(workload, CALIBRATED).open() for _ in TUPLES]
    return np.array([objective.goodput_per_s(window) for window in measure_all(servers, TUPLES, LONG)])


WORKLOADS: Mapping[str, tuple[RequestClass, ...]] = {
    "cpu": (RequestClass("all", (CPU,)),),
    "silent": (RequestClass("all", (CPU, Step("wait", us=3000.0, variation=0.5))),),
    "reported": (RequestClass("all", (CPU, Step("wait", us=3000.0, variation=0.5, kind="net", reported=True))),),
    "pauses": (RequestClass("all", (CPU,), think_ms=20.0),),
    "two classes": (
        RequestClass("short", (CPU,), share=0.6, target_ms=100.0),
        RequestClass("long", (Step("cpu", us=8000.0),), share=0.4, weight=20.0),
    ),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_rebuilt_workload_does_what_the_real_one_does(name: str) -> None:
    real = Workload(name, "test", WORKLOADS[name], connections=32, cpus=2, seed=1)
    objective = Objective.of_classes(real.classes)
    window = window_of(real, PoolTuple(2, 3, 500))
    rebuilt = observed_workload(window, KnobSpace.stock(2), objective, CALIBRATED)
    ratios = goodputs(rebuilt, objective) / goodputs(real, objective)
    assert np.abs(ratios - 1.0).max() < (0.25 if name == "two classes" else 0.1), ratios


def test_latch_is_found_from_its_waits() -> None:
    latched = (CPU, Step("acquire", spin_us=100, waiter_cost_us=5.0), Step("cpu", us=150.0), Step("release"), CPU)
    real = Workload("latch", "test", (RequestClass("all", latched),), connections=32, cpus=4, seed=1)
    window = window_of(real, PoolTuple(16, 3, 10))
    rebuilt = observed_workload(window, KnobSpace.stock(4), Objective(), CALIBRATED)
    assert any(step.op == "acquire" for step in rebuilt.classes[0].steps)
    again = window_of(replace(rebuilt, seed=2), PoolTuple(16, 3, 10))
    assert again.throughput_per_s == pytest.approx(window.throughput_per_s, rel=0.25)


@pytest.mark.parametrize(
    ("per_request", "steps"),
    [
        ({"sleep": 0.01}, 0),
        ({"sleep": 0.02}, 1),
        ({"sleep": 0.5}, 1),
        ({"sleep": 0.5, "net": 1.5}, 3),
        ({"row_lock": 300.0}, 62),
        ({"sleep": 300.0, "disk_io": 300.0, "row_lock": 300.0, "net": 70.0}, 248),
    ],
)
def test_reported_waits_are_rebuilt_however_few_or_many(per_request: Mapping[str, float], steps: int) -> None:
    real = Workload("reported", "test", WORKLOADS["reported"], connections=8, cpus=2, seed=1)
    window = window_of(real, PoolTuple(2, 3, 500))
    told = {f"waits_{kind}_per_request": per_request.get(kind, 0.0) for kind in ("sleep", "disk_io", "row_lock", "net")}
    features = {**window.profile.features, **told}
    features |= {"wait_round_us_mean": 200.0, "silent_wait_us_per_round": 3000.0, "latch_waits_per_request": 0.0}
    seen = replace(window, profile=replace(window.profile, features=features))
    rebuilt = observed_workload(seen, KnobSpace.stock(2), Objective(), CALIBRATED)
    waits = [step for step in rebuilt.classes[0].steps if step.reported]
    assert len(waits) == steps
    if steps:
        each_us = 200.0 - CALIBRATED.timer_slack_us
        assert sum(step.us for step in waits) == pytest.approx(each_us * sum(per_request.values()))
    Scenario(rebuilt, CALIBRATED).open()


def test_core_tier_alone_is_enough() -> None:
    real = Workload("cpu", "test", WORKLOADS["cpu"], connections=32, cpus=2, seed=1)
    window = window_of(real, PoolTuple(2, 3, 500))
    core = {
        name: value if name in ("connections", "cpus", "process_cpu_us_per_request") else None
        for name, value in window.profile.features.items()
    }
    poor = replace(window, profile=replace(window.profile, features=core))
    rebuilt = observed_workload(poor, KnobSpace.stock(2), Objective(), CALIBRATED)
    cpu_us = sum(step.us for step in rebuilt.classes[0].steps if step.op == "cpu")
    assert cpu_us == pytest.approx(200.0, rel=0.2)


def test_what_is_needed_and_missing_is_named() -> None:
    real = Workload("cpu", "test", WORKLOADS["cpu"], connections=8, cpus=2)
    window = window_of(real, PoolTuple(2, 3, 500))
    blind = replace(window, profile=replace(window.profile, features=dict.fromkeys(window.profile.features)))
    with pytest.raises(FeatureError, match="lacks connections"):
        observed_workload(blind, KnobSpace.stock(2), Objective(), CALIBRATED)
