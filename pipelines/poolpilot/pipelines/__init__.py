"""Staging: collect, store, learn, evaluate and promote, and what-if on a recorded profile.

Each stage is a package named after its command: `poolpilot learn train` runs `poolpilot.pipelines.train.train.train`.
Stores need the extra `train`; what-if does not.
"""

from typing import TYPE_CHECKING

from poolpilot.errors.lazy_names import lazy_names

if TYPE_CHECKING:
    from poolpilot.pipelines.calibrate.what_if import SimulateSettings, WhatIf, what_if
    from poolpilot.pipelines.store.dataset import SweepDataset, read_dataset
    from poolpilot.pipelines.store.record_store import RecordStore
    from poolpilot.pipelines.store.records import StagingStore
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "calibrate.what_if": ("SimulateSettings", "WhatIf", "what_if"),
            "store.dataset": ("SweepDataset", "read_dataset"),
            "store.record_store": ("RecordStore",),
            "store.records": ("StagingStore",),
        },
    )

__all__ = [
    "RecordStore",
    "SimulateSettings",
    "StagingStore",
    "SweepDataset",
    "WhatIf",
    "read_dataset",
    "what_if",
]
