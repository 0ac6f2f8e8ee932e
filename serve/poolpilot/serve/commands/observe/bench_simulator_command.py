"""`poolpilot bench simulator`."""

from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import terminal, write_json

if TYPE_CHECKING:
    from poolpilot.pipelines.bench.simulator import SimulatorBenchSettings


def run(settings: "SimulatorBenchSettings", json_path: Path | None) -> None:
    """Benchmarks the simulator and shows the rates."""
    from poolpilot.pipelines.bench.simulator import bench_simulator

    bench = bench_simulator(settings)
    terminal().print(bench.table())
    write_json(json_path, bench.as_dict())
