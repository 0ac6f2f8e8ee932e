"""An urgent class under overload, and short requests beside long ones, small."""

import os

import pytest

from poolpilot.pipelines.bench.parts import overload, short_beside_long
from poolpilot.pipelines.bench.parts.overload import (
    BEST,
    CALM,
    CONTENDERS,
    HIGH_OFFERED,
    OVERLOAD,
    REFERENCE,
    Offered,
)
from poolpilot.pipelines.bench.parts.overload_simulated import measure
from poolpilot.pipelines.bench.parts.short_beside_long import ARRANGEMENTS, FIFO, SHORT, chosen, run, scenarios
from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings

CPUS = tuple(os.sched_getaffinity(0))


def test_the_urgent_class_is_offered_the_same_with_and_without_overload() -> None:
    calm, busy = Offered.of(REFERENCE, 900.0), Offered.of("nothing", 900.0)
    assert calm.high_per_s == busy.high_per_s == pytest.approx(900.0 * HIGH_OFFERED)
    assert calm.rate_per_s == pytest.approx(900.0 * CALM)
    assert busy.rate_per_s == pytest.approx(900.0 * OVERLOAD)


def test_the_urgent_class_keeps_its_goodput_only_with_the_right_means() -> None:
    found = {name: measure(name, seed=1, window_s=1.0) for name in CONTENDERS}
    goodput = {name: one["high_goodput_per_s"] / found[REFERENCE]["high_goodput_per_s"] for name, one in found.items()}
    assert goodput[BEST] > 0.93
    assert found[BEST]["busy_cpus"] > 0.9
    assert found[BEST]["low_goodput_per_s"] > 0.5 * found[BEST]["low_throughput_per_s"]
    assert goodput["nothing"] == goodput["admission"] == goodput["size"] == 0.0
    assert goodput["priorities"] > 0.93
    assert found["priorities"]["busy_cpus"] < 0.7
    assert found["priorities and size"]["low_throughput_per_s"] < 0.5 * found[BEST]["low_throughput_per_s"]


def test_a_live_pool_is_offered_both_classes_by_loads_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overload, "capacity_per_s", lambda *_: 300.0)
    settings = PoolBenchSettings(
        overload_connections=32, settle_s=0.2, overload_window_s=0.5, server_cpus=CPUS[:1], load_cpus=CPUS[-1:]
    )
    measures = overload.measure(settings, BEST)
    assert measures["capacity_per_s"] == 300.0
    for name in ("high", "low"):
        assert 0.0 < measures[f"{name}_goodput_per_s"] <= measures[f"{name}_throughput_per_s"]
        assert measures[f"{name}_p99_ms"] > 0.0
    both = measures["high_throughput_per_s"] + measures["low_throughput_per_s"]
    assert measures["throughput_per_s"] == pytest.approx(both)


def test_the_capacity_of_a_live_pool_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overload, "CROWDS", (8,))
    cpus = (CPUS[:1], CPUS[-1:])
    first = overload.capacity_per_s(cpus, 0.1, 0.1)
    assert first > 0.0
    assert overload.capacity_per_s(cpus, 0.1, 0.1) == first


def test_both_means_are_at_least_as_good_as_one_where_they_were_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_beside_long, "CPU_SECONDS", 2.0)
    (scenario,) = scenarios("short_beside_long", seed=1, count=1)
    assert scenario.workload.classes[0].name == SHORT
    tuples = short_beside_long.grid(scenario)[-2:]
    arrangements = chosen(scenario, 7, tuples)
    values = {name: run(scenario, one, 7).value for name, one in arrangements.items()}
    assert set(values) == set(ARRANGEMENTS)
    default, by_tuple, by_discipline, both = (values[name] for name in ARRANGEMENTS)
    assert both >= max(by_tuple, by_discipline) >= min(by_tuple, by_discipline) >= default
    assert arrangements[ARRANGEMENTS[0]].discipline == arrangements[ARRANGEMENTS[1]].discipline == FIFO


def test_workloads_of_the_simulated_family_are_small_enough_to_simulate() -> None:
    drawn = list(scenarios(short_beside_long.SIMULATED, seed=5, count=4))
    assert len({one.workload.name for one in drawn}) == 4
    assert all(one.workload.cpus <= short_beside_long.MOST_CPUS for one in drawn)
