"""Scenarios of one's own machine: the simulated families on its processors, with the costs that were fitted to it.

Every third one is of a family that nothing learns from, for the judgement; the others are to learn from. Of either
every third is under light or half load.
"""

from dataclasses import dataclass, replace

import numpy as np

from poolpilot.env.servers.simulated_measurement import Scenario
from poolpilot.env.workloads.families import CONNECTIONS, FAMILIES, PlannedWorkload
from poolpilot.env.workloads.family import Family, Scale
from poolpilot.env.workloads.light_families import LIGHT_EVERY, LIGHT_FAMILIES, LOADS
from poolpilot.env.workloads.light_load import LightLoad
from poolpilot.env.workloads.simulated_families import SIMULATED_FAMILIES, SimulatedFamily, draw_scenario
from poolpilot.native_pool.simulation import Machine
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.calibrate.calibrate import FITTED

JUDGED_EVERY = 3
"""One scenario in so many is for the judgement."""

HELD_OUT = tuple(family for family in FAMILIES.values() if family.split == "validation")


@dataclass(frozen=True)
class HostScenarios:
    """The scenarios of a machine, by number; the same number gives the same scenario.

    Attributes:
        cpus: Processors of the machine.
        machine: What its work costs.
        seed: Seed of the whole.
    """

    cpus: int
    machine: Machine
    seed: int

    def planned(self, number: int) -> tuple[PlannedWorkload, Scenario]:
        """A scenario, and its workload with the split that it is for."""
        if number % JUDGED_EVERY == JUDGED_EVERY - 1:
            scenario = self._held_out(number // JUDGED_EVERY)
            return PlannedWorkload("validation", scenario.workload), scenario
        scenario = self._training(number - number // JUDGED_EVERY)
        return PlannedWorkload("train", scenario.workload), scenario

    def _training(self, place: int) -> Scenario:
        turn = place // LIGHT_EVERY
        light = _is_light(place)
        families = list((LIGHT_FAMILIES if light else SIMULATED_FAMILIES).values())
        number, index = divmod(turn if light else place - turn, len(families))
        family = families[index]
        drawn = draw_scenario(self._here(family), self.seed, number)
        costs = {name: getattr(self.machine, name) for name in FITTED} | {"law": self.machine.law}
        here = replace(drawn, machine=drawn.machine.model_copy(update=costs))
        return here if family.load is None else self._under(family.load, here)

    def _here(self, family: SimulatedFamily) -> SimulatedFamily:
        """The same family on the processors of this machine; its load follows once it is known what work costs."""
        return replace(family, populate=lambda rng: Scale(family.populate(rng).connections, self.cpus), load=None)

    def _held_out(self, place: int) -> Scenario:
        family, number = HELD_OUT[place % len(HELD_OUT)], place // len(HELD_OUT)
        scenario = Scenario(self._drawn(family, number), self.machine)
        return self._under(LOADS[place // LIGHT_EVERY % len(LOADS)], scenario) if _is_light(place) else scenario

    def _under(self, load: LightLoad, scenario: Scenario) -> Scenario:
        return load.on(scenario, np.random.default_rng([self.seed, scenario.workload.seed]))

    def _drawn(self, family: Family, number: int) -> Workload:
        rng = np.random.default_rng([self.seed, number, *family.name.encode()])
        scale = Scale(int(rng.choice(CONNECTIONS)) * max(self.cpus // 2, 1), self.cpus)
        classes, parameters = family.draw(rng, scale)
        return Workload(
            name=f"{family.name}-{self.cpus}-{self.seed}-{number}",
            family=family.name,
            classes=classes,
            connections=scale.connections,
            cpus=scale.cpus,
            seed=int(rng.integers(2**31)),
            parameters=parameters,
        )


def _is_light(place: int) -> bool:
    return place % LIGHT_EVERY == LIGHT_EVERY - 1
