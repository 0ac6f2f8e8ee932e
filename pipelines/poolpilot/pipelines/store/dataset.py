"""The dataset: stored records as sweeps per split, with a digest of exactly the rows that were read."""

import hashlib
import json
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import AGAIN_ROUND, WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.workloads.family import Split
from poolpilot.errors import StoreError
from poolpilot.featurizer.record import OLDER_TIMER, window_of
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.featurizer.window import Window
from poolpilot.pipelines.store.records import StagingStore, holds_nothing

_LOG = logging.getLogger(__name__)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class SweepDataset:
    """Swept workloads of some splits.

    Attributes:
        source: Folder of the store.
        digest: SHA-256 of the rows read, however they are cut into segments.
        grid: The grid they were measured on.
        sweeps: The sweeps, by workload.
        timer: How the pool's timer behaved; None where it is MariaDB's, which has always been the same.
        unfinished: Workloads left out because their sweep is not complete.
    """

    source: Path
    digest: str
    grid: ActionGrid
    sweeps: tuple[WorkloadSweep, ...]
    timer: str | None
    unfinished: tuple[str, ...] = ()

    def of_split(self, split: Split) -> list[WorkloadSweep]:
        """The sweeps of one split.

        Raises:
            StoreError: There is none.
        """
        found = [sweep for sweep in self.sweeps if sweep.split == split]
        if not found:
            raise StoreError(
                f"the store {self.source} holds no complete workload of the split {split!r}; {self._remedy(split)}"
            )
        return found

    def _remedy(self, split: Split) -> str:
        """What helps where a split is missing."""
        kinds = {
            window.server_kind for sweep in self.sweeps for entry in sweep.entries.values() for window in entry.windows
        }
        if kinds == {"simulated"}:
            return (
                "its workloads are simulated, which are to learn from alone: name it with --set "
                "training_stores=FOLDER, and with --store one that was collected live"
            )
        return f"collect some: poolpilot learn collect --store {self.source} --set splits={split}"

    def learning_from(self, training: Sequence["SweepDataset"]) -> "SweepDataset":
        """The same data, but with the training split of other stores in place of its own.

        The grid stays the own one, on which is evaluated: what the others measured beside it is seen, not chosen.

        Raises:
            StoreError: A family would be both learned from and evaluated on, or the timers differ.
        """
        one_timer((one.source, one.timer) for one in (self, *training) if one.timer is not None)
        sweeps = [sweep for one in training for sweep in one.of_split("train")]
        sweeps += [sweep for sweep in self.sweeps if sweep.split != "train"]
        refuse_leakage({"family": sweep.family, "split": sweep.split} for sweep in sweeps)
        digests = "".join(sorted({self.digest, *(one.digest for one in training)}))
        unfinished = tuple(name for one in (self, *training) for name in one.unfinished)
        digest = hashlib.sha256(digests.encode()).hexdigest()
        return SweepDataset(self.source, digest, self.grid, tuple(sweeps), self.timer, unfinished)

    def with_server_views(self) -> "SweepDataset":
        """Every sweep twice: as the clients report it, and as a server sees it to whose clients nobody listens."""
        seen = (view for sweep in self.sweeps for view in (sweep, sweep.server_view()))
        return replace(self, sweeps=tuple(seen))

    def hiding(self, features: Collection[str]) -> "SweepDataset":
        """Every sweep for a model that is not shown some features."""
        return replace(self, sweeps=tuple(sweep.hiding(features) for sweep in self.sweeps))

    def summary(self) -> list[dict[str, Any]]:
        """One row per workload: what was read of it."""
        return [
            {
                "workload_id": sweep.workload_id,
                "family": sweep.family,
                "split": sweep.split,
                "cpus": float(sweep.limits.cpus),
                "tuples": float(len(sweep.entries)),
                "windows": float(sum(len(entry.windows) for entry in sweep.entries.values())),
                "oracle": str(sweep.oracle_tuple),
                "oracle_value": sweep.oracle_value,
                "noise": sweep.noise,
            }
            for sweep in self.sweeps
        ]


@dataclass(frozen=True)
class SweptRows:
    """The rows of completely swept workloads.

    Attributes:
        definitions: Row of `WORKLOAD_SCHEMA` by workload, of those left out too.
        windows: Rows of the sweep by workload, in the order measured.
        unfinished: Workloads left out because their sweep is not complete.
    """

    definitions: Mapping[str, Row]
    windows: Mapping[str, Sequence[Row]]
    unfinished: tuple[str, ...]


def read_swept_rows(directory: Path, *splits: Split) -> SweptRows:
    """Reads the complete sweeps of some splits; the windows of the other splits are not read.

    Args:
        directory: Folder of the store.
        splits: Splits to read.

    Raises:
        StoreError: The store is empty, or has one family in two splits.
    """
    store = StagingStore(directory)
    definitions = store.workload_rows()
    if not definitions:
        raise StoreError(holds_nothing(directory))
    refuse_leakage(definitions.values())
    wanted = {name: row for name, row in definitions.items() if row["split"] in splits}
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in store.window_rows(wanted):
        if row["kind"] == "sweep":
            grouped[row["workload_id"]].append(row)
    complete = {name for name, rows in grouped.items() if any(row["round"] == AGAIN_ROUND for row in rows)}
    unfinished = tuple(sorted(set(wanted) - complete))
    if unfinished:
        _LOG.warning("%d of %d workloads are not completely swept and left out", len(unfinished), len(wanted))
    return SweptRows(wanted, {name: grouped[name] for name in sorted(complete)}, unfinished)


