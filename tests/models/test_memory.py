"""The memory finds the workload that looks most alike and knows what tuples did to its classes."""

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
from poolpilot.models.memory import Memory

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
def memory() -> Memory:
    return Memory.of([sweep(f"workload-{seed}", seed) for seed in range(4)])


def test_window_of_a_remembered_workload_is_recognised_under_any_tuple(memory: Memory) -> None:
    for seed in range(4):
        for pool_tuple in (DEFAULT, LARGE, PoolTuple(12, 3, 20)):
            alike = memory.most_alike(make_window(seed, pool_tuple))
            assert alike.workload.name == f"workload-{seed}"
            assert alike.distance < 0.1


def test_nearest_measured_tuple_tells_what_became_of_the_classes(memory: Memory) -> None:
    remembered = memory.workloads[1]
    assert remembered.under((14, 3, 12)).core == LARGE.core
    assert remembered.under((1, 1, 500)).core == DEFAULT.core
    assert remembered.under(DEFAULT.core).per_s["read"] == pytest.approx(
        make_window(1, DEFAULT).classes["read"].throughput_per_s, abs=0.1
    )


def test_memory_survives_its_file(memory: Memory) -> None:
    assert Memory.from_json(memory.as_json().encode(), PATH) == memory


@pytest.mark.parametrize(
    "text", ["", '{"workloads": []}', '{"workloads": [{"name": "a", "family": "b", "tuples": [{}]}]}']
)
def test_what_is_no_memory_is_refused_by_its_path(text: str) -> None:
    with pytest.raises(ArtefactError, match=r"a/memory\.json is no memory"):
        Memory.from_json(text.encode(), PATH)


def test_memory_of_another_schema_is_refused(memory: Memory) -> None:
    shorter = memory.workloads[0].tuples[0].model_copy(update={"features": (0.5,)})
    changed = memory.workloads[0].model_copy(update={"tuples": (shorter,)})
    with pytest.raises(ArtefactError, match="another feature schema"):
        Memory.from_json(Memory(workloads=(changed,)).as_json().encode(), PATH)
