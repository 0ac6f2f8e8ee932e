"""Workload mapping: the stored workload whose metrics look alike is found, and what it knows is used."""

from collections.abc import Sequence

import numpy as np
import pytest

from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.agent.search.stored_workload import StoredWorkload, stored_workloads
from poolpilot.agent.search.workload_mapping import MappingSettings, WorkloadMapping
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

KNOBS = KnobSpace.stock(2)
SPACE = SearchSpace.of(
    KNOBS, ["pool_size", "timer_interval_ms"], {"timer_interval_ms": (10, 500)}, KNOBS.default_tuple()
)


@pytest.fixture(scope="module")
def stored(
    training: Sequence[WorkloadSweep], waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep
) -> list[StoredWorkload]:
    return stored_workloads([*training[:6], waiting_sweep, contended_sweep], SPACE, Objective())


def part_of(workload: StoredWorkload, rows: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    places = list(rows)
    return workload.points[places], workload.metrics[places], workload.values[places]


@pytest.mark.parametrize("name", ["waiting", "contended"])
@pytest.mark.parametrize("rows", [(3,), (0, 5, 9)])
def test_records_map_to_the_workload_they_came_from(
    stored: list[StoredWorkload], name: str, rows: Sequence[int]
) -> None:
    workload = next(workload for workload in stored if workload.workload_id == name)
    points, metrics, _ = part_of(workload, rows)
    nearest = WorkloadMapping(stored).nearest(points, metrics)
    assert nearest is not None
    assert nearest.workload_id == name


def test_points_never_stored_map_to_the_workload_that_has_their_neighbours(stored: list[StoredWorkload]) -> None:
    waiting = stored[-2]
    rest = StoredWorkload("waiting", *part_of(waiting, range(0, 12, 2)))
    points, metrics, _ = part_of(waiting, [3, 7])
    nearest = WorkloadMapping([rest, stored[-1]]).nearest(points, metrics)
    assert nearest is rest


def test_own_observations_take_precedence_at_equal_points(stored: list[StoredWorkload]) -> None:
    waiting = stored[-2]
    points, metrics, values = part_of(waiting, [0, 4])
    joined_points, joined_values = WorkloadMapping([waiting]).joined(points, metrics, values)
    assert len(np.unique(joined_points, axis=0)) == len(joined_points) == len(waiting.points)
    np.testing.assert_array_equal(joined_points[:2], points)
    np.testing.assert_array_equal(joined_values[:2], values)


def test_values_of_a_faster_machine_are_brought_to_the_level_of_this_one(stored: list[StoredWorkload]) -> None:
    waiting = stored[-2]
    faster = StoredWorkload("faster", waiting.points, waiting.metrics, waiting.values + 2.0)
    points, metrics, values = part_of(waiting, [0, 4, 8])
    joined_points, joined_values = WorkloadMapping([faster]).joined(points, metrics, values)
    expected = {tuple(point): value for point, value in zip(waiting.points, waiting.values, strict=True)}
    shown = [expected[tuple(point)] for point in joined_points]
    np.testing.assert_allclose(joined_values, shown, atol=0.1)


def test_metrics_are_compared_by_their_rank() -> None:
    points = np.array([[0.1, 0.25], [0.9, 0.25]])
    small, large = np.array([[1.0], [2.0]]), np.array([[1e6], [2e6]])
    stored = [StoredWorkload("small", points, small, np.zeros(2)), StoredWorkload("large", points, large, np.zeros(2))]
    mapping = WorkloadMapping(stored, MappingSettings(bins=4, ridge=1e-9))
    np.testing.assert_allclose(mapping.distances(points, small), [0.0, np.hypot(2.0, 2.0)], atol=1e-3)


def test_workload_without_a_shared_metric_teaches_nothing() -> None:
    points = np.array([[0.1, 0.25], [0.9, 0.25]])
    stored = StoredWorkload("other", points, np.array([[1.0, np.nan]] * 2), np.zeros(2))
    metrics, values = np.array([[np.nan, 1.0]]), np.array([7.0])
    mapping = WorkloadMapping([stored])
    assert mapping.nearest(points[:1], metrics) is None
    joined_points, joined_values = mapping.joined(points[:1], metrics, values)
    assert (len(joined_points), joined_values.tolist()) == (1, [7.0])


def test_sweep_enters_the_space_by_the_tuples_that_differ_only_in_what_varies(waiting_sweep: WorkloadSweep) -> None:
    sizes = SearchSpace.of(KNOBS, ["pool_size"], None, PoolTuple(2, 3, 10))
    stored = StoredWorkload.of(waiting_sweep, sizes, Objective())
    expected = [waiting_sweep.entries[(size, 3, 10)].value for size in (1, 2, 4, 8, 16, 32)]
    np.testing.assert_allclose(stored.values, expected)
    elsewhere = SearchSpace.of(KNOBS, ["pool_size"], None, PoolTuple(2, 9, 77))
    assert len(StoredWorkload.of(waiting_sweep, elsewhere, Objective()).points) == 6


def test_target_decides_the_stored_values(waiting_sweep: WorkloadSweep) -> None:
    latency = StoredWorkload.of(waiting_sweep, SPACE, Objective(), "latency").values
    throughput = StoredWorkload.of(waiting_sweep, SPACE, Objective(), "throughput").values
    np.testing.assert_allclose(latency - throughput, -np.log(128.0), atol=0.05)


def test_mapping_needs_workloads_of_one_space(stored: list[StoredWorkload]) -> None:
    with pytest.raises(SettingError, match="no stored workload"):
        WorkloadMapping([])
    flat = StoredWorkload("flat", stored[0].points[:, :1], stored[0].metrics, stored[0].values)
    with pytest.raises(SettingError, match="one space"):
        WorkloadMapping([stored[0], flat])
    with pytest.raises(SettingError, match="each of its configurations"):
        StoredWorkload("short", stored[0].points, stored[0].metrics, stored[0].values[:1])


def test_tuples_that_cannot_be_asked_for_are_left_out_and_none_is_an_error(waiting_sweep: WorkloadSweep) -> None:
    choices = {"pool_size": (2, 4), "timer_interval_ms": (10, 500)}
    names = list(choices)
    narrow = SearchSpace.of(KNOBS, names, choices, KNOBS.default_tuple())
    stored = StoredWorkload.of(waiting_sweep, narrow, Objective())
    assert sorted(narrow.decode(point).core for point in stored.points) == [
        (size, 3, timer_ms) for size in (2, 4) for timer_ms in (10, 500)
    ]
    elsewhere = SearchSpace.of(KNOBS, names, {**choices, "pool_size": (5, 7)}, KNOBS.default_tuple())
    with pytest.raises(SettingError, match="under no configuration that this search may try"):
        StoredWorkload.of(waiting_sweep, elsewhere, Objective())
