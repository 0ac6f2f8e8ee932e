"""What is in a store, for people: where its records come from, and how much of each family was measured how well."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import AGAIN_ROUND, Core
from poolpilot.errors import PoolPilotError, StoreError
from poolpilot.pipelines.store.dataset import limits_of, one_grid
from poolpilot.pipelines.store.inspection.record_query import guarded_views
from poolpilot.pipelines.store.records import StagingStore
from poolpilot.pipelines.store.store_contents import ALL_SPLITS

Row = Mapping[str, Any]

ORIGIN_SQL = """
SELECT list(DISTINCT server) AS servers, list(DISTINCT machine) AS machines, list(DISTINCT timer) AS timers,
       count(DISTINCT run_id) AS runs, min(time_unix_s) AS first_unix_s, max(time_unix_s) AS last_unix_s
FROM records
"""
KINDS_SQL = "SELECT kind, count(*) AS windows FROM records GROUP BY kind ORDER BY windows DESC, kind"
WORKLOADS_SQL = "SELECT DISTINCT workload_id, family, split, limits, ladder FROM workloads ORDER BY workload_id"
WINDOWS_SQL = "SELECT workload_id, count(*) AS windows FROM records GROUP BY workload_id"
SWEPT_SQL = f"""
SELECT workload_id, pool_size, oversubscribe, timer_interval_ms, bool_or(round = {AGAIN_ROUND}) AS again,
       count(objective) FILTER (WHERE round <> {AGAIN_ROUND}) AS windows,
       stddev_samp(objective) FILTER (WHERE round <> {AGAIN_ROUND}) AS spread,
       greatest(count(objective) - 1, 0) AS freedom, var_samp(objective) AS variance
