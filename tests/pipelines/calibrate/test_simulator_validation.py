"""A twin of a simulated server is the server itself: what a perfect calibration would say, and what a bad one."""

from dataclasses import replace

import numpy as np
import pytest

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.protocol import MeasurementSettings, sweep
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.native_pool.simulation import Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.calibrate.simulator_validation import MeasuredStage, MeasuredWorkload, Twin, simulate_twins

MACHINE = Machine(law="slices", overhead_us=30.0, timer_slack_us=50.0)
GRID = ActionGrid(sizes=(1, 4, 16), oversubscribes=(1, 3), timer_intervals_ms=(10,))


def measured(machine: Machine = MACHINE, repeats: int = 2) -> MeasuredWorkload:
    classes = (RequestClass("all", (Step("cpu", us=200.0, variation=0.5), Step("wait", us=2000.0, variation=0.5))),)
    workload = Workload("silent", "test", classes, connections=24, cpus=1, seed=5)
    settings = MeasurementSettings(window_s=3.0, keep_shares=(1.0,) * repeats, finalists=1, oracle_repeats=1)
    with SimulatedServer(workload, machine) as server:
        windows = sweep(server, GRID.tuples, Objective(), settings, np.random.default_rng(0))
        return MeasuredWorkload(
            workload, server.knobs, Objective(), [MeasuredStage(one.window, one.settle_s) for one in windows]
        )


@pytest.fixture(scope="module")
def perfect() -> Twin:
    (twin,) = simulate_twins([measured()], lambda _: MACHINE).twins
    return twin


def test_twin_on_its_own_machine_is_the_server_itself(perfect: Twin) -> None:
    assert len(perfect.log_ratios) == len(GRID)
    assert max(perfect.errors) < 1e-9
    apart, alike = perfect.pairs
    assert apart >= 5
    assert alike == apart
    assert perfect.regret == 0.0


def test_twin_on_another_machine_is_not() -> None:
    report = simulate_twins([measured()], lambda _: MACHINE.model_copy(update={"timer_slack_us": 2000.0}))
    assert report.summary()["error_median"] > 0.15
    assert report.loss > 0.15


def test_noise_is_that_of_the_repeats(perfect: Twin) -> None:
    assert perfect.noise > 0.0
    assert max(perfect.deviations) > 0.0
    alone = measured(repeats=1)
    unrepeated = replace(alone, stages=alone.stages[: len(GRID)])
    assert Twin(unrepeated, [stage.window for stage in unrepeated.stages]).noise == 0.0


def test_disturbed_stages_are_gone_through_but_not_compared(perfect: Twin) -> None:
    disturbed = perfect.measured.stages[0].core
    stages = [replace(one, counts=one.core != disturbed) for one in perfect.measured.stages]
    (twin,) = simulate_twins([replace(perfect.measured, stages=stages)], lambda _: MACHINE).twins
    assert disturbed not in twin.log_ratios
    assert len(twin.log_ratios) == len(GRID) - 1
    assert max(twin.errors) < 1e-9


def test_workload_without_a_stage_that_counts_is_left_out(perfect: Twin) -> None:
    stages = [replace(one, counts=False) for one in perfect.measured.stages]
    assert not simulate_twins([replace(perfect.measured, stages=stages)], lambda _: MACHINE).twins


def test_only_the_stages_asked_for_are_simulated() -> None:
    (twin,) = simulate_twins([measured()], lambda _: MACHINE, stages=1).twins
    assert list(twin.log_ratios) == [twin.choice]
