"""The bound on every promise held against what sweeps have measured: how often it is exceeded, and a picture of both.

For each swept workload of the shipped records and of the MariaDB suite: what the windows under the default say can be
gained at most (`GainBound`), and what the best tuple gained. Its gain is in ln goodput, without the price of threads;
where the best tuple was measured again after it was chosen, by those windows. An error is that of the difference by the
repeats of the sweep. Windows of earlier releases lack what a MariaDB's groups tell, so their bounds are wider.
"""

import math
from pathlib import Path
from typing import Any

from harness.code_digest import made_with
from harness.experiment import Experiment, Found, Rows, Task
from poolpilot.env.measurement.sweep import WorkloadSweep
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
PICTURE = Path("docs/images/gain_bound.png")

LEAST_NOISE = 0.02
"""Repeats of a window never agree better than this, however few of them seem to."""

UNBOUNDED = math.log(1000.0)
"""A bound beyond this is drawn here."""


def measured(task: Task) -> Found:
    """All workloads of some stores."""
    sweeps = (sweep for folder in STORES[task.scenario] for sweep in read_dataset(Path(folder), *SPLITS).sweeps)
    return {"workloads": [found for sweep in sweeps if (found := held(sweep)) is not None]}


def held(sweep: WorkloadSweep) -> dict[str, Any] | None:
    """The best tuple of a sweep, its gain, the error of that, and the bound on the way there where there is one.

    None where the default was not measured or nothing was counted.
    """
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
    bounded = {"bound": round(most, 4)} if math.isfinite(most) else {}
    found = {"workload": sweep.workload_id, "best": str(best.core), "gain": round(gain, 4), "error": round(error, 4)}
    return found | bounded


def summarise(rows: Rows) -> dict[str, Any]:
    """The workloads of each kind of records."""
    return {"made_with": made_with(), "workloads": {row.task.scenario: row.found["workloads"] for row in rows}}


def draw(report: dict[str, Any]) -> None:
    """The picture: a point a workload, its bound to the right and its gain upwards; none should be above the line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 5.0), layout="constrained")
    axes = figure.subplots()
    for name, workloads in report["workloads"].items():
        bounds = [math.expm1(min(each.get("bound", UNBOUNDED), UNBOUNDED)) for each in workloads]
        axes.plot(bounds, [math.expm1(each["gain"]) for each in workloads], "o", alpha=0.6, markersize=4, label=name)
    ends = [0.0, math.expm1(UNBOUNDED)]
    axes.plot(ends, ends, color="#2c3e50", linewidth=1.0, label="as much as the bound allows")
    axes.set_xscale("symlog", linthresh=0.05)
    axes.set_yscale("symlog", linthresh=0.05)
    axes.set_xlabel("most that can be gained by the bound (share; at the right end: unbounded)")
    axes.set_ylabel("gained by the best configuration (share)")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    figure.savefig(PICTURE, dpi=110)


EXPERIMENTS = {
    "gain_bound": Experiment(
        "Do sweeps gain more than the bound of a promise allows? A few minutes.",
        scenarios=tuple(STORES),
        measure=measured,
        summarise=summarise,
        under=made_with,
        picture=draw,
    )
}
