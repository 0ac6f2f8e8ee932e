"""A mergeable log-linear histogram: the same buckets in the live server, the load generator and here."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.errors import SettingError

SUB_BUCKET_BITS = 4
"""Each octave is cut into 2**SUB_BUCKET_BITS linear buckets: a bucket is at most 6.25 % wide."""

OCTAVES = 36
"""Values under 2**(OCTAVES + SUB_BUCKET_BITS) are told apart; larger ones fall into the last bucket."""

BUCKETS = (OCTAVES + 1) << SUB_BUCKET_BITS


def bucket_lower_bounds() -> NDArray[np.float64]:
    """Lower bounds of all buckets and, last, the upper bound of the last one. Shape (BUCKETS + 1,)."""
    index = np.arange(BUCKETS + 1)
    octave = index >> SUB_BUCKET_BITS
    sub = index & ((1 << SUB_BUCKET_BITS) - 1)
    shift = np.maximum(octave - 1, 0)
    base = np.where(octave > 0, 1 << SUB_BUCKET_BITS, 0)
    bounds: NDArray[np.float64] = (base + sub) * np.exp2(shift)
    return bounds


LOWER_BOUNDS = bucket_lower_bounds()

MIDDLES = (LOWER_BOUNDS[:-1] + LOWER_BOUNDS[1:]) / 2.0
"""Value that stands for each bucket. Shape (BUCKETS,)."""

MIDDLE_SQUARES = MIDDLES**2


def bucket_of(value: float) -> int:
    """Index of the bucket that holds a non-negative value."""
    whole = int(value)
    octave = whole.bit_length() - SUB_BUCKET_BITS
    if octave <= 0:
        return whole
    return min((octave << SUB_BUCKET_BITS) + (whole >> (octave - 1)) - (1 << SUB_BUCKET_BITS), BUCKETS - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts per bucket with exact first and second moments.

    Attributes:
        counts: Observations per bucket, shape (BUCKETS,).
        total: Sum of the observed values.
        total_squares: Sum of their squares.
    """

    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(BUCKETS, dtype=np.int64))
    total: float = 0.0
    total_squares: float = 0.0

    @property
    def count(self) -> int:
        """Number of observations."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Mean of the observations; 0 when there are none."""
        count = self.count
        return self.total / count if count else 0.0

    @property
    def coefficient_of_variation(self) -> float:
        """Standard deviation over mean; 0 when there are no observations or they are all zero."""
        count = self.count
        if not count or self.total <= 0.0:
            return 0.0
        mean = self.total / count
        variance = max(self.total_squares / count - mean**2, 0.0)
        return float(np.sqrt(variance)) / mean

    def quantile(self, share: float) -> float:
        """Value below which `share` (0..1) of the observations lie, linear within its bucket; 0 when empty."""
        cumulative = np.cumsum(self.counts)
        count = int(cumulative[-1])
        if not count:
            return 0.0
        rank = share * count
        index = int(np.searchsorted(cumulative, rank, side="left"))
        index = min(index, BUCKETS - 1)
        before = float(cumulative[index] - self.counts[index])
        within = (rank - before) / float(self.counts[index]) if self.counts[index] else 0.0
        low, high = LOWER_BOUNDS[index], LOWER_BOUNDS[index + 1]
        return float(low + min(max(within, 0.0), 1.0) * (high - low))

    def count_below(self, limit: float) -> float:
        """Number of observations at or below `limit`, linear within its bucket."""
        index = bucket_of(limit)
        low, high = LOWER_BOUNDS[index], LOWER_BOUNDS[index + 1]
        within = min(max((limit - low) / (high - low), 0.0), 1.0)
        return float(self.counts[:index].sum() + within * self.counts[index])

    def add(self, *values: float) -> Self:
        """The histogram with further observations; this one stays as it is.

        Args:
            *values: What was observed, at least 0, in microseconds for times.

        Raises:
            SettingError: A value is negative or not finite.

        Examples:
            >>> Histogram().add(250.0).add(250.0, 1000.0).count
            3
        """
        return self + self.of_values(values)

    def __eq__(self, other: object) -> bool:
        """Tells whether counts and moments are the same."""
        if not isinstance(other, Histogram):
            return NotImplemented
        moments = (self.total, self.total_squares) == (other.total, other.total_squares)
        return moments and bool(np.array_equal(self.counts, other.counts))

    def __add__(self, other: Self) -> Self:
        """Merges two histograms."""
        return type(self)(
            self.counts + other.counts, self.total + other.total, self.total_squares + other.total_squares
        )

    def __sub__(self, other: Self) -> Self:
        """What was observed since the earlier, cumulative histogram `other`."""
        return type(self)(
            self.counts - other.counts, self.total - other.total, self.total_squares - other.total_squares
        )

    @classmethod
    def of_values(cls, values: Iterable[float]) -> Self:
        """The histogram of some observations, with exact moments.

        Args:
            values: What was observed, at least 0, in microseconds for times.

        Raises:
            SettingError: A value is negative or not finite.

        Examples:
            >>> latency = Histogram.of_values([200.0, 400.0])
            >>> latency.count, latency.mean
            (2, 300.0)
        """
        observed = np.fromiter(values, dtype=np.float64)
        if not (np.isfinite(observed) & (observed >= 0.0)).all():
            raise SettingError("a histogram takes finite values of at least 0; measure times by a monotonic clock")
        counts = np.zeros(BUCKETS, dtype=np.int64)
        np.add.at(counts, [bucket_of(value) for value in observed], 1)
        return cls(counts, float(observed.sum()), float(np.square(observed).sum()))

    def to_sparse(self) -> list[tuple[int, int]]:
        """Non-empty buckets as (index, count) pairs, fit for JSON and Parquet."""
        return [(int(index), int(self.counts[index])) for index in np.flatnonzero(self.counts)]

    @classmethod
    def from_sparse(
        cls, pairs: list[tuple[int, int]], total: float | None = None, total_squares: float | None = None
    ) -> Self:
        """Rebuilds a histogram from `to_sparse`; moments not given are those of the buckets' middles."""
        counts = np.zeros(BUCKETS, dtype=np.int64)
        for index, count in pairs:
            counts[index] = count
        binned = cls(counts).binned()
        first = binned.total if total is None else total
        second = binned.total_squares if total_squares is None else total_squares
        return cls(counts, first, second)

    def binned(self) -> Self:
        """The same counts with the moments of their buckets' middles, which is all that the sparse form tells."""
        return type(self)(self.counts, float(self.counts @ MIDDLES), float(self.counts @ MIDDLE_SQUARES))
