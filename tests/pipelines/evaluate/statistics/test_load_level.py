"""A window of the default says whether a load is light, half or full; also where it is not the processors that are."""

import numpy as np
import pytest

from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, measure_all
from poolpilot.env.workloads.ingredients import cpu_step, reported_step, silent_step
from poolpilot.env.workloads.light_load import LightLoad, Shape
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.evaluate.statistics.load_level import load_level

CPU, TOLD = (cpu_step(1000.0),), (cpu_step(300.0), reported_step(4000.0))


def scenario(steps: tuple[Step, ...], cpus: int, connections: int = 64) -> Scenario:
    return Scenario(Workload("w", "w", (RequestClass("all", steps),), connections=connections, cpus=cpus, seed=5))


def default_window(of: Scenario) -> Window:
    default = PoolTuple(of.workload.cpus, 3, 500)
    return measure_all([of.open()], [default], SimulatedMeasurement(requests=3000))[0]


@pytest.mark.parametrize(("share", "level"), [(0.05, "light"), (0.2, "light"), (0.5, "half"), (0.8, "full")])
@pytest.mark.parametrize("shape", ["pauses", "sleepers"])
@pytest.mark.parametrize("cpus", [2, 16])
def test_levels_are_those_of_the_shares(share: float, level: str, shape: Shape, cpus: int) -> None:
    of = LightLoad(shape, share).on(scenario(CPU, cpus), np.random.default_rng(1))
    assert load_level([default_window(of)]) == level


@pytest.mark.parametrize("steps", [CPU, TOLD, (cpu_step(100.0), silent_step(9000.0))])
def test_a_closed_loop_without_pauses_is_full_also_where_processors_idle(steps: tuple[Step, ...]) -> None:
    assert load_level([default_window(scenario(steps, 4, connections=8))]) == "full"


def test_a_queue_is_a_full_load_also_where_others_pause() -> None:
    of = LightLoad("sleepers", 0.5).on(scenario((cpu_step(100.0), silent_step(9000.0)), 2), np.random.default_rng(1))
    window = default_window(of)
    assert (window.profile.features["utilisation"] or 0.0) < 0.35
    assert load_level([window]) == "full"


def test_nothing_is_said_of_windows_that_show_no_processors() -> None:
    assert load_level([]) is None