FROM records WHERE kind = 'sweep' GROUP BY ALL
"""
"""One row for each configuration of each sweep. Windows that measure the best one afresh are not learned from, but
count for how far windows of one configuration differ; those without a J count for neither."""


@dataclass(frozen=True, slots=True)
class FamilySummary:
    """What was measured of a family.

    Attributes:
        family: Its name.
        split: Split of its workloads.
        cpus: Processors of the servers that they ran on.
        workloads: Workloads.
        complete: Those of them that are swept to the end.
        windows: Measured windows, of every kind.
        tuples: Configurations measured in sweeps, of all workloads together.
        coverage: Share of the configurations of the grid, as far as the servers take them, that were measured.
        default_noise: Standard deviation of J between windows of the default within a workload; None where it was
            measured once only.
        error: Median standard error of J of the configurations with more than one window; None where there are none.
    """

    family: str
    split: str
    cpus: tuple[int, ...]
    workloads: int
    complete: int
    windows: int
    tuples: int
    coverage: float
    default_noise: float | None
    error: float | None


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """What is in a store.

    Attributes:
        directory: Its folder.
        servers: Labels of the servers.
        machines: Labels of the machines.
        timers: How the timers of the pools behaved.
        runs: Number of collection runs.
        first_unix_s: When the first window ended; None without windows.
        last_unix_s: When the last one did.
        kinds: Windows by why they were measured.
        unread: Damaged segments, which are left out.
        families: The families, those to learn from first.
    """

    directory: Path
    servers: tuple[str, ...]
    machines: tuple[str, ...]
    timers: tuple[str, ...]
    runs: int
    first_unix_s: float | None
    last_unix_s: float | None
    kinds: Mapping[str, int]
    unread: int
    families: tuple[FamilySummary, ...]

    @classmethod
    def of(cls, directory: Path) -> "StoreSummary":
        """Reads a store; nothing in it is changed.

        Args:
            directory: Its folder.

        Raises:
            StoreError: It holds nothing, or cannot be read.
        """
        with guarded_views(directory) as views:
            (origin,) = _rows(views, ORIGIN_SQL)
            kinds = {row["kind"]: row["windows"] for row in _rows(views, KINDS_SQL)}
            families = _families(views, directory)
        return cls(
            directory,
            servers=tuple(sorted(origin["servers"] or ())),
            machines=tuple(sorted(origin["machines"] or ())),
            timers=tuple(sorted(origin["timers"] or ())),
            runs=origin["runs"],
            first_unix_s=origin["first_unix_s"],
            last_unix_s=origin["last_unix_s"],
            kinds=kinds,
            unread=_unread(directory),
            families=families,
        )


@dataclass(frozen=True, slots=True)
class _WantedSweep:
    """What was to be measured of a workload, and on what."""

    cpus: int
    default: Core
    cores: frozenset[Core]


def _families(views: duckdb.DuckDBPyConnection, directory: Path) -> tuple[FamilySummary, ...]:
    windows = {row["workload_id"]: row["windows"] for row in _rows(views, WINDOWS_SQL)}
    swept: dict[str, dict[Core, Row]] = defaultdict(dict)
    for row in _rows(views, SWEPT_SQL):
        swept[row["workload_id"]][row["pool_size"], row["oversubscribe"], row["timer_interval_ms"]] = row
    grouped: dict[tuple[str, str], dict[str, _WantedSweep]] = defaultdict(dict)
    for definition in _rows(views, WORKLOADS_SQL):
        asked = _asked(directory, definition)
        grouped[definition["split"], definition["family"]][definition["workload_id"]] = asked
    order = {split: place for place, split in enumerate(ALL_SPLITS)}
    places = sorted(grouped, key=lambda key: (order.get(key[0], len(order)), key))  # type: ignore[call-overload]
    return tuple(_family(split, family, grouped[split, family], windows, swept) for split, family in places)


def _family(
    split: str,
    family: str,
    asked: Mapping[str, _WantedSweep],
    windows: Mapping[str, int],
    swept: Mapping[str, Mapping[Core, Row]],
) -> FamilySummary:
    found = {name: swept.get(name, {}) for name in asked}
    wanted = sum(len(one.cores) for one in asked.values())
    covered = sum(len(asked[name].cores & found[name].keys()) for name in asked)
    rows = [row for each in found.values() for row in each.values()]
    return FamilySummary(
        family=family,
        split=split,
        cpus=tuple(sorted({one.cpus for one in asked.values()})),
        workloads=len(asked),
        complete=sum(any(row["again"] for row in each.values()) for each in found.values()),
        windows=sum(windows.get(name, 0) for name in asked),
        tuples=len(rows),
        coverage=covered / wanted,
        default_noise=_noise(found[name][one.default] for name, one in asked.items() if one.default in found[name]),
        error=_median([row["spread"] / row["windows"] ** 0.5 for row in rows if row["spread"] is not None]),
    )


def _noise(defaults: Iterable[Row]) -> float | None:
    """Standard deviation of J, pooled over workloads."""
    repeated = [(row["freedom"], row["variance"]) for row in defaults if row["freedom"]]
    freedom = sum(each for each, _ in repeated)
    return float(np.sqrt(sum(each * variance for each, variance in repeated) / freedom)) if freedom else None


def _median(values: Sequence[float]) -> float | None:
    return float(np.median(values)) if values else None


def _asked(directory: Path, definition: Row) -> _WantedSweep:
    try:
        limits, grid = limits_of(definition), one_grid(directory, [definition])
        return _WantedSweep(limits.cpus, limits.default_tuple().core, _allowed(grid, definition["limits"]))
    except (PoolPilotError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(
            f"the definition of workload {definition['workload_id']!r} in {directory} cannot be read ({error}); "
            f"poolpilot records --check {directory} says what else is wrong"
        ) from error


@lru_cache
def _allowed(grid: ActionGrid, limits: str) -> frozenset[Core]:
    """The configurations of a grid that a server takes."""
    mask = grid.mask(limits_of({"limits": limits}))
    return frozenset(one.core for one, allowed in zip(grid.tuples, mask, strict=True) if allowed)


def _unread(directory: Path) -> int:
    store = StagingStore(directory)
    folders, kinds = (store.windows.directory, store.workloads.directory), ("*.parquet", "*.torn")
    there = [path for folder in folders for kind in kinds for path in folder.glob(kind)]
    return len(there) - len(store.windows.sound) - len(store.workloads.sound)


def _rows(views: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    found = views.execute(query)
    names = [str(column[0]) for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
