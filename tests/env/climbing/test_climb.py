"""A climb moves the size as its climber says, and its trace tells what that cost."""

import math
from dataclasses import replace

import pytest

from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import TuningTrace, tune
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Snapshot

LINE = ((1, 100.0), (8, 800.0))
FREE = Objective(price_of_thread=0.0)


class Staircase:
    """Climbs by a fixed step up to an optimum and keeps what it was told."""

    def __init__(self, step: int, optimum: int) -> None:
        self.step = step
        self.optimum = optimum
        self.period_s = 0.0
        self.samples: list[tuple[float, float, float, int, float]] = []
        self.in_system: float | None = None
        self.completed_per_s: float | None = None

    def update(
        self,
        throughput: float,
        connections: float,
        latency_s: float,
        size: int,
        duration_s: float,
        in_system: float | None = None,
        completed_per_s: float | None = None,
    ) -> int:
        self.samples.append((throughput, connections, latency_s, size, duration_s))
        self.in_system = in_system
        self.completed_per_s = completed_per_s
        return min(size + self.step, self.optimum)


def climbed(climber: Staircase, start: PoolTuple, horizon_s: float = 8.0) -> TuningTrace:
    server = CurveServer(LINE, connections=40, initial=start)
    return tune(server, ClimbController(climber, start, FREE), FREE, period_s=1.0, horizon_s=horizon_s)


def test_size_moves_and_the_other_knobs_stay() -> None:
    trace = climbed(Staircase(3, 8), PoolTuple(1, 7, 20))
    assert [step.pool_tuple.core for step in trace.steps[:4]] == [(1, 7, 20), (4, 7, 20), (7, 7, 20), (8, 7, 20)]
    assert trace.final_tuple.core == (8, 7, 20)
    assert [step.end_s for step in trace.steps] == pytest.approx([float(second) for second in range(1, 9)])


def test_climber_hears_goodput_connections_latency_and_size() -> None:
    climber = Staircase(0, 2)
    climbed(climber, PoolTuple(2, 3, 500), horizon_s=1.0)
    throughput, connections, latency_s, size, duration_s = climber.samples[0]
    assert duration_s == pytest.approx(1.0)
    assert (connections, size) == (40, 2)
    assert throughput == pytest.approx(200.0)
    assert latency_s == pytest.approx(40 / 200.0, rel=0.04)
    assert climber.in_system == pytest.approx(40.0, rel=0.04)


def test_windows_are_as_long_as_the_climber_asks() -> None:
    climber = Staircase(0, 2)
    climber.period_s = 2.0
    assert [step.duration_s for step in climbed(climber, PoolTuple(2, 3, 500)).steps] == pytest.approx([2.0] * 4)


def test_losses_are_areas_over_time() -> None:
    trace = climbed(Staircase(4, 8), PoolTuple(4, 3, 500), horizon_s=4.0)
    assert trace.lost(800.0) == pytest.approx(400.0)
    assert trace.mean_regret(math.log(800.0)) == pytest.approx(0.5 / 4.0)
    assert trace.best_value == pytest.approx(math.log(800.0))


def test_proposal_out_of_range_is_refused() -> None:
    with pytest.raises(SettingError, match="pool_size is 1000"):
        climbed(Staircase(998, 1000), PoolTuple(2, 3, 500))


class Uncounted(CurveServer):
    """Does not say how many clients it has."""

    def snapshot(self) -> Snapshot:
        return replace(super().snapshot(), gauges={"cpus": 4.0})


def test_server_that_does_not_count_its_clients_is_refused_by_name() -> None:
    server, start = Uncounted(LINE), PoolTuple(2, 3, 500)
    controller = ClimbController(Staircase(1, 8), start, FREE)
    with pytest.raises(ServerError, match="lack the gauge 'connections'"):
        tune(server, controller, FREE, period_s=1.0, horizon_s=8.0)


class Scanning:
    """Asks for ever larger sizes, as a climber of ours does at first."""

    period_s = 0.0
    mode = "USUAL"

    def update(self, throughput: float, connections: float, latency_s: float, size: int, *_: float | None) -> int:
        assert min(throughput, connections, latency_s) > 0.0
        return 2 * size


def test_climb_that_is_cut_short_ends_on_the_best_that_it_has_seen() -> None:
    server = CurveServer([(1, 100.0), (4, 900.0), (16, 300.0), (64, 100.0)], initial=PoolTuple(1, 3, 500))
    climb = ClimbController(Scanning(), PoolTuple(1, 3, 500), FREE)
    trace = tune(server, climb, FREE, period_s=1.0, horizon_s=5.0)
    assert [step.pool_tuple.pool_size for step in trace.steps] == [1, 2, 4, 8, 16]
    assert climb.suggest().pool_tuple == PoolTuple(32, 3, 500)
    assert server.tuple_in_force().pool_size == 4


def test_climb_that_holds_ends_on_what_it_holds() -> None:
    climb = ClimbController(Scanning(), PoolTuple(1, 3, 500), FREE)
    server = CurveServer([(1, 100.0), (64, 100.0)], initial=PoolTuple(1, 3, 500))
    climb.climber.mode = "OPTIMIZED"  # type: ignore[attr-defined]
    tune(server, climb, FREE, period_s=1.0, horizon_s=3.0)
    assert server.tuple_in_force().pool_size == 8
