"""What is held out, how often methods try, and the seeds of searches, which are others on every workload."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from experiments.simulated_rivals import Plan, choices, compositions_in, search_seeds, unknown
from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.servers.simulated_measurement import SimulatedMeasurement
from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.models.champion import load_any_machine
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.pipelines.collect.workload_record import workload_row
from poolpilot.pipelines.store.records import StagingStore
from rivals.knowledge import Known
from rivals.methods import NUMBERS
from rivals.networks import RivalNetworks
from rivals.scenarios import MACHINES, ScenarioWindows, scenarios_of


@pytest.fixture
def few() -> ResponseCurves:
    """Some of the curves that ship."""
    shipped = load_curves()
    return ResponseCurves(grid=shipped.grid, source=shipped.source, curves=shipped.curves[:40:10])


def test_seeds_of_searches_differ_from_workload_to_workload() -> None:
    first, second = search_seeds("composed-0-3cpus", 5), search_seeds("composed-1-6cpus", 5)
    assert len({*first, *second}) == 10
    assert first == search_seeds("composed-0-3cpus", 5)


def test_rows_are_kept_by_what_methods_know_how_often_they_try_and_who_takes_part() -> None:
    under = Plan(compositions=1, machines=0).under()
    assert under == {"curves": load_curves().digest, "trials": [1, 2, 3, 5], "networks": {}}


def test_the_machine_of_a_scenario_is_held_out_and_scenarios_come_machine_by_machine() -> None:
    composed = scenarios_of(2, 0)
    assert all(one.held_out_cpus == one.scenario.workload.cpus for one in composed)
    assert [cpus for cpus, _ in groupby(one.held_out_cpus for one in composed)] == list(MACHINES)
    assert {one.name for one in composed} == set(_names(12))


def test_methods_that_try_do_so_as_often_as_a_warm_start_and_what_ships_looks_once(few: ResponseCurves) -> None:
    windows = ScenarioWindows(scenarios_of(1, 0)[0].scenario, SimulatedMeasurement(requests=100))
    found = choices(windows, Known(few, None), RivalNetworks())
    names = {name.removesuffix("_5") for name in found if name.endswith("_5")}
    assert (
        names
        == {name.removesuffix("_1") for name in found if name.endswith("_1")}
        == {
            "latent_bandit",
            "portfolio",
            "refiner",
        }
    )
    assert (
        {name.rpartition("_")[2] for name in found if name.startswith("portfolio")}
        == {*map(str, NUMBERS)}
        == {"1", "2", "3", "5"}
    )
    assert found["advise"] == found["latent_advisor"]  # the network abstains on machines that it does not know


def test_networks_take_part_after_one_look_as_policies_and_probing(few: ResponseCurves) -> None:
    windows = ScenarioWindows(scenarios_of(1, 0)[0].scenario, SimulatedMeasurement(requests=100))
    found = choices(windows, Known(few, None), RivalNetworks({"ppo": load_any_machine()}))
    assert {name for name in found if name.startswith("ppo")} == {
        "ppo",
        "ppo_unguarded",
        *(f"ppo_{way}_{number}" for way in ("policy", "probing") for number in NUMBERS),
    }


def test_what_a_network_has_learned_from_is_not_asked_of_it(tmp_path: Path) -> None:
    scenarios = scenarios_of(3, 0)
    learned = scenarios[0]
    planned = PlannedWorkload("train", learned.scenario.workload)
    row = workload_row(planned, KnobSpace.stock(3), learned.scenario.objective, LARGE_GRID)
    StagingStore(tmp_path).workloads.append([row], "run")
    left = unknown(scenarios, compositions_in(tmp_path))
    assert learned not in left
    assert {one.composition for one in left} == {one.composition for one in scenarios} - {learned.composition}


def _names(number: int) -> Iterator[str]:
    return (f"composed-{place}-{MACHINES[place % len(MACHINES)]}cpus" for place in range(number))
