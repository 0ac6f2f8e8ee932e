"""The scenarios of a machine are of that machine, the same for the same number, and nothing learned is judged on."""

import pytest

from poolpilot.env.workloads.composition import KNOWN_OVERLAPS, composition, overlaps
from poolpilot.env.workloads.demand import Demand
from poolpilot.env.workloads.light_load import SHARES
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
    assert len({planned.workload.family for planned, _ in drawn}) == 23 + 15 + 7
    assert drawn == [HostScenarios(cpus, MACHINE, seed=3).planned(number) for number in range(69)]


def test_every_third_of_either_split_is_lightly_loaded_by_what_work_costs_here() -> None:
    drawn = [HostScenarios(4, MACHINE, seed=3).planned(number) for number in range(108)]
    for split, number in (("train", 72), ("validation", 36)):
        workloads = [planned.workload for planned, _ in drawn if planned.split == split]
        light = [one for one in workloads if "load_share" in one.parameters]
        assert (len(workloads), len(light)) == (number, number // 3)
        assert {one.parameters["load_share"] for one in light} == set(SHARES)
    planned, scenario = next(one for one in drawn if one[0].workload.family == "sim_sleepers_20")
    demand = Demand(planned.workload.classes, MACHINE, 4)
    sending = scenario.changes[0].connections
    assert sending is not None
    share = sending * demand.busy_share(planned.workload.classes[0].think_ms)
    assert share == pytest.approx(0.2)


def test_what_is_judged_on_was_not_learned_from() -> None:
    scenarios = HostScenarios(2, MACHINE, seed=3)
    drawn = [scenarios.planned(number) for number in range(300)]
    found = [(planned.split, planned.workload.family, composition(planned.workload.classes)) for planned, _ in drawn]
    shared = [overlap for overlap in overlaps(found) if not overlap.is_known]
    assert shared == [], f"beside {', '.join(KNOWN_OVERLAPS)}"
