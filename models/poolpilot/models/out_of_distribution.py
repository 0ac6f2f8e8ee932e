"""Whether a window is like those a model was trained on: a box, a distance to stored windows, known servers."""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.sparse_rows import SparseRows
from poolpilot.errors import SettingError
from poolpilot.featurizer.schema import FEATURES, moments_of_present, scaled
from poolpilot.featurizer.window import Window

SMALLEST_SPREAD = 0.02
"""Spread of a scaled feature that hardly varied in training, so that noise is not taken for distance."""

BOX_SHARES = (0.001, 0.999)
"""Quantiles of the training windows that the box spans before its margin."""

REFERENCE_DIGITS = 4
"""Decimals kept of the stored vectors: far finer than the noise of a window."""

NUMBERS_OF_A_RANGE = 5
"""From so many different numbers of processors on a model has learned how things go with their number: then all that
lie between are familiar; of fewer only those that it has seen."""

NEEDED_RECORDS = "it would need records of workloads like this one"
"""What would end a doubt about a workload."""


class DistributionSettings(BaseModel):
    """How the statistics are fitted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    references: int = Field(default=256, ge=1, description="Training windows stored to measure distances to.")
    neighbours: int = Field(default=3, ge=1, description="Nearest stored windows whose mean distance counts.")
    margin: float = Field(default=0.25, ge=0.0, description="Share of its width by which the box grows on each side.")
    quantile: float = Field(
        default=0.99, gt=0.0, le=1.0, description="Share of the held-out windows that must count as familiar."
    )
    seed: int = Field(default=0, description="Seed of the choice of stored windows.")


class Familiarity(NamedTuple):
    """What the statistics say of a window.

    Attributes:
        distance: Mean distance to the nearest stored windows, in spreads of a feature; infinite if no
            feature is shared.
        threshold: Distance above which a window counts as unfamiliar.
        reasons: Why the window is unfamiliar and what the model would need, as sentences; empty when it is familiar.
    """

    distance: float
    threshold: float
    reasons: tuple[str, ...]


class OutOfDistribution(BaseModel):
    """Statistics of the training windows, in scaled features; None where a feature was missing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: tuple[float | None, ...] = Field(description="Lower side of the box per feature.")
    high: tuple[float | None, ...] = Field(description="Upper side of the box per feature.")
    spread: tuple[float, ...] = Field(description="Standard deviation per feature, floored.")
    references: tuple[tuple[float | None, ...], ...] = Field(description="Stored training windows.")
    neighbours: int = Field(ge=1, description="Nearest stored windows whose mean distance counts.")
    distance_threshold: float = Field(ge=0.0, description="Largest familiar distance.")
    outside_threshold: int = Field(ge=0, description="Most features that may lie outside the box.")
    cpus: tuple[int, ...] = Field(description="Processor counts measured in training.")

    @property
    def cpus_range(self) -> tuple[int, int] | None:
        """Least and greatest familiar number of processors; None where only those listed are familiar."""
        several = len(set(self.cpus)) >= NUMBERS_OF_A_RANGE
        return (min(self.cpus), max(self.cpus)) if several else None

    @property
    def cpus_in_words(self) -> str:
        """The familiar numbers of processors: "1 or 2", or "1 to 128"."""
        ends = self.cpus_range
        return " or ".join(map(str, self.cpus)) if ends is None else f"{ends[0]} to {ends[1]}"

    def knows_cpus(self, cpus: int) -> bool:
        """Whether servers of so many processors are familiar."""
        ends = self.cpus_range
        return cpus in self.cpus if ends is None else ends[0] <= cpus <= ends[1]

    @classmethod
    def fit(
        cls,
        training: Sequence[Window],
        held_out: Sequence[Window],
        cpus: Collection[int],
        settings: DistributionSettings | None = None,
    ) -> "OutOfDistribution":
        """Fits the statistics; both thresholds are quantiles over windows of families not trained on.

        Args:
            training: Windows of the training workloads.
            held_out: Windows of the validation families.
            cpus: Processor counts of the servers of the training workloads.
            settings: How to fit; the defaults if not given.

        Raises:
            SettingError: There are no training or no held-out windows.
        """
        chosen = settings or DistributionSettings()
        if not training or not held_out:
            raise SettingError("out-of-distribution statistics need training and held-out windows; collect both")
        vectors = np.stack([vector_of(window) for window in training])
        low, high = _box(vectors, chosen.margin)
        present = ~np.isnan(vectors)
        _, deviation = moments_of_present(vectors, present)
        spread = np.where(present.any(axis=0), deviation, 1.0)
        count = min(chosen.references, len(vectors))
        rows = np.sort(np.random.default_rng(chosen.seed).choice(len(vectors), size=count, replace=False))
        unjudged = cls(
            low=_optional(low),
            high=_optional(high),
            spread=tuple(np.maximum(spread, SMALLEST_SPREAD).tolist()),
            references=tuple(_optional(vectors[row].round(REFERENCE_DIGITS)) for row in rows),
            neighbours=min(chosen.neighbours, count),
            distance_threshold=0.0,
            outside_threshold=0,
            cpus=tuple(sorted({int(number) for number in cpus})),
        )
        return unjudged._calibrated(held_out, chosen.quantile)

    def assess(self, window: Window, cpus: int, tolerance: float = 1.0) -> Familiarity:
        """Compares a window of a server with `cpus` processors with the training windows.

        Args:
            window: The window.
            cpus: Processors of its server.
            tolerance: Multiple of the thresholds up to which a window still counts as familiar.
        """
        vector = vector_of(window)
        distance = self.distance(vector)
        outside = self.outside(vector)
        reasons = []
        if not self.knows_cpus(cpus):
            reasons.append(
                f"the model has learned from servers of {self.cpus_in_words} processors only, and this one has {cpus}; "
                "it would need records of servers like this one"
            )
        if distance > tolerance * self.distance_threshold:
            reasons.append(
                f"the workload is unlike every workload that the model has learned from (distance {distance:.2f}, "
                f"familiar up to {self.distance_threshold:.2f}); {NEEDED_RECORDS}"
            )
        if len(outside) > tolerance * self.outside_threshold:
            reasons.append(_outside_sentence(window, outside, self.outside_threshold))
        return Familiarity(distance, self.distance_threshold, tuple(reasons))

    def distance(self, vector: NDArray[np.float64]) -> float:
        """Mean over the nearest stored windows of the root mean square difference, in spreads.

        Args:
            vector: Scaled features, NaN where missing, (F,); only features present on both sides count.
        """
        squares, count = self._known.squared_differences(vector)
        distances = np.where(count > 0, np.sqrt(squares / np.maximum(count, 1)), np.inf)
        return float(np.sort(distances)[: self.neighbours].mean())

    def outside(self, vector: NDArray[np.float64]) -> list[int]:
        """Indices of the features outside the box; a feature never present in training is outside if present."""
        present = ~np.isnan(vector)
        inside = (vector >= self._low) & (vector <= self._high)
        return [int(index) for index in np.flatnonzero(present & ~inside)]

    def _calibrated(self, held_out: Sequence[Window], quantile: float) -> "OutOfDistribution":
        vectors = [vector_of(window) for window in held_out]
        distance = float(np.quantile([self.distance(vector) for vector in vectors], quantile))
        outside = int(np.ceil(np.quantile([len(self.outside(vector)) for vector in vectors], quantile)))
        return self.model_copy(update={"distance_threshold": distance, "outside_threshold": outside})

    @cached_property
    def _known(self) -> SparseRows:
        return SparseRows.of(np.array(self.references, dtype=np.float64), np.asarray(self.spread))

    @cached_property
    def _low(self) -> NDArray[np.float64]:
        return np.array(self.low, dtype=np.float64)

    @cached_property
    def _high(self) -> NDArray[np.float64]:
        return np.array(self.high, dtype=np.float64)


def vector_of(window: Window) -> NDArray[np.float64]:
    """Scaled features of a window, NaN where missing or hidden, (F,)."""
    return scaled(window.profile.shown()).astype(np.float32).astype(np.float64)


def _box(vectors: NDArray[np.float64], margin: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low = np.full(vectors.shape[1], np.nan)
    high = low.copy()
    for index, column in enumerate(vectors.T):
        known = column[~np.isnan(column)]
        if len(known):
            low[index], high[index] = np.quantile(known, BOX_SHARES)
    grown = margin * np.maximum(high - low, SMALLEST_SPREAD)
    return low - grown, high + grown


def _optional(values: NDArray[np.float64]) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(value) else float(value) for value in values)


def _outside_sentence(window: Window, outside: Sequence[int], allowed: int) -> str:
    shown = [FEATURES[index] for index in outside[:3]]
    values = ", ".join(f"{feature.name} = {window.profile.features[feature.name]:.4g}" for feature in shown)
    return (
        f"measurements outside the range learned from: {len(outside)} where up to {allowed} would be familiar "
        f"({values}); {NEEDED_RECORDS}"
    )
