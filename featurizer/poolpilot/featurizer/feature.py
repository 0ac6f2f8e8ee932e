"""A feature: one number about a workload, declared once for Python, SQL and the network."""

import math
from dataclasses import dataclass

from poolpilot.featurizer.measures import Measures, Tier, measure_tier
from poolpilot.featurizer.operand import Operand, needed


@dataclass(frozen=True, slots=True)
class Feature:
    """`scale * numerator / denominator`, clipped into a physical range.

    Attributes:
        name: Its name in profiles, JSON and SQL.
        unit: Unit of the natural value.
        numerator: What is divided.
        denominator: By what; None for 1. Zero makes the feature missing.
        scale: Factor that turns the quotient into `unit`.
        low: Least natural value.
        high: Greatest natural value.
        knee: Values well above it are seen by the network on a logarithmic scale, values below about
            linearly; None for a linear scale throughout.
        derivation: In words, how the value follows from measures that do not show it directly; empty for
            a value that was counted.
    """

    name: str
    unit: str
    numerator: Operand
    denominator: Operand | None
    scale: float
    low: float
    high: float
    knee: float | None = None
    derivation: str = ""

    @property
    def tier(self) -> Tier:
        """`core` when every server can give it, else `rich`."""
        names = needed(self.numerator, self.denominator)
        return "core" if all(measure_tier(name) == "core" for name in names) else "rich"

    @property
    def log(self) -> bool:
        """Whether the network sees it on a logarithmic scale."""
        return self.knee is not None

    @property
    def derived(self) -> bool:
        """Whether it was inferred and not counted."""
        return bool(self.derivation)

    def evaluate(self, measures: Measures) -> float | None:
        """Computes the natural value from measures; None when it is missing."""
        value = self.numerator.evaluate(measures)
        if self.denominator is not None:
            divisor = self.denominator.evaluate(measures)
            value = None if value is None or divisor is None or divisor == 0.0 else value / divisor
        if value is None:
            return None
        return min(max(self.scale * value, self.low), self.high)

    def sql(self) -> str:
        """SQL expression of the natural value before it is clipped."""
        value = self.numerator.sql()
        if self.denominator is not None:
            value = f"{value} / nullif({self.denominator.sql()}, 0)"
        return f"{self.scale!r}::DOUBLE * ({value})"

    def clip_sql(self) -> str:
        """SQL expression that clips the column of this name; NULL stays NULL, unlike with GREATEST."""
        low, high = f"{float(self.low)!r}::DOUBLE", f"{float(self.high)!r}::DOUBLE"
        return (
            f'CASE WHEN "{self.name}" < {low} THEN {low} WHEN "{self.name}" > {high} THEN {high} ELSE "{self.name}" END'
        )

    def scaled_sql(self) -> str:
        """SQL expression of the network's 0..1 over the clipped column of this name."""
        offset = f'("{self.name}" - {float(self.low)!r}::DOUBLE)'
        if self.knee is None:
            return f"{offset} / {float(self.high - self.low)!r}::DOUBLE"
        whole = math.log1p((self.high - self.low) / self.knee)
        return f"ln(1 + {offset} / {float(self.knee)!r}::DOUBLE) / {whole!r}::DOUBLE"
