"""Simulated workloads are in the store whole or not at all."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from poolpilot.errors import ServerError
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.pipelines.collect.workload_run import WorkloadRun
from poolpilot.pipelines.learn import simulated_collection
from poolpilot.pipelines.learn.host_scenarios import HostScenarios
from poolpilot.pipelines.learn.simulated_collection import SimulatedCollection


def test_workload_that_fails_half_way_is_not_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, it was taken over with the complete ones of its batch, and never measured again."""
    original, scenarios = WorkloadRun.run, HostScenarios(2, CALIBRATED, 1)
    failing = scenarios.planned(1)[0].workload.name

    def half(measured: WorkloadRun, already: Any) -> Any:
        swept = original(measured, already)
        if measured.sink.context.workload_id == failing:
            raise ServerError("it cannot go on")
        return swept

    monkeypatch.setattr(simulated_collection, "WINDOW_REQUESTS", 100)
    monkeypatch.setattr(WorkloadRun, "run", half)
    collection = SimulatedCollection(tmp_path / "simulated", scenarios, Console(file=io.StringIO()))
    assert collection.run(0, 600.0, 3) == collection.collected() == 2
    assert failing not in collection.store.workload_rows()
