"""Operands of a feature: each evaluates in Python and renders as SQL from one declaration."""

from dataclasses import dataclass
from functools import reduce
from typing import Protocol

from poolpilot.featurizer.measures import Measures


class Operand(Protocol):
    """A number made of measures; missing (None, NULL) when any measure it needs is missing."""

    @property
    def names(self) -> frozenset[str]:
        """The measures it needs."""
        ...

    def evaluate(self, measures: Measures) -> float | None:
        """Computes the value; None when it is missing."""
        ...

    def sql(self) -> str:
        """Renders the same computation, in the same order, over columns of the same names."""
        ...


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure as it is."""

    name: str

    @property
    def names(self) -> frozenset[str]:
        """The measures it needs."""
        return frozenset({self.name})

    def evaluate(self, measures: Measures) -> float | None:
        """Computes the value; None when it is missing."""
        return measures[self.name]

    def sql(self) -> str:
        """Renders the measure as a quoted column."""
        return f'"{self.name}"'


@dataclass(frozen=True, slots=True)
class Amount:
    """A count times a mean; zero when the count is zero, though the mean is then unknown."""

    count: str
    mean: str

    @property
    def names(self) -> frozenset[str]:
        """The measures it needs."""
        return frozenset({self.count, self.mean})

    def evaluate(self, measures: Measures) -> float | None:
        """Computes the value; None when it is missing."""
        count, mean = measures[self.count], measures[self.mean]
        if count == 0.0:
            return 0.0
        return None if count is None or mean is None else count * mean

    def sql(self) -> str:
        """Renders the product with its exception for zero."""
        return f'(CASE WHEN "{self.count}" = 0 THEN 0.0 ELSE "{self.count}" * "{self.mean}" END)'


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two operands."""

    left: Operand
    right: Operand

    @property
    def names(self) -> frozenset[str]:
        """The measures it needs."""
        return self.left.names | self.right.names

    def evaluate(self, measures: Measures) -> float | None:
        """Computes the value; None when it is missing."""
        left, right = self.left.evaluate(measures), self.right.evaluate(measures)
        return None if left is None or right is None else left * right

    def sql(self) -> str:
        """Renders the product in brackets."""
        return f"({self.left.sql()} * {self.right.sql()})"


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of some operands less the sum of others, from left to right."""

    plus: tuple[Operand, ...]
    minus: tuple[Operand, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The measures it needs."""
        empty: frozenset[str] = frozenset()
        return empty.union(*(operand.names for operand in self.plus + self.minus))

    def evaluate(self, measures: Measures) -> float | None:
        """Computes the value; None when it is missing."""
        signed = [(1.0, operand) for operand in self.plus] + [(-1.0, operand) for operand in self.minus]
        values = [(sign, operand.evaluate(measures)) for sign, operand in signed]
        present = [sign * value for sign, value in values if value is not None]
        if len(present) < len(values):
            return None
        return reduce(lambda total, value: total + value, present)

    def sql(self) -> str:
        """Renders the sum in brackets."""
        added = " + ".join(operand.sql() for operand in self.plus)
        return f"({added}{''.join(f' - {operand.sql()}' for operand in self.minus)})"


def total(histogram: str) -> Amount:
    """Sum of all observations of a histogram within the window."""
    return Amount(f"{histogram}_count", f"{histogram}_mean")


def needed(*operands: Operand | None) -> frozenset[str]:
    """The measures that any of the operands needs."""
    empty: frozenset[str] = frozenset()
    return empty.union(*(operand.names for operand in operands if operand is not None))
