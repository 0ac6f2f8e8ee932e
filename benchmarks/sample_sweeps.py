"""Writes the sweeps that come with the package: of every family in the records the workload numbered 1, on 2 CPUs.

    python benchmarks/sample_sweeps.py [--store pipelines/records]

The files are the same for the same records, so that a second run changes nothing.
"""

import argparse
import json
import lzma
from pathlib import Path

from poolpilot.env.measurement import sample_sweeps
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.workloads.family import Split
from poolpilot.pipelines.store.dataset import read_dataset

SPLITS: tuple[Split, ...] = ("train", "validation", "test")
NUMBER = "-1-1"
"""Ending of the names of the workloads that are taken."""


def main() -> None:
    """Reads the records and writes one file for each family."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=Path("pipelines/records"), help="folder of the record store")
    store = parser.parse_args().store
    folder = Path(sample_sweeps.__file__).parent / sample_sweeps.FOLDER
    for sweep in read_dataset(store, *SPLITS).sweeps:
        if sweep.workload_id.endswith(NUMBER):
            write(folder, sweep)


def write(folder: Path, sweep: WorkloadSweep) -> None:
    """Writes a sweep where `sample_sweeps` looks for it."""
    file = folder / sweep.split / f"{sweep.family}{sample_sweeps.ENDING}"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(sample_sweeps.sweep_as_json(sweep), separators=(",", ":"))
    file.write_bytes(lzma.compress(text.encode()))


if __name__ == "__main__":
    main()
