"""The feature schema: its version, and measures turned into features and the network's scale."""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from poolpilot.featurizer.catalogue import FEATURES, INDICATORS
from poolpilot.featurizer.measures import Measures

Number = TypeVar("Number", np.float32, np.float64)

__all__ = [
    "FEATURES",
    "INDICATORS",
    "SCHEMA_VERSION",
    "feature_names",
    "feature_table",
    "features_of",
    "indicators_of",
    "scaled",
]

SCHEMA_VERSION = 1
"""Rises whenever a feature is added, removed or redefined."""

LOWS = np.array([feature.low for feature in FEATURES])
SPANS = np.array([feature.high for feature in FEATURES]) - LOWS
KNEES = np.array([feature.knee or 1.0 for feature in FEATURES])
LOGARITHMIC = np.array([feature.log for feature in FEATURES])
LOG_SPANS = np.log1p(SPANS / KNEES)

_NAMES = tuple(feature.name for feature in FEATURES)


def feature_names() -> tuple[str, ...]:
    """Names of all features in the order of the vector."""
    return _NAMES


def features_of(measures: Measures) -> dict[str, float | None]:
    """Computes every feature, in natural units, from flat measures.

    Args:
        measures: Every name of `MEASURE_NAMES`; None where missing.

    Returns:
        Every feature by name, within its range; None where an operand is missing or a divisor is zero.
    """
    return {feature.name: feature.evaluate(measures) for feature in FEATURES}


def indicators_of(measures: Measures) -> dict[str, float]:
    """Computes the indicators that the server lets compute, in natural units, from flat measures."""
    found = ((indicator.name, indicator.evaluate(measures)) for indicator in INDICATORS)
    return {name: value for name, value in found if value is not None}


def scaled(features: Mapping[str, float | None]) -> NDArray[np.float64]:
    """Maps natural values to the network's 0..1: linearly, or by log(1 + value / knee).

    Args:
        features: Every feature in natural units, within its range.

    Returns:
        Values in the schema's order, NaN where missing, shape (len(FEATURES),).
    """
    values = np.array([features[name] for name in _NAMES], dtype=np.float64)
    above = values - LOWS
    result: NDArray[np.float64] = np.where(LOGARITHMIC, np.log1p(above / KNEES) / LOG_SPANS, above / SPANS)
    return result


def moments_of_present(rows: NDArray[Number], present: NDArray[Any]) -> tuple[NDArray[Number], NDArray[Number]]:
    """Mean and standard deviation of every feature over the windows that have it, (F,) each; 0 where none has.

    Args:
        rows: Features of windows, (n, F); what stands where one is missing does not count.
        present: Which are there, true or above 0, (n, F).

    Examples:
        >>> mean, deviation = moments_of_present(np.array([[1.0, np.nan], [3.0, np.nan]]), np.array([[1, 0], [1, 0]]))
        >>> mean.tolist(), deviation.tolist()
        ([2.0, 0.0], [1.0, 0.0])
    """
    count = np.maximum(present.sum(axis=0), 1.0)
    mean = np.where(present, rows, 0.0).sum(axis=0) / count
    return mean, np.sqrt(np.where(present, np.square(rows - mean), 0.0).sum(axis=0) / count)


def feature_table() -> list[dict[str, Any]]:
    """One row per feature: name, unit, tier, range, knee and derivation, fit for JSON and print."""
    columns = ("name", "unit", "tier", "low", "high", "knee", "derived", "derivation")
    return [{column: getattr(feature, column) for column in columns} for feature in FEATURES]
