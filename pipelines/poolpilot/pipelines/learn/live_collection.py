"""Live sweeps for `poolpilot learn`: the embedded pool, and the MariaDB of a private test server."""

import math
import os
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from rich.console import Console

from poolpilot.env.measurement.sweep import AGAIN_ROUND
from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.pipelines.collect.collect import Staging, collect
from poolpilot.pipelines.collect.collect_report import CollectReport
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.collect.staging import mariadb_staging
from poolpilot.pipelines.store.records import StagingStore

WORKLOADS = {"train_workloads": 360, "validation_workloads": 180, "test_workloads": 0}
"""More than anybody has minutes for; both splits are spread evenly over the run, however soon it ends."""

MARIADB_EACH = 6

LEAST_WORKLOAD_S = 20.0
"""A live sweep takes longer; so many are planned that the time ends the collection, and the time left can be shown."""


def collect_live(
    server: str, store: Path, seconds: float, seed: int, console: Console, lab: Path, cpus: int
) -> CollectReport:
    """Sweeps live workloads for so many seconds; a further call goes on where this one ends.

    Args:
        server: `native` or `mariadb`.
        store: Folder of the store.
        seconds: Time after which it stops, once the window in work is over.
        seed: Seed of the workloads.
        console: Where progress is shown.
        lab: Folder of the private MariaDB; made where it is missing.
        cpus: Processors of the server that is to be tuned; a server here has as many, if this machine does.

    Raises:
        KeyboardInterrupt: The user ended it; what was measured is kept.
        ServerError: Too many workloads failed in a row.
        StoreError: The store holds other definitions, or cannot be written.
    """
    given: dict[str, Any] = {
        "store": store,
        "server": server,
        "seed": seed,
        "cpus": min(cpus, len(os.sched_getaffinity(0))),
        "grid": "large",
        "climbs": 0,
        "random_share": 0.0,
        "splits": ("train", "validation"),
        "time_budget_s": max(seconds, 1.0),
    }
    planned: list[PlannedWorkload[Any]]
    staging: Staging[Any] | None = None
    if server == "native":
        settings = CollectSettings.of(given | WORKLOADS)
        planned = settings.planned()
    else:
        each = {"mariadb.train_each": MARIADB_EACH, "mariadb.validation_each": MARIADB_EACH, "mariadb.test_each": 0}
        settings = CollectSettings.of({**given, **each, "mariadb.folder": lab})
        drawn, staging = mariadb_staging(settings)
        planned = interleaved(drawn)
    upto = _complete(store) + math.ceil(seconds / LEAST_WORKLOAD_S) + 1
    report = collect(settings, planned[:upto], staging, console)
    if report.stopped == "interrupted":
        raise KeyboardInterrupt(report.stopped)
    return report


def _complete(store: Path) -> int:
    """Workloads of a store that are swept to the end."""
    windows = StagingStore(store).windows.scan()
    return len(set(windows.filter(pc.equal(windows["round"], AGAIN_ROUND))["workload_id"].to_pylist()))


def interleaved(planned: list[PlannedWorkload[Any]]) -> list[PlannedWorkload[Any]]:
    """The workloads, a family after the other and the splits spread evenly, so that a short run has some of both."""
    count: dict[str, int] = {}
    place: dict[str, int] = {}
    totals: dict[str, int] = {}
    for one in planned:
        totals[one.split] = totals.get(one.split, 0) + 1
    drawn = sorted(planned, key=lambda one: _number(one, count))
    keyed = []
    for one in drawn:
        place[one.split] = place.get(one.split, 0) + 1
        keyed.append(((place[one.split] - 0.5) / totals[one.split], one))
    return [one for _, one in sorted(keyed, key=lambda pair: pair[0])]


def _number(one: PlannedWorkload[Any], count: dict[str, int]) -> int:
    """Which workload of its family it is."""
    count[one.workload.family] = count.get(one.workload.family, 0) + 1
    return count[one.workload.family]
