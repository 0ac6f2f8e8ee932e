"""The bound on every promise held against what sweeps have measured: how often it is exceeded, and a picture of both.

    python benchmarks/gain_bound.py --json benchmarks/reports/gain_bound.json --picture docs/images/gain_bound.png

For each swept workload of the shipped records and of the MariaDB suite: what the windows under the default say can be
gained at most (`GainBound`), and what the best tuple gained. Its gain is in ln goodput, without the price of threads;
where the best tuple was measured again after it was chosen, by those windows. An error is that of the difference by the
repeats of the sweep. Windows of earlier releases lack what a MariaDB's groups tell, so their bounds are wider than a
look's of today. A few minutes.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from rich.table import Table

from code_digest import made_with
from poolpilot.env.measurement.sweep import Core, WorkloadSweep
from poolpilot.env.output import terminal, write_json
from poolpilot.env.workloads.family import Split
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.gain_bound import GainBound
from poolpilot.pipelines.store.dataset import read_dataset

STORES = {
    "native": ("pipelines/native",),
    "MariaDB": ("pipelines/mariadb",),
    "suite": tuple(f"benchmarks/records/suite{draw}" for draw in ("", "_second", "_third")),
    "simulated": ("pipelines/records",),
}
SPLITS: tuple[Split, ...] = ("train", "validation", "test")

LEAST_NOISE = 0.02
"""Repeats of a window never agree better than this, however few of them seem to."""

ERRORS = 2.0
UNBOUNDED = math.log(1000.0)
"""A bound beyond this is drawn here."""


@dataclass(frozen=True)
class Held:
    """A workload whose best tuple is held against its bound.

    Attributes:
        workload: Its name.
        best: The best tuple.
        gain: What it gained over the default, in ln goodput.
        error: Standard error of that.
        bound: The most that could be gained on the way there; None where nothing bounds it.
    """

    workload: str
    best: Core
    gain: float
    error: float
    bound: float | None

    @property
    def is_exceeded(self) -> bool:
        """Whether the gain is above the bound beyond two standard errors."""
        return self.bound is not None and self.gain - self.bound > ERRORS * self.error


def held(sweep: WorkloadSweep) -> Held | None:
    """What a sweep says of its bound; None where the default was not measured or nothing was counted."""
    default, best = sweep.limits.default_tuple(), sweep.oracle_tuple
    entry = sweep.entries.get(default.core)
    bound = None if entry is None else GainBound.of(Window.pooled(entry.windows), sweep.objective)
    if entry is None or bound is None:
        return None
    again = sweep.again_values or sweep.entries[best.core].values
    price = sweep.objective.price_of_thread * math.log(best.pool_size / default.pool_size)
    gain = 0.0 if best.core == default.core else sum(again) / len(again) - entry.value + price
    error = max(sweep.noise, LEAST_NOISE) * math.sqrt(1.0 / len(again) + 1.0 / len(entry.values))
    most = bound.most if best.core == default.core else bound.towards(default, best)
    return Held(sweep.workload_id, best.core, gain, error, most if math.isfinite(most) else None)


def of_stores(folders: Sequence[str]) -> Iterator[Held]:
    """All workloads of some stores."""
    for folder in folders:
        for sweep in read_dataset(Path(folder), *SPLITS).sweeps:
            if (found := held(sweep)) is not None:
                yield found


def row_of(each: Held) -> dict[str, Any]:
    """A workload as the report has it, in one line."""
    rounded = {name: round(value, 4) for name, value in asdict(each).items() if isinstance(value, float)}
    return {"workload": each.workload, "best": str(each.best), **rounded}


def draw(found: dict[str, list[Held]], path: Path) -> None:
    """The picture: a point a workload, its bound to the right and its gain upwards; none should be above the line."""
    figure = Figure(figsize=(6.4, 5.0), layout="constrained")
    axes = figure.subplots()
    for name, workloads in found.items():
        bounds = [math.expm1(UNBOUNDED if each.bound is None else min(each.bound, UNBOUNDED)) for each in workloads]
        axes.plot(bounds, [math.expm1(each.gain) for each in workloads], "o", alpha=0.6, markersize=4, label=name)
    ends = [0.0, math.expm1(UNBOUNDED)]
    axes.plot(ends, ends, color="#2c3e50", linewidth=1.0, label="as much as the bound allows")
    axes.set_xscale("symlog", linthresh=0.05)
    axes.set_yscale("symlog", linthresh=0.05)
    axes.set_xlabel("most that can be gained by the bound (share; at the right end: unbounded)")
    axes.set_ylabel("gained by the best configuration (share)")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Holds every workload against its bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the report here")
    parser.add_argument("--picture", type=Path, help="draw the picture here")
    given = parser.parse_args()
    found = {name: list(of_stores(folders)) for name, folders in STORES.items()}
    table = Table("records", "workloads", "exceeded", "bounded by < 5 %", "bounded by < 50 %", "unbounded")
    for name, workloads in found.items():
        bounds = [math.inf if each.bound is None else math.expm1(each.bound) for each in workloads]
        below = [sum(bound < share for bound in bounds) for share in (0.05, 0.5)]
        exceeded = sum(each.is_exceeded for each in workloads)
        table.add_row(name, *map(str, (len(workloads), exceeded, *below, sum(map(math.isinf, bounds)))))
    terminal().print(table)
    if given.picture is not None:
        draw(found, given.picture)
    report = {name: [row_of(each) for each in workloads] for name, workloads in found.items()}
    write_json(given.json, {"made_with": made_with(), "workloads": report})


if __name__ == "__main__":
    main()
