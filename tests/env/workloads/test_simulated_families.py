"""Every family of simulated workloads draws scenarios that run, repeatably and in variety."""

import pytest

from poolpilot.env.workloads.families import FAMILIES
from poolpilot.env.workloads.light_families import LIGHT_CHOOSING_FAMILIES, LIGHT_FAMILIES
from poolpilot.env.workloads.simulated_families import SIMULATED_FAMILIES, draw_scenario

EVERY = {**SIMULATED_FAMILIES, **LIGHT_FAMILIES, **LIGHT_CHOOSING_FAMILIES}


@pytest.mark.parametrize("name", EVERY)
def test_scenarios_run_and_answer(name: str) -> None:
    for number in range(5):
        scenario = draw_scenario(EVERY[name], seed=3, number=number)
        server = scenario.open()
        server.run_requests(300, most_s=30.0)
        counters = server.snapshot().counters
        assert counters["completed"] > 0.0
        assert counters["failed"] == 0.0


@pytest.mark.parametrize("name", EVERY)
def test_same_numbers_are_the_same_scenario_and_others_are_not(name: str) -> None:
    family = EVERY[name]
    first = draw_scenario(family, 1, 2)
    assert first == draw_scenario(family, 1, 2)
    assert first != draw_scenario(family, 1, 3)
    assert first != draw_scenario(family, 2, 2)


def test_there_are_at_least_ten_and_none_has_the_name_of_a_live_one() -> None:
    assert len(SIMULATED_FAMILIES) >= 10
    assert not EVERY.keys() & FAMILIES.keys()
    assert all(family.description for family in EVERY.values())


def test_machines_and_loads_span_what_nobody_here_has() -> None:
    drawn = [draw_scenario(family, 0, number) for family in SIMULATED_FAMILIES.values() for number in range(30)]
    cpus, connections = (
        [scenario.workload.cpus for scenario in drawn],
        [scenario.workload.connections for scenario in drawn],
    )
    assert min(cpus) <= 4
    assert max(cpus) >= 100
    assert min(connections) <= 4
    assert max(connections) >= 3000
