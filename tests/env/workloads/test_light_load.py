"""Light loads ask a server for the share of what it can give that they say, whatever the program and the machine."""

import numpy as np
import pytest

from poolpilot.env.measurement.protocol import observe
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, measure_all
from poolpilot.env.workloads.composed import chooses, draw_pausing, is_held_out
from poolpilot.env.workloads.composition import composition
from poolpilot.env.workloads.demand import Demand, held_us
from poolpilot.env.workloads.ingredients import cpu_step, latched, reported_step, silent_step
from poolpilot.env.workloads.light_load import BURST_PART, CALM_FACTOR, MOST_CONNECTIONS, SHARES, LightLoad, pausing
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.simulation import Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload

LATCH = {"hold_us": 200.0, "spin_us": 100.0, "waiter_cost_us": 1.0}
PROGRAMS = {
    "processors": (cpu_step(1000.0),),
    "told wait": (cpu_step(500.0), reported_step(3000.0)),
    "latch": (cpu_step(50.0), *latched(LATCH)),
}


def scenario(*programs: tuple[Step, ...], cpus: int = 4, machine: Machine | None = None) -> Scenario:
    classes = tuple(RequestClass(f"class_{place}", steps) for place, steps in enumerate(programs))
    return Scenario(Workload("w", "w", classes, connections=16, cpus=cpus, seed=3), machine or Machine())


def loaded(shape: str, share: float, *programs: tuple[Step, ...], cpus: int = 4, of_default: bool = False) -> Scenario:
    load = LightLoad(shape, share, of_default)  # type: ignore[arg-type]
    return load.on(scenario(*programs, cpus=cpus), np.random.default_rng(1))


def window(of: Scenario, pool_tuple: PoolTuple | None = None) -> Window:
    in_force = pool_tuple or PoolTuple(of.workload.cpus, 3, 500)
    return measure_all([of.open()], [in_force], SimulatedMeasurement(requests=4000))[0]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("shape", ["pauses", "sleepers"])
def test_processors_are_busy_to_the_share(shape: str, share: float) -> None:
    seen = window(loaded(shape, share, PROGRAMS["processors"])).profile.features
    assert seen["utilisation"] == pytest.approx(share, rel=0.15)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("share", [0.05, 0.2])
def test_a_light_load_is_worth_the_same_whatever_the_pool(program: str, share: float) -> None:
    of = loaded("pauses", share, PROGRAMS[program])
    tuples = [PoolTuple(4, 3, 500), PoolTuple(4, 3, 10), PoolTuple(16, 3, 500), PoolTuple(64, 1, 500)]
    values = [np.log(of.objective.worth_per_s(window(of, one))) for one in tuples]
    assert max(values) - min(values) < 0.03


def test_what_a_latch_or_a_wait_bounds_is_a_share_of_that() -> None:
    of = loaded("pauses", 0.5, PROGRAMS["latch"], cpus=16)
    seen = window(of)
    assert seen.throughput_per_s * LATCH["hold_us"] / 1e6 == pytest.approx(0.5, rel=0.15)
    assert (seen.profile.features["utilisation"] or 0.0) < 0.1


def test_where_waits_are_not_told_the_share_is_of_the_best_pool_not_of_this_one() -> None:
    of = loaded("pauses", 0.5, (cpu_step(200.0), silent_step(5000.0)))
    best, small = window(of, PoolTuple(128, 3, 10)), window(of, PoolTuple(4, 1, 500))
    assert best.throughput_per_s > 3 * small.throughput_per_s


def test_a_light_share_of_what_the_default_gives_leaves_nothing_to_gain_though_waits_are_not_told() -> None:
    of = loaded("pauses", 0.2, (cpu_step(200.0), silent_step(5000.0)), of_default=True)
    best, small = window(of, PoolTuple(128, 3, 10)), window(of)
    assert best.throughput_per_s == pytest.approx(small.throughput_per_s, rel=0.02)
    told = loaded("pauses", 0.2, PROGRAMS["processors"], of_default=True)
    assert told == loaded("pauses", 0.2, PROGRAMS["processors"]), "where processors bound both, the two are one"


def test_sleepers_are_connected_and_send_nothing() -> None:
    of = loaded("sleepers", 0.2, PROGRAMS["processors"])
    (change,) = of.changes
    assert change.connections is not None
    assert of.workload.connections >= 2 * change.connections
    assert window(of).profile.features["connections"] == of.workload.connections


def test_bursts_last_two_seconds_of_ten_and_windows_hold_whole_ones() -> None:
    of = loaded("bursts", 0.5, PROGRAMS["processors"])
    assert of.cycle_s % 10.0 == 0.0
    server = of.open()
    per_s = [observe(server, 1.0).window.throughput_per_s for _ in range(20)]
    burst, calm = np.mean([per_s[0], per_s[1], per_s[10], per_s[11]]), np.mean(per_s[4:9] + per_s[14:19])
    assert burst / calm == pytest.approx(CALM_FACTOR, rel=0.35)
    mean = 0.5 * (BURST_PART + (1 - BURST_PART) / CALM_FACTOR)
    assert window(of).profile.features["utilisation"] == pytest.approx(mean, rel=0.2)


def test_a_machine_too_large_for_the_connections_is_asked_for_a_share_of_what_they_can_send() -> None:
    of = loaded("pauses", 0.8, (cpu_step(100.0), reported_step(400_000.0)), cpus=128)
    assert of.workload.connections == MOST_CONNECTIONS
    demand = Demand(of.workload.classes, of.machine, 128)
    alone_ms, think_ms = demand.alone_ms(), of.workload.classes[0].think_ms
    assert alone_ms / (alone_ms + think_ms) == pytest.approx(0.8)


def test_every_class_has_a_connection_also_where_little_is_asked_for() -> None:
    of = loaded("pauses", 0.05, (cpu_step(50_000.0),), (cpu_step(60_000.0),), (silent_step(100.0),), cpus=1)
    assert of.workload.connections >= 3
    demand = Demand(of.workload.classes, of.machine, 1)
    share = of.workload.connections * demand.busy_share(of.workload.classes[0].think_ms)
    assert share == pytest.approx(0.05, rel=0.3)


def test_a_row_is_held_until_the_commit_and_its_flush() -> None:
    row = (Step("begin"), cpu_step(5.0), Step("acquire", spread=3), cpu_step(7.0), Step("commit"), cpu_step(9.0))
    assert held_us(row, flush_us=100.0) == {(0, 3): 107.0}
    assert held_us(latched(LATCH, 2, inside=(reported_step(30.0),))) == {(2, 1): 230.0}


@pytest.mark.parametrize("number", range(40))
def test_pauses_do_not_make_another_workload_of_what_is_held_out(number: int) -> None:
    classes = draw_pausing(np.random.default_rng([5, number]))
    assert not is_held_out(composition(classes))
    assert not is_held_out(composition(pausing(classes, 0.0)))
    apart = draw_pausing(np.random.default_rng([5, number]), to_choose_by=True)
    assert is_held_out(composition(apart))
    assert chooses(composition(pausing(apart, 0.0)))
