"""The live mixes of `poolpilot bench pool --parts priorities` on the simulated pool, by the weight of a class.

How to run: `python benchmarks/priorities_twin.py [--seeds 5] [--json benchmarks/reports/priorities_twin.json]` (a
minute; the same numbers every time). The machine is the one that was fitted to the live pool
(`native_pool.simulation.CALIBRATED`), with one processor. Results to expect: where both classes always wait, their
shares are the weights; writers who queue up for rows get more done where few of them are let in.
"""

import argparse
from pathlib import Path
from typing import Any

from poolpilot.env.output import write_json
from poolpilot.pipelines.bench.parts.priorities import MIXES, Mix, disciplines
from poolpilot.pipelines.bench.parts.simulated_trial import simulated_window
from poolpilot.pipelines.bench.pool import row_of
from poolpilot.pipelines.bench.serving.trial import Measures
from poolpilot.pipelines.bench.serving.two_queues import Options

CONNECTIONS = 128
"""Of each class, as in the live benchmark's default settings."""

SETTLE_S, WINDOW_S = 0.5, 2.0
END = "_throughput_per_s"


def measure(mix: Mix, options: Options, seed: int) -> Measures:
    """Throughput of both classes and of each."""
    window = simulated_window(mix.closed_loop(CONNECTIONS, seed=seed), options, SETTLE_S, WINDOW_S)
    found = {name: one.throughput_per_s for name, one in window.classes.items()}
    classes = {f"{name}{END}": found.get(name, 0.0) for name in mix.class_names}
    return {"throughput_per_s": window.throughput_per_s, **classes}


def row(mix: Mix, seeds: range) -> dict[str, Any]:
    """A cell of the report, as `poolpilot bench pool` writes it."""
    columns: dict[str, dict[str, list[float]]] = {}
    for name, options in disciplines(mix).items():
        runs = [measure(mix, options, seed) for seed in seeds]
        columns[name] = {key: [one[key] for one in runs] for key in runs[0]}
    return row_of("priorities", mix.name, columns)


def main() -> None:
    """Runs everything, prints the throughputs and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    cells = [row(mix, range(1, arguments.seeds + 1)) for mix in MIXES.values()]
    for cell in cells:
        print(cell["cell"])
        for name, found in cell["contenders"].items():
            print(f"  {name:12}", "  ".join(f"{key} {one['mean']:8.0f}" for key, one in found.items()))
    write_json(arguments.json, {"cells": cells})


if __name__ == "__main__":
    main()
