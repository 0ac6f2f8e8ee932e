"""Staging without servers: simulated pools on machines nobody here has."""

from collections.abc import Mapping

from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.server import PoolServer
from poolpilot.env.servers.simulated_measurement import Scenario
from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.env.workloads.simulated_families import SIMULATED_FAMILIES, draw_scenario
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.collect.collect import Staging
from poolpilot.pipelines.collect.collect_settings import CollectSettings


def planned_scenarios(settings: CollectSettings) -> list[Scenario]:
    """The scenarios of a collection, dealt evenly to the families; all of them are for training."""
    families = list(SIMULATED_FAMILIES.values())
    return [
        draw_scenario(families[index % len(families)], settings.seed, index // len(families))
        for index in range(settings.simulated.workloads)
    ]


def simulated_staging(settings: CollectSettings) -> tuple[list[PlannedWorkload], Staging]:
    """The workloads of a simulated collection, and what measures them."""
    scenarios = {one.workload.name: one for one in planned_scenarios(settings)}
    planned = [PlannedWorkload("train", one.workload) for one in scenarios.values()]
    server = _SimulatedStaging(scenarios)
    return planned, Staging(
        server.open, grid=LARGE_GRID, settings_for=server.settings_for, workers=settings.simulated.workers
    )


class _SimulatedStaging:
    def __init__(self, scenarios: Mapping[str, Scenario]) -> None:
        self.scenarios = scenarios

    def open(self, workload: Workload) -> PoolServer:
        return self.scenarios[workload.name].open()

    def settings_for(self, workload: Workload, settings: CollectSettings) -> CollectSettings:
        """Windows of a number of requests, or of a whole cycle where the load repeats itself."""
        cycle_s, simulated = self.scenarios[workload.name].cycle_s, settings.simulated
        measured = {
            "window_s": cycle_s or simulated.window_s,
            "window_requests": None if cycle_s else max(simulated.window_requests, 2 * workload.connections),
        }
        racing = settings.racing.model_copy(update=measured)
        return settings.model_copy(update={"racing": racing})
