"""Networks that take part among the rivals: trained on each store, kept where they are there."""

import subprocess
import sys
from pathlib import Path

from harness.experiment import Experiment, Found, Rows, Task
from poolpilot.errors import ServerError
from poolpilot.models.champion import Kind
from poolpilot.pipelines.store.dataset import read_dataset
from rivals.training import VIEWS, Recipe

OUTPUT = Path("build/networks")
SIMULATED = Path("build/simulated_store")
STORES: dict[str, tuple[Path, Kind]] = {
    "native": (Path("pipelines/native"), "native"),
    "mariadb": (Path("pipelines/mariadb"), "mariadb"),
    "simulated": (SIMULATED, "native"),
}
COLLECT = (
    *("--server", "simulated", "--store", str(SIMULATED)),
    *("--set", "simulated.workloads=244", "--set", "simulated.composed=400", "--set", "simulated.validation=80"),
)


def measured(task: Task) -> Found:
    """Trains the three networks of one store and one set of features.

    Raises:
        ServerError: The simulated records could not be collected.
    """
    store, server = STORES[task.scenario]
    if store == SIMULATED and not store.is_dir():
        command = [str(Path(sys.executable).parent / "poolpilot"), "learn", "collect", *COLLECT]
        if subprocess.run(command, check=False).returncode:
            raise ServerError("the simulated records could not be collected; what was said stands above")
    dataset = read_dataset(store, "train", "validation")
    Recipe(dataset, server, VIEWS[task.arm], OUTPUT / task.scenario).run(task.arm)
    return {"trained": sorted(each.name for each in (OUTPUT / task.scenario).iterdir())}


def summarise(rows: Rows) -> Found:
    """Which networks there are."""
    return {row.task.scenario: row.found["trained"] for row in rows}


EXPERIMENTS = {
    "networks": Experiment(
        "Trains networks of the exact loss, of PPO and of MARWIL for the rivals. Two hours.",
        scenarios=tuple(STORES),
        measure=measured,
        summarise=summarise,
        arms=tuple(VIEWS),
    )
}
