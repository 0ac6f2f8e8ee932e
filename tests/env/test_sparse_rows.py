"""Three products give the same as going over all rows, whatever is missing."""

import numpy as np
import pytest

from poolpilot.env.sparse_rows import SparseRows


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.9, 1.0])
def test_differences_are_those_over_what_both_sides_have(missing: float) -> None:
    random = np.random.default_rng(1)
    rows = random.normal(0.0, 3.0, (40, 7))
    rows[random.random(rows.shape) < missing] = np.nan
    units = random.uniform(0.02, 2.0, 7)
    prepared = SparseRows.of(rows, units)
    for _ in range(20):
        row = random.normal(0.0, 3.0, 7)
        row[random.random(7) < missing] = np.nan
        squares, count = prepared.squared_differences(row)
        direct = ((rows - row) / units) ** 2
        assert count.tolist() == (~np.isnan(direct)).sum(axis=1).tolist()
        np.testing.assert_allclose(squares, np.nansum(direct, axis=1), rtol=1e-9, atol=1e-9)


def test_row_is_not_below_nothing_from_itself() -> None:
    rows = np.array([[1e3 + 1e-9, 2e3, 3e3]])
    squares, _ = SparseRows.of(rows, np.array([1e-3, 1e-3, 1e-3])).squared_differences(rows[0])
    assert (squares >= 0.0).all()
