"""Which records can be simulated, and which window a workload is rebuilt from."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.pipelines.calibrate.conftest import without_requests

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, measure_all
from poolpilot.env.workloads.observed_workload import observed_workload
from poolpilot.errors import StoreError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.simulation import CALIBRATED, Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.calibrate import measured_records
from poolpilot.pipelines.calibrate.measured_records import read_measured, rebuilt
from poolpilot.pipelines.calibrate.simulator_validation import MeasuredStage, MeasuredWorkload

ROOT = Path(__file__).parents[3]
SENT = Workload("sent", "test", (RequestClass("all", (Step("cpu", us=200.0),)),), connections=8, cpus=1, seed=5)
LIMITS = KnobSpace.stock(SENT.cpus)
DEFAULT = LIMITS.default_tuple()
OTHER = DEFAULT.with_core((8, 3, 10))


def window_under(pool_tuple: PoolTuple) -> Window:
    scenario = Scenario(SENT, CALIBRATED)
    (window,) = measure_all([scenario.open()], [pool_tuple], SimulatedMeasurement(requests=200))
    return window


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[Window]:
    """The windows that workloads are rebuilt from."""
    windows: list[Window] = []

    def noting(window: Window, *given: object) -> Workload:
        windows.append(window)
        return observed_workload(window, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(measured_records, "observed_workload", noting)
    return windows


def rebuilt_from(*stages: MeasuredStage) -> list[MeasuredWorkload]:
    def machine_for(workload: Workload) -> Machine:
        assert workload == SENT
        return CALIBRATED

    return rebuilt([MeasuredWorkload(SENT, LIMITS, Objective(), stages)], machine_for)


def test_first_window_under_the_default_that_counts_and_completes_is_taken(taken: list[Window]) -> None:
    default, other = window_under(DEFAULT), window_under(OTHER)
    good, later = replace(default, duration_s=2.0), replace(default, duration_s=3.0)
    stages = [
        MeasuredStage(other, 0.1),
        MeasuredStage(default, 0.1, counts=False),
        MeasuredStage(without_requests(default), 0.1),
        MeasuredStage(good, 0.1),
        MeasuredStage(later, 0.1),
    ]
    (found,) = rebuilt_from(*stages)
    assert taken == [good]
    assert (found.workload.name, found.workload.seed) == (SENT.name, SENT.seed)
    assert found.workload.classes != SENT.classes


def test_where_the_default_was_not_measured_another_window_is_taken(taken: list[Window]) -> None:
    other = window_under(OTHER)
    assert len(rebuilt_from(MeasuredStage(without_requests(other), 0.1), MeasuredStage(other, 0.1))) == 1
    assert taken == [other]


def test_workload_that_cannot_be_rebuilt_is_left_out(taken: list[Window]) -> None:
    default, other = window_under(DEFAULT), window_under(OTHER)
    without = without_requests(default)
    assert rebuilt_from(MeasuredStage(without, 0.1), MeasuredStage(other, 0.1)) == []
    assert taken == []
    lacking = replace(without, classes=default.classes)
    assert rebuilt_from(MeasuredStage(lacking, 0.1), MeasuredStage(other, 0.1)) == []
    assert taken == [lacking]


def test_records_of_mariadb_are_refused_by_name() -> None:
    with pytest.raises(StoreError, match="records of MariaDB hold no step programs to simulate; name a store of the"):
        read_measured(ROOT / "pipelines/mariadb", ("train",))
