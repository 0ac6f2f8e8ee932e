"""Numbers in records that are none: infinities anywhere, and NaN where a value must be."""

from collections import defaultdict

import numpy as np
import pyarrow as pa

_IN_JSON = ("NaN", "Infinity")


def non_finite_rows(table: pa.Table) -> dict[int, list[str]]:
    """Columns that hold no finite number, by the row's number in the table.

    NaN in a column that may be empty means that the value is missing, as data frames write it.

    Args:
        table: Rows of `WINDOW_SCHEMA`.
    """
    found: dict[int, list[str]] = defaultdict(list)
    for field in table.schema:
        for index in _indices(table[field.name], field):
            found[index].append(field.name)
    return dict(sorted(found.items()))


def _indices(column: pa.ChunkedArray, field: pa.Field) -> list[int]:
    if field.name == "classes":
        return [index for index, text in enumerate(column.to_pylist()) if any(word in text for word in _IN_JSON)]
    if not pa.types.is_floating(field.type):
        return []
    values = column.to_numpy()  # an empty value becomes NaN
    wrong = np.isinf(values) if field.nullable else ~np.isfinite(values)
    indices: list[int] = np.flatnonzero(wrong).tolist()
    return indices
