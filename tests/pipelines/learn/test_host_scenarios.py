"""The scenarios of a machine are of that machine, the same for the same number, and nothing learned is judged on."""

import pytest

from poolpilot.env.workloads.composition import KNOWN_OVERLAPS, composition, overlaps
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.pipelines.learn.host_scenarios import HostScenarios

MACHINE = CALIBRATED.model_copy(update={"overhead_us": 77.0})


@pytest.mark.parametrize("cpus", [1, 2, 16])
def test_they_are_of_the_machine(cpus: int) -> None:
    scenarios = HostScenarios(cpus, MACHINE, seed=3)
    drawn = [scenarios.planned(number) for number in range(69)]
    assert {scenario.workload.cpus for _, scenario in drawn} == {cpus}
    assert {scenario.machine.overhead_us for _, scenario in drawn} == {77.0}
    assert len({planned.workload.name for planned, _ in drawn}) == 69
    assert sum(planned.split == "validation" for planned, _ in drawn) == 23
    assert len({planned.workload.family for planned, _ in drawn}) == 23 + 7
    assert drawn == [HostScenarios(cpus, MACHINE, seed=3).planned(number) for number in range(69)]


def test_what_is_judged_on_was_not_learned_from() -> None:
    scenarios = HostScenarios(2, MACHINE, seed=3)
    drawn = [scenarios.planned(number) for number in range(300)]
    found = [(planned.split, planned.workload.family, composition(planned.workload.classes)) for planned, _ in drawn]
    shared = [overlap for overlap in overlaps(found) if not overlap.is_known]
    assert shared == [], f"beside {', '.join(KNOWN_OVERLAPS)}"
