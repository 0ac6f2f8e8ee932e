"""What measures a collection besides the embedded pool: simulated pools of machines nobody here has, and MariaDB.

On MariaDB each workload has a freshly started private server under sysbench.
"""

import subprocess
from collections.abc import Mapping

from poolpilot.env.action_grid import LARGE_GRID, ActionGrid
from poolpilot.env.measurement.load_cycles import whole_cycles_s
from poolpilot.env.measurement.protocol import MARIADB_RACING, MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.servers.simulated_measurement import Scenario
from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.env.workloads.family import Split
from poolpilot.env.workloads.light_families import (
    LIGHT_CHOOSING_FAMILIES,
    LIGHT_EVERY,
    LIGHT_FAMILIES,
    dealt,
    in_turns,
)
from poolpilot.env.workloads.simulated_families import CHOOSING_FAMILY, COMPOSED, SIMULATED_FAMILIES, draw_scenario
from poolpilot.lab.host.programs import program
from poolpilot.lab.lab_server import LabPlace, LabServer
from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.lab.sysbench_families import CPUS, FAMILIES, workload_set
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.collect.collect import Staging
from poolpilot.pipelines.collect.collect_settings import CollectSettings

TO_CHOOSE_BY = {CHOOSING_FAMILY.name: CHOOSING_FAMILY, **LIGHT_CHOOSING_FAMILIES}
"""Families of the validation split."""


def planned_scenarios(settings: CollectSettings) -> list[Scenario]:
    """The scenarios of a collection: dealt evenly to the families, then more of those composed, then to choose by.

    Every third of each is under light or half load.
    """
    asked = settings.simulated
    dealt_out, composed, apart = (
        (count - count // LIGHT_EVERY, count // LIGHT_EVERY)
        for count in (asked.workloads, asked.composed, asked.validation)
    )
    full = dealt(SIMULATED_FAMILIES.values(), dealt_out[0]) + dealt([SIMULATED_FAMILIES[COMPOSED]], composed[0])
    light = dealt(LIGHT_FAMILIES.values(), dealt_out[1] + composed[1])
    chosen_by = dealt([CHOOSING_FAMILY], apart[0]), dealt(LIGHT_CHOOSING_FAMILIES.values(), apart[1])
    planned = in_turns(list(dict.fromkeys(full)), light) + in_turns(*chosen_by)
    return [draw_scenario(family, settings.seed, number) for family, number in planned]


def simulated_staging(settings: CollectSettings) -> tuple[list[PlannedWorkload], Staging]:
    """The workloads of a simulated collection, and what measures them."""
    scenarios = {one.workload.name: one for one in planned_scenarios(settings)}
    workloads = [
        PlannedWorkload[Workload]("validation" if one.workload.family in TO_CHOOSE_BY else "train", one.workload)
        for one in scenarios.values()
    ]
    known = {**SIMULATED_FAMILIES, **LIGHT_FAMILIES, **TO_CHOOSE_BY}
    planned = settings.chosen([one for one in workloads if one.split in settings.splits], known)
    server = SimulatedStaging(scenarios)
    return planned, Staging(
        server.open, grid=LARGE_GRID, settings_for=server.settings_for, workers=settings.simulated.workers
    )


class SimulatedStaging:
    """Measures scenarios.

    Args:
        scenarios: The scenarios, by the names of their workloads.
    """

    def __init__(self, scenarios: Mapping[str, Scenario]) -> None:
        self.scenarios = scenarios

    def open(self, workload: Workload) -> PoolServer:
        """The server of a workload, all of whose connections send."""
        server = self.scenarios[workload.name].open()
        server.run_for(server.ramp_left_s)
        return server

    def settings_for(self, workload: Workload, settings: CollectSettings) -> CollectSettings:
        """Windows of a number of requests, or of whole cycles where the load repeats itself."""
        cycle_s, simulated = self.scenarios[workload.name].cycle_s, settings.simulated
        measured = {
            "window_s": _whole_cycles_s(settings.racing, LARGE_GRID, cycle_s) if cycle_s else simulated.window_s,
            "window_requests": None if cycle_s else max(simulated.window_requests, 2 * workload.connections),
        }
        racing = settings.racing.model_copy(update=measured)
        return settings.model_copy(update={"racing": racing})


def _whole_cycles_s(racing: MeasurementSettings, grid: ActionGrid, cycle_s: float, least_s: float = 0.0) -> float:
    """Seconds of a window of whole cycles; no fewer than the slowest timer needs, which would lengthen it again."""
    needed_s = max(least_s, *(racing.least_window_s(one) for one in grid.tuples))
    return whole_cycles_s(needed_s, cycle_s)


def mariadb_staging(settings: CollectSettings) -> tuple[list[PlannedWorkload[SqlWorkload]], Staging[SqlWorkload]]:
    """The workloads of a collection on MariaDB, and what measures them."""
    mariadb = settings.mariadb
    of_each: dict[Split, int] = {
        "train": mariadb.train_each,
        "validation": mariadb.validation_each,
        "test": mariadb.test_each,
    }
    drawn = workload_set(settings.seed, of_each, settings.cpus or CPUS)
    planned = settings.chosen([one for one in drawn if one.split in settings.splits], FAMILIES)
    place = LabPlace(folder=mariadb.folder)

    def open_server(workload: SqlWorkload) -> PoolServer:
        return LabServer(workload, place)

    return planned, Staging(open_server, grid=settings.action_grid, settings_for=racing_for, objective_of=objective_of)


def racing_for(workload: SqlWorkload, settings: CollectSettings) -> CollectSettings:
    """The settings with MariaDB's windows where none are named; windows of whole bursts where the load has bursts."""
    racing = settings.racing
    ours = MARIADB_RACING.model_fields_set - racing.model_fields_set
    updates = {name: getattr(MARIADB_RACING, name) for name in ours}
    longest_s = max(one.burst_period_s for one in workload.classes)
    if longest_s > 0.0:
        asked = racing.model_copy(update=updates)
        updates["window_s"] = _whole_cycles_s(asked, settings.action_grid, longest_s, asked.window_s)
    return settings.model_copy(update={"racing": racing.model_copy(update=updates)})


def versions() -> dict[str, str]:
    """Versions of the programs that a test server runs."""
    found = {}
    for name in ("mariadbd", "sysbench"):
        said = subprocess.run([program(name), "--version"], capture_output=True, text=True, check=True).stdout
        found[name] = " ".join(said.split()[1:6])
    return found


def objective_of(workload: SqlWorkload) -> Objective:
    """What counts under a workload."""
    return workload.objective
