"""Simulated workloads that rivals are held against, simulated where it is wanted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, measure_all
from poolpilot.env.workloads.composition import composition
from poolpilot.env.workloads.simulated_families import SIMULATED_FAMILIES, draw_scenario
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.native_pool.workload import Workload
from rivals.drawn_workloads import drawn

MACHINES = (3, 6, 12, 24, 48, 96)
"""Processors; the curves draw theirs from 1 to 128, and those with as many as a scenario are left out for it."""

SHOWN, CHECKED, JUDGED, AGAIN = range(4)
"""What windows are for: what methods see; what the reference is found by besides; what choices are judged by; again."""

SEED = 30_000
"""Seed of the workloads. That of the curves is 0; on workloads of 20,000 the settings of the bandit were chosen."""


@dataclass(frozen=True)
class RivalScenario:
    """One workload on one machine.

    Attributes:
        name: Its name.
        kind: `compositions` (drawn as workload files are) or `families` (of the simulated families).
        family: What intervals are clustered by, and what is held out.
        scenario: The workload with its machine.
    """

    name: str
    kind: str
    family: str
    scenario: Scenario

    @property
    def composition(self) -> str:
        """What it is composed of."""
        return composition(self.scenario.workload.classes)

    @property
    def held_out_cpus(self) -> int:
        """Processors; every machine with as many is held out."""
        return self.scenario.workload.cpus


def scenarios_of(compositions: int, machines: int, seed: int = SEED) -> list[RivalScenario]:
    """All scenarios, family by family and machine by machine, since fitting to what is left without each is dear.

    Args:
        compositions: Workloads with compositions of their own on each size of machine.
        machines: Sizes of machine for each simulated family, evenly through `MACHINES`; 0 leaves families out.
        seed: Seed of the workloads.
    """
    numbers = [step * len(MACHINES) + place for place in range(len(MACHINES)) for step in range(compositions)]
    found = [_composed(number, seed) for number in numbers]
    for place, name in enumerate(SIMULATED_FAMILIES):
        sizes = [MACHINES[(place + step * len(MACHINES) // machines) % len(MACHINES)] for step in range(machines)]
        found += [_of_family(name, number, cpus, seed) for number, cpus in enumerate(sizes)]
    return found


def _composed(number: int, seed: int) -> RivalScenario:
    cpus = MACHINES[number % len(MACHINES)]
    values = drawn(np.random.default_rng([seed, number]), cpus, number)
    name = f"composed-{number}-{cpus}cpus"
    workload = Workload.from_dict({"name": name, "family": name, **values})
    return RivalScenario(name, "compositions", composition(workload.classes), Scenario(workload, CALIBRATED))


def _of_family(name: str, number: int, cpus: int, seed: int) -> RivalScenario:
    family = SIMULATED_FAMILIES[name]
    placed = replace(family, populate=lambda rng: replace(family.populate(rng), cpus=cpus))
    scenario = draw_scenario(placed, seed, number)
    return RivalScenario(f"{name}-{number}-{cpus}cpus", "families", name, scenario)


@dataclass
class ScenarioWindows:
    """Windows of a scenario, each of a fresh pool and simulated when it is first wanted.

    Attributes:
        scenario: The scenario.
        measurement: How long is simulated.
    """

    scenario: Scenario
    measurement: SimulatedMeasurement
    _known: dict[tuple[int, PoolTuple], Window] = field(default_factory=dict)

    @property
    def limits(self) -> KnobSpace:
        """The knobs of the server."""
        return KnobSpace.stock(self.scenario.workload.cpus, self.scenario.max_pool_size)

    @property
    def objective(self) -> Objective:
        """What counts."""
        return self.scenario.objective

    def of(self, purpose: int, tuples: Sequence[PoolTuple]) -> Mapping[PoolTuple, Window]:
        """One window of each tuple for a purpose; windows of other purposes are of other random seeds."""
        missing = [one for one in dict.fromkeys(tuples) if (purpose, one) not in self._known]
        workload = self.scenario.workload
        seeded = replace(self.scenario, workload=replace(workload, seed=workload.seed + 7919 * purpose))
        windows = measure_all([seeded.open() for _ in missing], missing, self.measurement) if missing else []
        self._known |= {(purpose, one): window for one, window in zip(missing, windows, strict=True)}
        return {one: self._known[purpose, one] for one in tuples}

    def shown(self, tuples: Sequence[PoolTuple]) -> Mapping[PoolTuple, Window]:
        """The windows that methods see."""
        return self.of(SHOWN, tuples)
