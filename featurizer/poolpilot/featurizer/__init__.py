"""What a window of a pool server says about its workload: measures, features, profiles and records.

Examples:
    >>> from poolpilot.featurizer import FEATURES, Histogram, PoolTuple
    >>> len(FEATURES), str(PoolTuple(4, 3, 500)), Histogram().add(250.0).count
    (84, '(4, 3, 500)', 1)
"""

from typing import TYPE_CHECKING

from poolpilot.errors.lazy_names import lazy_names

if TYPE_CHECKING:
    from poolpilot.featurizer.catalogue import FEATURES
    from poolpilot.featurizer.feature import Feature
    from poolpilot.featurizer.histogram import Histogram
    from poolpilot.featurizer.pool_tuple import PoolTuple
    from poolpilot.featurizer.profile import WorkloadProfile
    from poolpilot.featurizer.schema import SCHEMA_VERSION
    from poolpilot.featurizer.snapshot import LATENCY_PREFIX, Hindrance, HindranceKind, ServerKind, Snapshot
    from poolpilot.featurizer.window import ClassWindow, Window
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "catalogue": ("FEATURES",),
            "feature": ("Feature",),
            "histogram": ("Histogram",),
            "pool_tuple": ("PoolTuple",),
            "profile": ("WorkloadProfile",),
            "schema": ("SCHEMA_VERSION",),
            "snapshot": ("LATENCY_PREFIX", "Hindrance", "HindranceKind", "ServerKind", "Snapshot"),
            "window": ("ClassWindow", "Window"),
        },
    )

__all__ = [
    "FEATURES",
    "LATENCY_PREFIX",
    "SCHEMA_VERSION",
    "ClassWindow",
    "Feature",
    "Hindrance",
    "HindranceKind",
    "Histogram",
    "PoolTuple",
    "ServerKind",
    "Snapshot",
    "Window",
    "WorkloadProfile",
]
