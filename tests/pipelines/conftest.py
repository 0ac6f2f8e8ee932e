"""Planned workloads on curves instead of live pools: a whole collection takes a second."""

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tests.mlflow_tables import copied_tables

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.env.workloads.family import Split
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.collect.collect import Staging, collect
from poolpilot.pipelines.collect.collect_settings import CollectSettings

GRID = ActionGrid(sizes=(1, 2, 4, 8, 16, 32), oversubscribes=(1, 3), timer_intervals_ms=(10, 500))

PEAKS = {"small": 3.0, "large": 24.0, "held_out": 20.0, "unseen": 4.0, "also_unseen": 16.0}
"""Pool size at which a family's throughput peaks, before each workload shifts it a little."""

SPLITS: dict[str, Split] = {
    "small": "train",
    "large": "train",
    "held_out": "validation",
    "unseen": "test",
    "also_unseen": "test",
}

WAITS: dict[str, tuple[Step, ...]] = {
    "small": (),
    "large": (Step("wait", us=50.0),),
    "held_out": (Step("wait", us=50.0, reported=True),),
    "unseen": 2 * (Step("wait", us=50.0),),
    "also_unseen": 2 * (Step("wait", us=50.0, reported=True),),
}
"""What a family does besides computing: no two are of one composition."""


@pytest.fixture(scope="session", autouse=True)
def _tables_of_mlflow_are_copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with copied_tables(tmp_path_factory.mktemp("mlflow-tables")):
        yield


class ProfiledCurveServer(CurveServer):
    """A curve that also counts CPU time, so that the profile tells workloads apart."""

    def __init__(self, workload: Workload) -> None:
        sizes = np.array([1, 2, 4, 8, 16, 32, 64, 128])
        rates = 4000.0 * np.exp(-0.2 * np.square(np.log2(sizes / workload.parameters["peak"])))
        tables = {
            (oversubscribe, timer_ms): [
                (float(size), float(rate * (1.0 - 0.05 * (oversubscribe > 1) - 0.02 * (timer_ms > 10))))
                for size, rate in zip(sizes, rates, strict=True)
            ]
            for oversubscribe in GRID.oversubscribes
            for timer_ms in GRID.timer_intervals_ms
        }
        super().__init__(tables, noise=0.01, seed=workload.seed, cpus=workload.cpus, connections=workload.connections)
        self._cpu_us = workload.classes[0].steps[0].us

    def snapshot(self) -> Snapshot:
        seen = super().snapshot()
        counters = {**seen.counters, "process_cpu_us": seen.counters["completed"] * self._cpu_us}
        return replace(seen, counters=counters, server_kind="native")


class DoublingClimber:
    """Doubles the size until its range ends."""

    period_s = 0.0

    def __init__(self, largest: int) -> None:
        self._largest = largest

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
        assert min(throughput, duration_s) > 0.0
        assert in_system is None or in_system >= 0.0
        assert completed_per_s is None or completed_per_s > 0.0
        assert connections > 0
        assert latency_s > 0.0
        return min(2 * size, self._largest)


def _planned(family: str, number: int) -> PlannedWorkload:
    peak = PEAKS[family] * 2.0 ** (0.3 * (number % 3 - 1))
    workload = Workload(
        name=f"{family}-{number}",
        family=family,
        classes=(RequestClass("all", (Step("cpu", us=100.0 * peak), *WAITS[family])),),
        connections=16 * (1 + number % 3),
        cpus=2,
        seed=number,
        parameters={"peak": peak},
    )
    return PlannedWorkload(SPLITS[family], workload)


def _new_climber(knobs: KnobSpace) -> DoublingClimber:
    return DoublingClimber(int(knobs.knobs["pool_size"].high))


@pytest.fixture
def planned() -> list[PlannedWorkload]:
    """Three workloads of each of five families."""
    return [_planned(family, number) for family in SPLITS for number in range(3)]


@pytest.fixture
def staging() -> Staging:
    """Curves, a simple climber and a grid of 24 tuples."""
    return Staging(open_server=ProfiledCurveServer, new_climber=_new_climber, grid=GRID)


def _quick(store: Path, **values: object) -> CollectSettings:
    quick = {
        "store": store,
        "racing": MeasurementSettings(
            window_s=1.0, window_ticks=0.0, keep_shares=(0.4,), finalists=3, final_repeats=2, oracle_repeats=2
        ),
        "random_share": 0.2,
        "climb_period_s": 0.5,
        "climb_horizon_s": 3.0,
    }

    return CollectSettings.load(None, {**quick, **values})


@pytest.fixture
def collect_settings(tmp_path: Path) -> Callable[..., CollectSettings]:
    """Settings of a quick collection into `tmp_path/records`; a workload takes 24 + 6 + 2, 8 and 6 windows."""
    return partial(_quick, tmp_path / "records")


@pytest.fixture(scope="session")
def recorded_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with three workloads of each family, to be read only."""
    settings = _quick(tmp_path_factory.mktemp("staging") / "records")
    workloads = [_planned(family, number) for family in SPLITS for number in range(3)]
    collect(settings, workloads, Staging(ProfiledCurveServer, _new_climber, GRID), Console(file=io.StringIO()))
    return settings.store
