"""Pools as suites: every controller climbs, the same seed gives the same run, sizes between are interpolated."""

import math
from collections.abc import Mapping
from typing import ClassVar

import pytest

from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.server import PoolServer
from poolpilot.env.servers.curve import CurveServer
from poolpilot.pipelines.bench.climbing.server_suite import OBJECTIVE, SIZES, NativeSuite, SimulatedSuite
from poolpilot.pipelines.bench.climbing.suite import Task

POINTS = ((1, 100.0), (8, 700.0), (16, 900.0), (64, 600.0), (128, 300.0))

CLIMB = ClimbSettings(period_s=0.1)
SIMULATED = SimulatedSuite(("spectral", "wait_ratio", "usl", "nearest"), ("sim_hot_latch",), ("default",), 1, 40, CLIMB)


class Timed(CurveServer):
    """Keeps the lengths of what it was asked to serve."""

    def __init__(self) -> None:
        super().__init__(POINTS, cpus=3)
        self.lengths_s: list[float] = []

    def run_for(self, seconds: float) -> None:
        self.lengths_s.append(seconds)
        super().run_for(seconds)


class OnCurve(NativeSuite):
    """Curves in place of live pools, all of which are kept."""

    opened: ClassVar[list[Timed]] = []

    def open(self, family: str, seed: int) -> PoolServer:  # noqa: ARG002
        self.opened.append(Timed())
        return self.opened[-1]


class Known(OnCurve):
    """A curve whose throughputs are told at three sizes."""

    def throughputs(self, family: str, seed: int) -> Mapping[int, float]:  # noqa: ARG002
        return {1: 100.0, 4: 300.0, 16: 200.0}


def test_every_controller_climbs_a_simulated_pool_and_does_the_same_twice() -> None:
    tasks = SIMULATED.tasks()
    assert [task.controller for task in tasks] == list(SIMULATED.names)
    scores = [SIMULATED.run(task) for task in tasks]
    for found in scores:
        assert 0.0 <= found.objective_lost < 1.0
        assert 0.0 <= found.end_lost < 1.0
        assert math.isfinite(found.size_over_smallest)
    assert len(set(scores)) == len(scores)
    assert [SIMULATED.run(task) for task in tasks] == scores


def test_search_that_remembers_other_draws_differs_from_one_that_does_not() -> None:
    suite = SimulatedSuite(("bayesian", "ottertune"), ("sim_hot_latch",), ("default",), 1, 20, CLIMB)
    without, remembering = (suite.run(task) for task in suite.tasks())
    assert 0.0 <= remembering.objective_lost < 1.0
    assert remembering != without


def test_draws_of_a_family_are_other_workloads() -> None:
    first, second = (SIMULATED.landscape("sim_hot_latch", seed) for seed in (1, 2))
    assert first.scale == second.scale == 128
    assert first.throughputs_per_s.tolist() != second.throughputs_per_s.tolist()


def test_tasks_are_every_start_draw_and_controller() -> None:
    suite = Known(("dotnet", "usl"), ("one", "two"), ("default", "largest"), 3, 10, CLIMB)
    tasks = suite.tasks()
    assert len(set(tasks)) == len(tasks) == 2 * 2 * 3 * 2
    assert [task.controller for task in tasks[:2]] == ["dotnet", "usl"]
    assert {task.seed for task in tasks} == {1, 2, 3}
    assert suite.describe(tasks[-1].cell) == {"family": "two", "start": "largest"}


def test_sizes_that_are_not_measured_are_interpolated_in_their_logarithm() -> None:
    landscape = Known((), (), (), 1, 10, CLIMB).landscape("any", 1)
    assert landscape.scale == 16
    assert landscape.price_of_thread == OBJECTIVE.price_of_thread
    assert landscape.throughputs_per_s[[0, 1, 3, 7, 15]] == pytest.approx([100.0, 200.0, 300.0, 250.0, 200.0])


@pytest.mark.parametrize(("start", "size"), [("default", 3), ("one", 1), ("largest", 128)])
def test_run_begins_where_its_cell_says(start: str, size: int) -> None:
    suite = OnCurve(("dotnet",), ("any",), (start,), 1, 1, CLIMB)
    found = suite.run(Task("dotnet", f"any, from {start}", 1))
    assert found.objective_lost == pytest.approx(suite.landscape("any", 1).regrets[size - 1])


@pytest.mark.parametrize("controller", ["spectral", "article", "dotnet", "random", "little", "bayesian"])
def test_all_see_the_same_windows_whatever_a_controller_wants(controller: str) -> None:
    wanting_longer = ClimbSettings(period_s=0.1, longest_period_s=2.0)
    suite = OnCurve((controller,), ("any",), ("default",), 1, 20, wanting_longer)
    suite.run(Task(controller, "any, from default", 1))
    assert suite.opened[-1].lengths_s == [0.1] * 20


def test_throughput_of_a_live_pool_is_the_mean_of_its_sweeps() -> None:
    server = CurveServer(POINTS)
    found = OnCurve((), (), (), 1, 10, CLIMB).throughputs("any", 1)
    assert list(found) == list(SIZES)
    default = server.tuple_in_force()
    expected = {size: server.throughput_per_s(default.with_core((size, 3, 500))) for size in SIZES}
    assert found == pytest.approx(expected, rel=0.02)
