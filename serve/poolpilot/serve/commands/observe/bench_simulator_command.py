"""`poolpilot bench simulator`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import terminal, write_json
from poolpilot.serve.commands.options.settings_command import as_command

if TYPE_CHECKING:
    from poolpilot.pipelines.bench.simulator import SimulatorBenchSettings

HELP = "Events, requests and environment steps a second of the simulator, with SimPy beside it."


def build() -> Callable[..., None]:
    """The command `poolpilot bench simulator`."""
    from poolpilot.pipelines.bench.simulator import SimulatorBenchSettings

    return as_command(SimulatorBenchSettings, run, HELP)


def run(settings: "SimulatorBenchSettings", json_path: Path | None) -> None:
    """Benchmarks the simulator and shows the rates."""
    from poolpilot.pipelines.bench.simulator import bench_simulator

    bench = bench_simulator(settings)
    terminal().print(bench.table())
    write_json(json_path, bench.as_dict())
