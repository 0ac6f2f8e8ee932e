"""The user's own records: a store for each kind of server. DuckDB over their segments says what is complete."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from poolpilot.env.measurement.sweep import AGAIN_ROUND, WorkloadSweep
from poolpilot.env.workloads.family import Split
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves
from poolpilot.pipelines.learn.learn_settings import Staged
from poolpilot.pipelines.learn.learning_plan import ORDER
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck
from poolpilot.pipelines.store.recorded_curves import curve_of_sweep
from poolpilot.pipelines.store.records import StagingStore
from poolpilot.pipelines.store.views import connect

OWN = "own "
"""Begins the family of a curve of one's own."""

OF_A_FAMILY = 5
"""Curves of one's own that weigh as much as a family that ships, which mostly has 25. In a family of one or two each of
them would weigh too much: on held-out workloads that has lost as often as it has gained."""

COVERAGE_SQL = f"""
WITH complete AS (SELECT DISTINCT workload_id FROM records WHERE kind = 'sweep' AND round = {AGAIN_ROUND}),
repeated AS (
    SELECT workload_id, pool_size, oversubscribe, timer_interval_ms,
           var_samp(objective) * (count(*) - 1) AS squares, count(*) - 1 AS freedom
    FROM records JOIN complete USING (workload_id) WHERE kind = 'sweep' GROUP BY ALL HAVING count(*) > 1
),
noise AS (SELECT workload_id, sqrt(sum(squares) / sum(freedom)) AS noise FROM repeated GROUP BY ALL)
SELECT split, count(DISTINCT records.workload_id) AS workloads, count(DISTINCT family) AS families,
       count(*) AS windows, median(noise) AS noise
FROM records JOIN complete USING (workload_id) LEFT JOIN noise USING (workload_id)
WHERE kind = 'sweep' GROUP BY split ORDER BY split
"""
"""What of a store can be learned from and judged by: complete sweeps, and how far their windows repeat."""


class OwnRecords:
    """The records of a folder.

    Args:
        folder: Holds a store for each kind of server.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def store(self, server: Staged) -> Path:
        """Folder of the store of a kind of server."""
        return self.folder / server

    def check(self) -> list[str]:
        """Looks for faults before anything is learned: what `poolpilot records --check` finds in each store by itself.

        Returns:
            What is only to be known, as sentences.

        Raises:
            StoreError: A store holds what nothing may learn from.
        """
        stores = [CheckedStore(self.store(server)) for server in self._begun()]
        return [said for store in stores for said in RecordCheck.of([store]).refuse()]

    def coverage(self) -> list[dict[str, Any]]:
        """One row for each kind of server and split that has complete sweeps."""
        rows = []
        for server in self._begun():
            with connect(StagingStore(self.store(server))) as views:
                found = views.execute(COVERAGE_SQL)
                names = [column[0] for column in found.description or ()]
                rows += [{"server": server, **dict(zip(names, row, strict=True))} for row in found.fetchall()]
        return rows

    def sweeps(self, split: Split) -> Iterator[tuple[Staged, WorkloadSweep]]:
        """The complete sweeps of a split, with the kind of server they are of.

        Raises:
            StoreError: A store mixes versions, grids or timers, or has one family in two splits.
        """
        for row in self.coverage():
            if row["split"] == split:
                dataset = read_dataset(self.store(row["server"]), split)
                yield from ((row["server"], sweep) for sweep in dataset.of_split(split))

    def curves(self, grid: MachineGrid) -> list[ResponseCurve]:
        """The response curves of all training workloads, on the grid of a library."""
        return in_families([curve_of_sweep(sweep, grid) for _, sweep in self.sweeps("train")])

    def _begun(self) -> list[Staged]:
        """Kinds of servers of which there are records."""
        return [server for server in ORDER if StagingStore(self.store(server)).workloads.segments]


def in_families(curves: Sequence[ResponseCurve]) -> list[ResponseCurve]:
    """Curves of one's own, by name, dealt to so many families that each has the weight that it should have."""
    families = max(math.ceil(len(curves) / OF_A_FAMILY), 1)
    by_name = sorted(curves, key=lambda one: one.name)
    return [curve.model_copy(update={"family": f"{OWN}{place % families}"}) for place, curve in enumerate(by_name)]


def joined_curves(base: ResponseCurves, own: list[ResponseCurve]) -> ResponseCurves:
    """A library with curves of one's own beside those that it has; the library itself where there are none."""
    if not own:
        return base
    source = f"{base.source}; own: {len(own)} workloads"
    return ResponseCurves(grid=base.grid, source=source, curves=(*base.curves, *own))
