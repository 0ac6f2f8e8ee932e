"""What staging keeps: a store of measured windows beside a store of the workloads they were measured under."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from poolpilot.errors import StoreError
from poolpilot.featurizer.measures import STATUS_COUNTERS
from poolpilot.featurizer.record import OLDER_TIMER, RECORD_FIELDS
from poolpilot.pipelines.store.record_store import RecordStore

_ARROW_TYPES = {"int": pa.int64(), "float": pa.float64(), "text": pa.string(), "bool": pa.bool_()}

WINDOW_SCHEMA = pa.schema([pa.field(one.name, _ARROW_TYPES[one.kind], one.nullable) for one in RECORD_FIELDS])
"""One row per measured window: the record schema of the featurizer."""

WORKLOAD_SCHEMA = pa.schema(
    [
        pa.field("workload_id", pa.string(), nullable=False),
        pa.field("family", pa.string(), nullable=False),
        pa.field("split", pa.string(), nullable=False),
        pa.field("workload", pa.string(), nullable=False),
        pa.field("limits", pa.string(), nullable=False),
        pa.field("objective", pa.string(), nullable=False),
        pa.field("ladder", pa.string(), nullable=False),
    ]
)
"""One row per workload; the last four columns are JSON of `Workload`, `KnobSpace`, `Objective` and `ActionGrid`."""


@dataclass(frozen=True)
class StagingStore:
    """The two record stores of a folder.

    Attributes:
        directory: The folder.
    """

    directory: Path

    @property
    def windows(self) -> RecordStore:
        """Measured windows."""
        return RecordStore(
            self.directory / "windows", WINDOW_SCHEMA, later={"timer": OLDER_TIMER, **dict.fromkeys(STATUS_COUNTERS)}
        )

    @property
    def workloads(self) -> RecordStore:
        """Workloads."""
        return RecordStore(self.directory / "workloads", WORKLOAD_SCHEMA)

    @property
    def torn(self) -> tuple[str, ...]:
        """Names of all segments that are set aside."""
        return self.windows.torn + self.workloads.torn

    @property
    def digest(self) -> str:
        """One SHA-256 for everything that can be read."""
        return hashlib.sha256((self.windows.digest + self.workloads.digest).encode()).hexdigest()

    def workload_rows(self) -> dict[str, dict[str, Any]]:
        """Rows of `WORKLOAD_SCHEMA` by workload.

        Raises:
            StoreError: Two rows of one workload differ.
        """
        rows: dict[str, dict[str, Any]] = {}
        for row in self.workloads.scan().to_pylist():
            known = rows.setdefault(row["workload_id"], row)
            if known != row:
                raise StoreError(
                    f"the store {self.directory} holds two definitions of workload {row['workload_id']!r}; "
                    "collect into a new directory"
                )
        return rows

    def window_rows(self, workload_ids: Iterable[str] | None = None) -> list[Mapping[str, Any]]:
        """Rows of `WINDOW_SCHEMA` in the order measured, of all workloads or of some.

        What servers show beside their pool is left out where it is null, so that older rows, which have no such
        columns, read and hash as they always did.
        """
        table = self.windows.scan()
        if workload_ids is not None:
            wanted = pa.array(sorted(set(workload_ids)), pa.string())
            table = table.filter(pc.is_in(table["workload_id"], wanted))
        rows = table.sort_by("time_unix_s").to_pylist()
        return [
            {name: value for name, value in row.items() if value is not None or name not in STATUS_COUNTERS}
            for row in rows
        ]

    def merged_into(
        self, directory: Path, run_id: str = "merged", but: Collection[str] = frozenset()
    ) -> "StagingStore":
        """Copies everything that can be read into one segment of each kind, to keep or to send; returns that store.

        Args:
            directory: Folder of the new store.
            run_id: Names the writer in the file names; the rows keep their own run ids.
            but: Workloads that are left out.

        Raises:
            StoreError: There is nothing to copy, or the folder cannot be written.
        """
        merged = StagingStore(directory)
        definitions = [row for name, row in self.workload_rows().items() if name not in but]
        merged.workloads.append(definitions, run_id)
        merged.windows.append(self.window_rows(row["workload_id"] for row in definitions), run_id)
        return merged


def holds_nothing(directory: Path) -> str:
    """The sentence about a folder without records."""
    return f"the store {directory} holds no workloads; collect some: poolpilot learn collect --store {directory}"
