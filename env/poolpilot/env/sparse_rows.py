"""Rows of numbers some of which are missing, and how far a row that misses others is from each of them."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SparseRows:
    """n rows of F numbers, made once and compared with often.

    The sum of (row - x)^2 over what both sides have is row^2 - 2 row x + x^2 with 0 for what is missing: three products
    with all rows instead of a dozen passes over them.

    Attributes:
        scaled: The numbers in their units, 0 where missing, (n, F).
        squares: The same squared.
        present: 1 where there is a number, 0 where not, (n, F).
        units: Unit of every column, (F,).
    """

    scaled: NDArray[np.float64]
    squares: NDArray[np.float64]
    present: NDArray[np.float64]
    units: NDArray[np.float64]

    @classmethod
    def of(cls, rows: NDArray[np.float64], units: NDArray[np.float64]) -> Self:
        """Prepares rows, (n, F), NaN where missing, whose columns count in `units`, (F,)."""
        present = ~np.isnan(rows)
        scaled = np.where(present, rows, 0.0) / units
        return cls(scaled, np.square(scaled), present.astype(np.float64), units)

    def squared_differences(self, row: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sum of the squared differences to every row over the numbers that both have, and how many these are.

        Args:
            row: Numbers, (F,), NaN where missing.

        Examples:
            >>> rows = SparseRows.of(np.array([[1.0, 2.0], [np.nan, 5.0]]), np.array([1.0, 0.5]))
            >>> squares, count = rows.squared_differences(np.array([4.0, 2.0]))
            >>> squares.tolist(), count.tolist()
            ([9.0, 36.0], [2.0, 1.0])
        """
        seen = ~np.isnan(row)
        scaled = np.where(seen, row, 0.0) / self.units
        count = self.present @ seen.astype(np.float64)
        squares = self.squares @ seen - 2.0 * (self.scaled @ scaled) + self.present @ np.square(scaled)
        return np.maximum(squares, 0.0), count
