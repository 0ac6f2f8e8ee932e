"""What a store holds, read without changing it: every row with its segment, and what cannot be read as faults."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from poolpilot.env.workloads.family import Split
from poolpilot.errors import StoreError
from poolpilot.pipelines.store.fault import Fault
from poolpilot.pipelines.store.record_store import RecordStore, sound_segment
from poolpilot.pipelines.store.records import StagingStore, holds_nothing

WHY_WHOLE = "the name of a segment has the digest of all its rows"
"""Why a row that is wrong stays or goes with its file."""

ALL_SPLITS: tuple[Split, ...] = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row lies.

    Attributes:
        segment: Its file.
        row: Its number in the file, from 0.
    """

    segment: Path
    row: int

    def __str__(self) -> str:
        return f"segment {self.segment}, row {self.row}"


@dataclass(frozen=True)
class StoreContents:
    """The rows of a store.

    Attributes:
        directory: Its folder.
        definitions: Rows of `WORKLOAD_SCHEMA`, each with its place.
        windows: Rows of `WINDOW_SCHEMA` by segment, in the order of the file; rows of other splits are left out.
        row_numbers: Number in its file of every row of `windows`.
        windows_in: Rows of each file, of every split.
        split_of: Split of every workload, as it is defined.
        faults: What could not be read.
    """

    directory: Path
    definitions: list[tuple[Place, Mapping[str, Any]]] = field(default_factory=list)
    windows: dict[Path, pa.Table] = field(default_factory=dict)
    row_numbers: dict[Path, list[int]] = field(default_factory=dict)
    windows_in: dict[Path, int] = field(default_factory=dict)
    split_of: dict[str, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    @classmethod
    def read(
        cls, directory: Path, splits: Collection[Split] = ALL_SPLITS, defined: Collection[Split] = ALL_SPLITS
    ) -> "StoreContents":
        """Reads a store.

        Args:
            directory: Its folder.
            splits: Splits whose windows are read.
            defined: Splits whose workloads are read.

        Raises:
            StoreError: The folder holds no records, or a file cannot be read.
        """
        store, contents = StagingStore(directory), cls(directory)
        contents._define(store, defined)
        for path, table in contents._tables(store.windows):
            contents._keep(path, table, splits)
        if not (contents.split_of or contents.windows or contents.faults):
            raise StoreError(holds_nothing(directory))
        return contents

    def _define(self, store: StagingStore, defined: Collection[Split]) -> None:
        for path, table in self._tables(store.workloads):
            for number, row in enumerate(table.to_pylist()):
                self.split_of.setdefault(row["workload_id"], row["split"])
                if row["split"] in defined:
                    self.definitions.append((Place(path, number), row))

    def _keep(self, path: Path, table: pa.Table, splits: Collection[Split]) -> None:
        said = zip(table["workload_id"].to_pylist(), table["split"].to_pylist(), strict=True)
        kept = [number for number, (name, split) in enumerate(said) if self.split_of.get(name, split) in splits]
        self.windows[path], self.row_numbers[path] = table.take(pa.array(kept, pa.int64())), kept
        self.windows_in[path] = table.num_rows

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
        """Some columns of the windows, each row with its place."""
        for path, table in self.windows.items():
            places = (Place(path, number) for number in self.row_numbers[path])
            yield from zip(places, table.select(list(columns)).to_pylist(), strict=True)

    def _tables(self, records: RecordStore) -> list[tuple[Path, pa.Table]]:
        tables = []
        for path in sorted(records.directory.glob("*.parquet")):
            table = self._table(records, path)
            if table is not None:
                tables.append((path, table))
        self.faults.extend(_set_aside(path) for path in sorted(records.directory.glob("*.torn")))
        return tables

    def _table(self, records: RecordStore, path: Path) -> pa.Table | None:
        try:
            if sound_segment(path) is None:
                self.faults.append(_damaged(path))
                return None
            return records.read(path)
        except StoreError as error:
            self.faults.append(Fault("schema", path, "", str(error)))
        except OSError as error:
            raise StoreError(f"cannot read segment {path}: {error.strerror}") from error
        return None


def _damaged(path: Path) -> Fault:
    return Fault(
        "damaged",
        path,
        "",
        f"segment {path} is damaged: its bytes do not fit the digest in its name; fetch it anew, or let `poolpilot "
        "learn collect` set it aside and measure again what is missing",
    )


def _set_aside(path: Path) -> Fault:
    return Fault(
        "damaged", path, "", f"segment {path} was damaged and has been set aside: its rows are missing", refused=False
    )


def without_row(contents: StoreContents, segment: Path, workload_id: str) -> str:
    """What to do about one row of a segment, and what is lost with it.

    Args:
        contents: The store that the segment is of.
        segment: Its file.
        workload_id: Workload of the row.
    """
    copy = f"StagingStore(Path({str(contents.directory)!r})).merged_into(Path('NEW'), but={{{workload_id!r}}})"
    return (
        f"no single row can be removed, since {WHY_WHOLE}: remove the file, which loses its "
        f"{_windows(contents.windows_in[segment])} until poolpilot learn collect --store {contents.directory} measures "
        f"anew what is missing, or leave the workload out of a copy: {copy}"
    )


def without_one_of(stores: Sequence[StoreContents], one: Path, other: Path) -> str:
    """What to do about a row that two segments hold, and what is lost with it.

    Args:
        stores: The stores that the segments are of.
        one: File of one.
        other: File of the other.
    """
    windows_in = {segment: number for contents in stores for segment, number in contents.windows_in.items()}
    return (
        f"remove one of them with its whole file (of {_windows(windows_in[one])} or {_windows(windows_in[other])}), "
        f"since {WHY_WHOLE}; poolpilot learn collect --store FOLDER measures anew what is missing then"
    )


def _windows(number: int) -> str:
    return "one window" if number == 1 else f"{number} windows"
