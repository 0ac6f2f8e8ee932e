"""The workload profile: what a window says about the workload, with the tuple it was measured under."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.featurizer import untrusted
from poolpilot.featurizer.feature import Feature
from poolpilot.featurizer.measures import Measures
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.schema import FEATURES, INDICATORS, SCHEMA_VERSION, feature_names, features_of, scaled


@dataclass(frozen=True, slots=True)
class WorkloadProfile:
    """Features of a workload under one tuple.

    Attributes:
        schema_version: Version of the feature schema.
        pool_tuple: The tuple in force; it is no feature, but a profile depends on it.
        features: Every feature of the schema in natural units; None where missing.
        hidden: Features that a model is not shown: missing in its vector, though known.
    """

    schema_version: int
    pool_tuple: PoolTuple
    features: Mapping[str, float | None]
    hidden: frozenset[str] = frozenset()

    @classmethod
    def from_measures(cls, pool_tuple: PoolTuple, measures: Measures) -> Self:
        """Computes the profile from flat measures."""
        return cls(SCHEMA_VERSION, pool_tuple, features_of(measures))

    def shown(self) -> Mapping[str, float | None]:
        """The features with what is hidden missing."""
        if not self.hidden:
            return self.features
        return {name: None if name in self.hidden else value for name, value in self.features.items()}

    def vector(self) -> NDArray[np.float32]:
        """Features scaled to 0..1, zero where missing or hidden, shape (F,)."""
        values = scaled(self.shown())
        return np.where(np.isnan(values), 0.0, values).astype(np.float32)

    def mask(self) -> NDArray[np.float32]:
        """One where a feature is present, zero where it is missing or hidden, shape (F,)."""
        shown = self.shown()
        return np.array([shown[name] is not None for name in feature_names()], dtype=np.float32)


def checked_features(values: object) -> dict[str, float | None]:
    """Checks features from outside against the schema.

    Args:
        values: The parsed JSON: an object of every feature's name to a number or null.

    Returns:
        The features in the schema's order.

    Raises:
        FeatureError: A feature is missing, unknown, no number, not finite or out of its range.
    """
    given = untrusted.named("features", values, feature_names())
    features: dict[str, float | None] = {}
    for feature in FEATURES:
        value = given[feature.name]
        # Nearly all are what is tested first, and a service checks thousands a second.
        sound = value is None or (type(value) is float and feature.low <= value <= feature.high)
        features[feature.name] = value if sound else _in_range("features", feature, value)
    return features


def checked_indicators(values: object) -> dict[str, float]:
    """Checks indicators from outside: an object of some indicators' names to numbers, in the order of the catalogue.

    Raises:
        FeatureError: An indicator is unknown, no number, not finite or out of its range.
    """
    given = untrusted.named("indicators", values, (), [indicator.name for indicator in INDICATORS])
    return {
        indicator.name: _in_range("indicators", indicator, given[indicator.name])
        for indicator in INDICATORS
        if indicator.name in given
    }


def _in_range(holder: str, feature: Feature, value: object) -> float:
    unit = "" if feature.unit == "1" else feature.unit
    return untrusted.number(f"{holder}.{feature.name}", value, feature.low, feature.high, unit)
