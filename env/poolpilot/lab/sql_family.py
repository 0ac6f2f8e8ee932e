"""A family of the test server: a named distribution of workloads, all of one split."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poolpilot.env.workloads.family import Split
from poolpilot.lab.side.side_job import SideJob
from poolpilot.lab.sql_workload import DatasetName, SqlClass

CONNECTIONS = (8, 16, 32, 64, 128, 256)
LONG_SHARE = 0.3
"""Share of its throughput under the default tuple that a long class must keep."""

SLOW_DISK_US = (5000, 2000, 5000)
"""A disk of 5, 2 and 5 ms for a read, a write and a flush."""

Draw = Callable[[np.random.Generator], tuple[SqlClass, ...]]


@dataclass(frozen=True, slots=True)
class SqlFamily:
    """A named distribution of workloads.

    Attributes:
        name: Name in records and tables.
        split: The split all its workloads belong to.
        description: One sentence for people.
        draw: Draws the classes.
        dataset: Data it runs on.
        slow_disk_us: Delays of its disk; None for the disk as it is.
        log_bin: Whether its server writes a binary log.
        side: What one more session does beside its load.
    """

    name: str
    split: Split
    description: str
    draw: Draw
    dataset: DatasetName = "small"
    slow_disk_us: tuple[int, int, int] | None = None
    log_bin: bool = False
    side: SideJob | None = None


def drawn_connections(rng: np.random.Generator, *among: int) -> int:
    """One of the numbers given, or of `CONNECTIONS`."""
    return int(rng.choice(among or CONNECTIONS))
