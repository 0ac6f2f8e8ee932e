"""Response curves: what many workloads are worth under every configuration of a machine grid; one file, no pickle."""

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from poolpilot.errors import ArtefactError
from poolpilot.models.latent.machine_grid import MachineGrid

DIGITS = 3
"""Decimals of a logarithm that are kept: a tenth of a per cent."""


class ResponseCurve(BaseModel):
    """What one workload answered to every configuration.

    Attributes:
        name: The workload.
        family: The family it was drawn from.
        cpus: Processors of the machine.
        connections: Connections that send.
        log_worth: Natural logarithm of what J values (`Objective.worth_per_s`) under every column of the grid.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    family: str
    cpus: int = Field(ge=1)
    connections: int = Field(ge=0)
    log_worth: tuple[float, ...]


class ResponseCurves(BaseModel):
    """A library of response curves: what a latent bandit knows before it has seen a server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    grid: MachineGrid = Field(description="The configurations.")
    source: str = Field(description="How the curves were measured, in words.")
    curves: tuple[ResponseCurve, ...] = Field(min_length=1, description="The workloads.")

    @model_validator(mode="after")
    def _fits_the_grid(self) -> Self:
        wrong = [curve.name for curve in self.curves if len(curve.log_worth) != len(self.grid)]
        if wrong:
            raise ValueError(f"the curve of {wrong[0]} does not have one value for each of {len(self.grid)} columns")
        if not np.isfinite(self.log_worth).all():
            raise ValueError("a curve holds a number that is not finite")
        return self

    @cached_property
    def log_worth(self) -> NDArray[np.float64]:
        """All curves, (S, A)."""
        return np.array([curve.log_worth for curve in self.curves], dtype=np.float64)

    @cached_property
    def prior(self) -> NDArray[np.float64]:
        """Weight of each curve before anything is seen, (S,): every family weighs the same."""
        families = [curve.family for curve in self.curves]
        weights = np.array([1.0 / families.count(family) for family in families])
        prior: NDArray[np.float64] = weights / weights.sum()
        return prior

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content as stored."""
        return hashlib.sha256(self.as_json().encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        # The inherited comparison meets the arrays that are kept once they were asked for.
        return isinstance(other, ResponseCurves) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def without_family(self, family: str) -> Self:
        """The curves of every other family; for leave-one-family-out evaluation."""
        rest = tuple(curve for curve in self.curves if curve.family != family)
        return type(self)(grid=self.grid, source=self.source, curves=rest)

    def as_json(self) -> str:
        """The library as stored: one line a workload."""
        head: dict[str, Any] = self.model_dump(mode="json", exclude={"curves"})
        lines = ",\n".join(json.dumps(curve.model_dump(), separators=(",", ":")) for curve in self.curves)
        return json.dumps(head)[:-1] + f', "curves": [\n{lines}\n]}}\n'

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a library.

        Raises:
            ArtefactError: It cannot be read, or is no library of response curves.
        """
        try:
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            raise ArtefactError(f"cannot read the response curves {path}: {error.strerror}") from error
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise ArtefactError(f"{path} holds no response curves: {place}: {first['msg']}; fit them again") from error
