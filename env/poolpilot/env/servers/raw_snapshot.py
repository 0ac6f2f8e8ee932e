"""What the pools of `native_pool`, live and simulated, count, as a snapshot."""

from typing import Any

from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import ServerKind, Snapshot


def snapshot_of(raw: dict[str, Any], server_kind: ServerKind) -> Snapshot:
    """Turns the raw counters of a pool of this kind into a snapshot."""
    return Snapshot(
        raw["time_s"],
        raw["tuple_epoch"],
        PoolTuple.from_dict(raw["pool_tuple"]),
        raw["counters"],
        raw["gauges"],
        {name: Histogram(*moments) for name, moments in raw["histograms"].items()},
        server_kind,
    )
