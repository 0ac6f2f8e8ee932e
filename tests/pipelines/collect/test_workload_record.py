"""A sweep that somebody else measured is kept as a collection would have kept it, and once only."""

from pathlib import Path

import numpy as np
import pytest

from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.measurement.protocol import Measured, MeasurementSettings, sweep
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.lab.sysbench_families import named_workload
from poolpilot.pipelines.collect.workload_record import keep_sweep, shared_context, workload_row
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.store.records import StagingStore

SETTINGS = MeasurementSettings(settle_s=0.0, window_s=1.0, window_ticks=0.0, keep_shares=(0.5,), final_repeats=1)
PLANNED = PlannedWorkload("validation", named_workload("point_select-1-0"))
OBJECTIVE = PLANNED.workload.objective.model_copy(update={"min_share": {}})


@pytest.fixture
def swept() -> list[Measured]:
    server = CurveServer([(1, 100), (16, 1200), (64, 600)], cpus=2, noise=0.01, seed=1)
    default = server.tuple_in_force()
    tuples = [default.with_core(one.core) for one in DEFAULT_GRID.tuples if one.core[1:] == (3, 500)]
    return sweep(server, tuples, OBJECTIVE, SETTINGS, np.random.default_rng(0))


def kept(store: Path, swept: list[Measured]) -> None:
    server = CurveServer([(1, 100)], cpus=2)
    row = workload_row(PLANNED, server.knobs, OBJECTIVE, DEFAULT_GRID)
    keep_sweep(StagingStore(store), row, shared_context(PLANNED, "m", "mariadb", "run"), OBJECTIVE, swept)


def test_sweep_is_read_as_one_that_was_collected(tmp_path: Path, swept: list[Measured]) -> None:
    kept(tmp_path, swept)
    dataset = read_dataset(tmp_path, "validation")
    assert [one.workload_id for one in dataset.sweeps] == [PLANNED.workload.name]
    found = dataset.sweeps[0]
    assert found.oracle_tuple.core == (16, 3, 500)
    assert sum(len(entry.windows) for entry in found.entries.values()) + SETTINGS.oracle_repeats == len(swept)
    assert dataset.unfinished == ()


def test_workload_that_is_there_already_is_left_alone(tmp_path: Path, swept: list[Measured]) -> None:
    kept(tmp_path, swept)
    digest = StagingStore(tmp_path).digest
    kept(tmp_path, swept[:5])
    assert StagingStore(tmp_path).digest == digest
