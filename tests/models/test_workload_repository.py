"""The repository finds the workload that looks most similar and knows what tuples did to its classes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.models.conftest import make_window

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.errors import ArtefactError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.workload_repository import WorkloadRepository

DEFAULT, LARGE = PoolTuple(2, 3, 500), PoolTuple(16, 3, 10)
PATH = Path("a/memory.json")
MakeWindow = Callable[..., Window]


def sweep(name: str, seed: int) -> WorkloadSweep:
    observed = [(number, make_window(seed, one)) for number in range(2) for one in (DEFAULT, LARGE)]
    limits = KnobSpace.stock(2)
    return WorkloadSweep.build(
        observed, workload_id=name, family=name, split="train", limits=limits, objective=Objective()
    )


@pytest.fixture
def repository() -> WorkloadRepository:
    return WorkloadRepository.of([sweep(f"workload-{seed}", seed) for seed in range(4)])


def test_window_of_a_remembered_workload_is_recognised_under_any_tuple(repository: WorkloadRepository) -> None:
    for seed in range(4):
        for pool_tuple in (DEFAULT, LARGE, PoolTuple(12, 3, 20)):
            similar = repository.nearest(make_window(seed, pool_tuple))
            assert similar.workload.name == f"workload-{seed}"
            assert similar.distance < 0.1


def test_nearest_measured_tuple_tells_what_became_of_the_classes(repository: WorkloadRepository) -> None:
    remembered = repository.workloads[1]
    assert remembered.under((14, 3, 12)).core == LARGE.core
    assert remembered.under((1, 1, 500)).core == DEFAULT.core
    assert remembered.under(DEFAULT.core).per_s["read"] == pytest.approx(
        make_window(1, DEFAULT).classes["read"].throughput_per_s, abs=0.1
    )


def test_repository_survives_its_file(repository: WorkloadRepository) -> None:
    assert WorkloadRepository.from_json(repository.as_json().encode(), PATH) == repository


@pytest.mark.parametrize(
    "text", ["", '{"workloads": []}', '{"workloads": [{"name": "a", "family": "b", "tuples": [{}]}]}']
)
def test_what_is_no_memory_is_refused_by_its_path(text: str) -> None:
    with pytest.raises(ArtefactError, match=r"a/memory\.json is no repository"):
        WorkloadRepository.from_json(text.encode(), PATH)


def test_repository_of_another_schema_is_refused(repository: WorkloadRepository) -> None:
    shorter = repository.workloads[0].tuples[0].model_copy(update={"features": (0.5,)})
    changed = repository.workloads[0].model_copy(update={"tuples": (shorter,)})
    with pytest.raises(ArtefactError, match="another feature schema"):
        WorkloadRepository.from_json(WorkloadRepository(workloads=(changed,)).as_json().encode(), PATH)
