"""The workload repository: what training workloads looked like under every tuple, and what it did to their classes."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from poolpilot.env.action_grid import nearest_core
from poolpilot.env.measurement.sweep import Core, WorkloadSweep
from poolpilot.errors import ArtefactError
from poolpilot.featurizer.schema import FEATURES, feature_names, moments_of_present, scaled
from poolpilot.featurizer.window import Window

DIGITS = 3
SMALLEST_SPREAD = 0.02


class RememberedTuple(BaseModel):
    """One tuple under one workload."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    core: Core = Field(description="Pool size, oversubscribe, timer interval in ms.")
    features: tuple[float | None, ...] = Field(description="Mean of the scaled features; None where missing.")
    value: float = Field(description="Mean J.")
    per_s: dict[str, float] = Field(description="Completions a second of every class.")


class RememberedWorkload(BaseModel):
    """One workload."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="Its name.")
    family: str = Field(description="Its family.")
    tuples: tuple[RememberedTuple, ...] = Field(description="Every configuration measured.")

    def under(self, core: Core) -> RememberedTuple:
        """The tuple measured that is nearest in logarithms."""
        return self.tuples[nearest_core([one.core for one in self.tuples], core)]


class Likeness(NamedTuple):
    """A workload of the repository and how far it is.

    Attributes:
        workload: The workload.
        distance: Root mean square difference of the features both have, in their spreads.
    """

    workload: RememberedWorkload
    distance: float


class WorkloadRepository(BaseModel):
    """All workloads that a model was trained on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workloads: tuple[RememberedWorkload, ...] = Field(min_length=1, description="The workloads.")

    @classmethod
    def of(cls, sweeps: Sequence[WorkloadSweep]) -> Self:
        """Remembers the sweeps that a model is trained on."""
        return cls(
            workloads=tuple(
                RememberedWorkload(
                    name=sweep.workload_id,
                    family=sweep.family,
                    tuples=tuple(
                        RememberedTuple(
                            core=core,
                            features=_mean_features(entry.windows),
                            value=round(entry.value, DIGITS),
                            per_s=_throughputs(entry.windows),
                        )
                        for core, entry in sweep.entries.items()
                    ),
                )
                for sweep in sweeps
            )
        )

    @classmethod
    def from_json(cls, content: bytes, path: Path) -> Self:
        """Reads a repository from the content of its file.

        Args:
            content: What `as_json` gave.
            path: Where it lies, for messages.

        Raises:
            ArtefactError: It is no repository, or of another feature schema.
        """
        try:
            repository = cls.model_validate_json(content)
        except ValidationError as error:
            raise ArtefactError(f"{path} is no repository: {str(error).splitlines()[0]}; train again") from error
        if any(len(one.features) != len(FEATURES) for each in repository.workloads for one in each.tuples):
            raise ArtefactError(f"the repository {path} is of another feature schema; train again")
        return repository

    def as_json(self) -> str:
        """The repository as stored: one line a workload."""
        lines = ",\n".join(json.dumps(one.model_dump(), separators=(",", ":")) for one in self.workloads)
        return f'{{"workloads": [\n{lines}\n]}}\n'

    def nearest(self, window: Window) -> Likeness:
        """The workload whose window under the nearest tuple looks most like this one."""
        seen = scaled(window.profile.features)
        found = []
        for workload in self.workloads:
            stored = np.array(workload.under(window.pool_tuple.core).features, dtype=np.float64)
            differences = (seen - stored) / self._spread
            found.append(float(np.sqrt(np.nanmean(np.square(differences)))))
        nearest = int(np.argmin(found))
        return Likeness(self.workloads[nearest], found[nearest])

    @cached_property
    def _spread(self) -> NDArray[np.float64]:
        """Standard deviation of every feature over all workloads, floored."""
        rows = np.array([one.features for each in self.workloads for one in each.tuples], dtype=np.float64)
        _, deviation = moments_of_present(rows, ~np.isnan(rows))
        spread: NDArray[np.float64] = np.maximum(deviation, SMALLEST_SPREAD)
        return spread


def _mean_features(windows: Sequence[Window]) -> tuple[float | None, ...]:
    rows = np.stack([scaled(window.profile.features) for window in windows])
    return tuple(
        None if np.isnan(column).all() else round(float(np.nanmean(column)), DIGITS)
        for column, _ in zip(rows.T, feature_names(), strict=True)
    )


def _throughputs(windows: Sequence[Window]) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for window in windows for name in window.classes}
    for window in windows:
        for name, one in window.classes.items():
            found[name].append(one.throughput_per_s)
    return {name: round(float(np.mean(each)), 1) for name, each in sorted(found.items())}
