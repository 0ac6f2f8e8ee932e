"""Response curves: what many workloads are worth under every configuration of a machine grid; one file, no pickle."""

import hashlib
import json
import lzma
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from poolpilot.durability.durable_writes import write_durably
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.sparse_rows import SparseRows
from poolpilot.errors import ArtefactError
from poolpilot.featurizer.schema import moments_of_present
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.ratios import ratio_names

DIGITS = 3
"""Decimals of a logarithm that are kept: a tenth of a per cent."""

RATIO_DIGITS = 2
"""Decimals of a ratio that are kept: far finer than the noise of a window."""

SMALLEST_SPREAD = 0.02
"""Spread of a ratio that hardly varies over the library, so that noise is not taken for distance."""


def rounded(ratios: NDArray[np.float64]) -> tuple[float | None, ...]:
    """Ratios of a window as a library keeps them: (R,), NaN where missing."""
    return tuple(None if np.isnan(value) else round(float(value), RATIO_DIGITS) for value in ratios)


class ResponseCurve(BaseModel):
    """What one workload answered to every configuration.

    Attributes:
        name: The workload.
        family: The family it was drawn from.
        cpus: Processors of the machine.
        connections: Connections that send.
        composition: What it is composed of, as `poolpilot.env.workloads.composition` writes it; empty if nobody knows.
        log_worth: Natural logarithm of what J values (`Objective.worth_per_s`) under every column of the grid.
        ratios: Ratios (`poolpilot.models.latent.ratios`) of its windows under each reference column of the grid, None
            where missing; empty for a workload of which none were kept.
        light: Whether only a part of what its server can give was asked for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    family: str
    cpus: int = Field(ge=1)
    connections: int = Field(ge=0)
    composition: str = ""
    log_worth: tuple[float, ...]
    ratios: tuple[tuple[float | None, ...], ...] = ()
    light: bool = False


class ResponseCurves(BaseModel):
    """A library of response curves: what a latent bandit knows before it has seen a server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    grid: MachineGrid = Field(description="The configurations.")
    source: str = Field(description="How the curves were measured, in words.")
    ratio_names: tuple[str, ...] = Field(default=ratio_names(), description="Names of the ratios, in their order.")
    curves: tuple[ResponseCurve, ...] = Field(min_length=1, description="The workloads.")

    @model_validator(mode="after")
    def _fits_the_grid(self) -> Self:
        wrong = [curve.name for curve in self.curves if len(curve.log_worth) != len(self.grid)]
        if wrong:
            raise ValueError(f"the curve of {wrong[0]} does not have one value for each of {len(self.grid)} columns")
        if self.ratio_names != ratio_names():
            raise ValueError(f"the ratios are not those of this version: {', '.join(ratio_names())}")
        shape = (len(self.grid.reference_columns), len(self.ratio_names))
        wrong = [curve.name for curve in self.curves if curve.ratios and _shape(curve.ratios) != shape]
        if wrong:
            raise ValueError(f"the ratios of {wrong[0]} are not {shape[0]} rows of {shape[1]}")
        if not np.isfinite(self.log_worth).all() or np.isinf(self.ratios).any():
            raise ValueError("a curve holds a number that is not finite")
        return self

    @cached_property
    def log_worth(self) -> NDArray[np.float64]:
        """All curves, (S, A)."""
        return np.array([curve.log_worth for curve in self.curves], dtype=np.float64)

    @cached_property
    def ratios(self) -> NDArray[np.float64]:
        """Ratios of all curves under K reference columns, NaN where missing, (S, K, R)."""
        none = np.full((len(self.grid.reference_columns), len(self.ratio_names)), np.nan)
        return np.stack([np.array(curve.ratios, dtype=np.float64) if curve.ratios else none for curve in self.curves])

    @cached_property
    def spreads(self) -> NDArray[np.float64]:
        """Standard deviation of every ratio over the saturated curves, floored, (R,); the unit of distances."""
        rows = self.saturated.ratios.reshape(-1, len(self.ratio_names))
        present = ~np.isnan(rows)
        _, deviation = moments_of_present(rows, present)
        spreads: NDArray[np.float64] = np.where(present.any(axis=0), np.maximum(deviation, SMALLEST_SPREAD), 1.0)
        return spreads

    @cached_property
    def saturated(self) -> Self:
        """The curves of servers that were asked for all they can give; all curves where there are no such."""
        full = tuple(curve for curve in self.curves if not curve.light)
        if len(full) in (0, len(self.curves)):
            return self
        return type(self)(grid=self.grid, source=self.source, curves=full)

    @cached_property
    def ratios_by_reference(self) -> tuple[SparseRows, ...]:
        """The ratios of all curves under each of the K reference columns, in spreads."""
        columns = np.moveaxis(self.ratios, 1, 0)
        return tuple(SparseRows.of(np.ascontiguousarray(rows), self.spreads) for rows in columns)

    @cached_property
    def prior(self) -> NDArray[np.float64]:
        """Weight of each curve before anything is seen, (S,): every family weighs the same."""
        members = Counter(curve.family for curve in self.curves)
        weights = np.array([1.0 / members[curve.family] for curve in self.curves])
        prior: NDArray[np.float64] = weights / weights.sum()
        return prior

    @cached_property
    def most_cpus(self) -> int:
        """Processors of the largest machine."""
        return max(curve.cpus for curve in self.curves)

    def beyond(self, limits: KnobSpace) -> tuple[str, ...]:
        """What is to be known of advice on a machine larger than any of the library's, in a sentence; else nothing."""
        if limits.processors is None or limits.processors <= self.most_cpus:
            return ()
        known = f"the known workloads ran on 1 to {self.most_cpus} processors"
        return (f"{known}, and this server has {limits.processors}",)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content as stored."""
        return hashlib.sha256(self.as_json().encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        # The inherited comparison meets the arrays that are kept once they were asked for.
        return isinstance(other, ResponseCurves) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def as_json(self) -> str:
        """The library as stored: one line a workload."""
        head: dict[str, Any] = self.model_dump(mode="json", exclude={"curves"})
        lines = ",\n".join(json.dumps(curve.model_dump(), separators=(",", ":")) for curve in self.curves)
        return json.dumps(head)[:-1] + f', "curves": [\n{lines}\n]}}\n'

    def save(self, path: Path) -> None:
        """Writes the library, whole or not at all; compressed where the file's name ends with `.xz`.

        Raises:
            ArtefactError: It cannot be written.
        """
        content = self.as_json().encode()
        try:
            write_durably(path, lzma.compress(content) if path.suffix == ".xz" else content)
        except OSError as error:
            raise ArtefactError(f"cannot write the response curves {path}: {error.strerror}") from error

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a library, compressed or not.

        Raises:
            ArtefactError: It cannot be read, or is no library of response curves.
        """
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ArtefactError(f"cannot read the response curves {path}: {error.strerror}") from error
        return cls.parse(content, path)

    @classmethod
    def parse(cls, content: bytes, path: Path) -> Self:
        """Reads the content of a library's file; the name of the file says whether it is compressed.

        Raises:
            ArtefactError: It is no library of response curves.
        """
        try:
            return cls.model_validate_json(lzma.decompress(content) if path.suffix == ".xz" else content)
        except lzma.LZMAError as error:
            raise ArtefactError(f"the response curves {path} are damaged: {error}; fit them again") from error
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise ArtefactError(f"{path} holds no response curves: {place}: {first['msg']}; fit them again") from error


def _shape(ratios: Sequence[Sequence[float | None]]) -> tuple[int, int]:
    """Rows and columns; -1 columns where the rows differ in length."""
    lengths = {len(row) for row in ratios}
    return len(ratios), lengths.pop() if len(lengths) == 1 else -1
