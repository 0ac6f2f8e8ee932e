"""What may be wrong with one store: contradictions of the schema, sweeps without a default, numbers that are none."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from poolpilot.env.measurement.sweep import AGAIN_ROUND
from poolpilot.featurizer.record import OLDER_TIMER, TIMER
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.pipelines.store.dataset import limits_of, one_grid
from poolpilot.pipelines.store.fault import Fault, said
from poolpilot.pipelines.store.store_contents import Place, StoreContents, without_row

Row = Mapping[str, Any]

COLUMNS = (
    "workload_id",
    "family",
    "split",
    "kind",
    "round",
    "pool_size",
    "oversubscribe",
    "timer_interval_ms",
    "schema_version",
    "timer",
)
"""Columns of a window that are checked."""

_IN_JSON = ("NaN", "Infinity")


def store_faults(contents: StoreContents) -> Iterator[Fault]:
    """What is wrong with one store by itself.

    Args:
        contents: What is in it.
    """
    definitions: dict[str, Row] = {}
    for place, row in contents.definitions:
        if definitions.setdefault(row["workload_id"], row) != row:
            sentence = f"{place}: a second definition of workload {row['workload_id']!r} that differs from the first"
            yield Fault("schema", place.segment, row["workload_id"], f"{sentence}; collect into a new directory")
    if definitions:
        yield from said("schema", contents.directory, one_grid, contents.directory, definitions.values())
    yield from _windows_alone(contents, definitions)
    yield from _without_default(contents, definitions)


def _windows_alone(contents: StoreContents, definitions: Mapping[str, Row]) -> Iterator[Fault]:
    found: dict[tuple[str, str, bool], list[Place]] = defaultdict(list)
    for place, row in contents.rows(COLUMNS):
        contradiction = _contradiction(row, definitions.get(row["workload_id"]))
        if contradiction:
            found[row["workload_id"], *contradiction].append(place)
    for (name, reason, refused), (place, *further) in found.items():
        more = f" and {len(further)} more rows" if further else ""
        yield Fault("schema", place.segment, name, f"{place}{more} (workload {name!r}): {reason}", refused)
    for path, table in contents.windows.items():
        for index, columns in _non_finite_rows(table).items():
            place, name = Place(path, contents.row_numbers[path][index]), table["workload_id"][index].as_py()
            sentence = f"{place} (workload {name!r}): no finite number in {', '.join(columns)}"
            yield Fault("non_finite", path, name, f"{sentence}; {without_row(contents, path, name)}")


def _non_finite_rows(table: pa.Table) -> dict[int, list[str]]:
    """Columns that hold no finite number, by the row's number in the table.

    NaN in a column that may be empty means that the value is missing, as data frames write it.

    Args:
        table: Rows of `WINDOW_SCHEMA`.
    """
    found: dict[int, list[str]] = defaultdict(list)
    for field in table.schema:
        for index in _non_finite_in(table[field.name], field):
            found[index].append(field.name)
    return dict(sorted(found.items()))


def _non_finite_in(column: pa.ChunkedArray, field: pa.Field) -> list[int]:
    if field.name == "classes":
        return [index for index, text in enumerate(column.to_pylist()) if any(word in text for word in _IN_JSON)]
    if not pa.types.is_floating(field.type):
        return []
    values = column.to_numpy()  # an empty value becomes NaN
    wrong = np.isinf(values) if field.nullable else ~np.isfinite(values)
    indices: list[int] = np.flatnonzero(wrong).tolist()
    return indices


def _contradiction(row: Row, definition: Row | None) -> tuple[str, bool] | None:
    """What in a window contradicts its workload or this version, and whether it is refused; None for nothing."""
    anew = "collect into a new directory"
    if row["schema_version"] != SCHEMA_VERSION:
        version = f"measured under version {row['schema_version']} of the feature schema, this is {SCHEMA_VERSION}"
        return f"{version}; {anew}", True
    if row["timer"] not in (TIMER, OLDER_TIMER):
        return f"names the timer {row['timer']!r}; there are {OLDER_TIMER!r} and {TIMER!r}", True
    if definition is None:
        # A kill between the two writes of a finished sweep leaves such rows, and nobody reads them.
        return "the store does not define this workload, so that these rows are left out", False
    if row["family"] != definition["family"]:
        return f"of the family {row['family']!r}, its workload of {definition['family']!r}; {anew}", True
    if row["split"] != definition["split"]:
        # A family may be moved after it was measured; everybody reads the split of the workload.
        return f"measured for the split {row['split']!r}, read as {definition['split']!r} like its workload", False
    return None


def _without_default(contents: StoreContents, definitions: Mapping[str, Row]) -> Iterator[Fault]:
    """Complete sweeps that neither measured the default nor sizes on both sides of it."""
    cores: dict[str, set[tuple[int, int, int]]] = defaultdict(set)
    complete: set[str] = set()
    for _, row in contents.rows(COLUMNS):
        if row["kind"] == "sweep" and row["round"] == AGAIN_ROUND:
            complete.add(row["workload_id"])
        elif row["kind"] == "sweep":
            cores[row["workload_id"]].add((row["pool_size"], row["oversubscribe"], row["timer_interval_ms"]))
    for name in sorted(complete & definitions.keys()):
        size, *rest = limits_of(definitions[name]).default_tuple().core
        sizes = [core[0] for core in cores[name] if [*core[1:]] == rest]
        if not (sizes and min(sizes) <= size <= max(sizes)):
            sentence = (
                f"the sweep of workload {name!r} in {contents.directory} has no default: of {(size, *rest)} neither "
                "itself nor sizes on both sides were measured, so nothing can be compared with it; collect it again"
            )
            yield Fault("no_default", contents.directory, name, sentence)