def read_dataset(directory: Path, *splits: Split) -> SweepDataset:
    """Reads the complete sweeps of some splits; the windows of the other splits are not read.

    Args:
        directory: Folder of the store.
        splits: Splits to read.

    Raises:
        StoreError: The store is empty, mixes versions, grids or timers, or has one family in two splits.
    """
    swept = read_swept_rows(directory, *splits)
    return SweepDataset(
        directory,
        digest_of([*rows, swept.definitions[name]] for name, rows in swept.windows.items()),
        one_grid(directory, swept.definitions.values()),
        tuple(sweep_of(swept.definitions[name], rows) for name, rows in swept.windows.items()),
        one_timer(
            (directory, timer)
            for rows in swept.windows.values()
            for row in rows
            if (timer := pool_timer(row)) is not None
        ),
        swept.unfinished,
    )


def sweep_of(definition: Row, rows: Iterable[Row]) -> WorkloadSweep:
    """The sweep of one workload from its definition and the rows of kind `sweep`.

    Raises:
        StoreError: A row was measured under another version of the feature schema.
    """
    objective = objective_of(definition)
    return WorkloadSweep.build(
        [(int(row["round"]), _judged_window(row, objective)) for row in rows],
        workload_id=definition["workload_id"],
        family=definition["family"],
        split=definition["split"],
        limits=limits_of(definition),
        objective=objective,
    )


def _judged_window(row: Row, objective: Objective) -> Window:
    """The window of a row, worth what it was worth when it was measured.

    A row does not say how many requests were in the system. Where no client reported, its goodput is the inverse of
    their time there, which gives the number back.
    """
    window = checked_window(row)
    if window.classes or objective.signal != "time_in_system":
        return window
    completed_per_s = max(window.throughput_per_s, objective.goodput_floor_per_s)
    return replace(window, in_system=completed_per_s / row["goodput_per_s"])


def checked_window(row: Row) -> Window:
    """The window of a row.

    Raises:
        StoreError: It was measured under another version of the feature schema.
    """
    if row["schema_version"] != SCHEMA_VERSION:
        raise StoreError(
            f"workload {row['workload_id']!r} was measured under version {row['schema_version']} of the feature "
            f"schema, this is version {SCHEMA_VERSION}; collect into a new directory"
        )
    return window_of(row)


def limits_of(definition: Row) -> KnobSpace:
    """The knobs of the server that a workload was measured on."""
    return KnobSpace.from_dict(json.loads(definition["limits"]))


def objective_of(definition: Row) -> Objective:
    """What a workload's windows are evaluated by."""
    return Objective.model_validate_json(definition["objective"])


def refuse_leakage(definitions: Iterable[Row]) -> None:
    """Refuses a store in which a family is both learned from and evaluated on.

    Raises:
        StoreError: A family has workloads in two splits.
    """
    split_of: dict[str, str] = {}
    for row in sorted(definitions, key=itemgetter("family", "split")):
        first = split_of.setdefault(row["family"], row["split"])
        if first != row["split"]:
            raise StoreError(
                f"family {row['family']!r} is in the splits {first!r} and {row['split']!r}: what is evaluated on it "
                "would have been learned from it; collect into a new directory, or leave the workloads of one split "
                "out of a copy (StagingStore.merged_into)"
            )


def one_grid(directory: Path, definitions: Iterable[Row]) -> ActionGrid:
    """The grid that all workloads share.

    Raises:
        StoreError: They were measured on several.
    """
    found = sorted({row["ladder"] for row in definitions})
    if len(found) != 1:
        raise StoreError(
            f"the store {directory} mixes {len(found)} grids of configurations; collect into a new directory"
        )
    return ActionGrid.from_dict(json.loads(found[0]))


def pool_timer(row: Row) -> str | None:
    """The timer of our pool that a window was measured under; None of MariaDB, whose own has always been the same."""
    return None if row["server"] == "mariadb" else str(row["timer"])


def one_timer(found: Iterable[tuple[Path, str]]) -> str | None:
    """The timer that all records share; None where there are none.

    Args:
        found: Stores with a timer of their records.

    Raises:
        StoreError: They were measured under different ones.
    """
    store_of = {timer: store for store, timer in found}
    if len(store_of) > 1:
        places = " and ".join(f"{timer} ({store_of[timer]})" for timer in sorted(store_of))
        raise StoreError(
            f"records of different timers of the pool cannot be mixed: {places}; what a timer interval does "
            "differs between them: learn from one of them, or collect anew"
        )
    return next(iter(store_of), None)


def digest_of(groups: Iterable[Iterable[Row]]) -> str:
    """SHA-256 over the sorted SHA-256 of all rows; older rows hash as they did before they had a timer."""
    older = ("timer", OLDER_TIMER)
    kept = ({name: value for name, value in row.items() if (name, value) != older} for group in groups for row in group)
    rows = (json.dumps(row, sort_keys=True, default=str) for row in kept)
    each = sorted(hashlib.sha256(text.encode()).hexdigest() for text in rows)
    return hashlib.sha256("".join(each).encode()).hexdigest()
