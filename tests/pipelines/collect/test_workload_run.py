"""What is measured of a workload: the grid, and what its floors are shares of."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.measurement.protocol import Measured
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.pipelines.collect import workload_run
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.collect.workload_run import MeasuredAlready, WorkloadRun


@pytest.mark.parametrize(("share", "measured"), [(0.0, False), (0.3, True)])
def test_default_beside_the_grid_is_measured_where_floors_are_shares_of_it(
    monkeypatch: pytest.MonkeyPatch, share: float, measured: bool
) -> None:
    """On six processors no workload with a floor could be collected: its sweep asked for the default."""
    asked: list[set[tuple[int, int, int]]] = []

    def swept(_: object, tuples: list[PoolTuple], *__: object, **___: object) -> list[Measured]:
        asked.append({one.core for one in tuples})
        raise KeyboardInterrupt

    monkeypatch.setattr(workload_run, "sweep", swept)
    server: Any = CurveServer([(1, 100.0)], cpus=6)
    sink: Any = SimpleNamespace(objective=Objective(min_share={"all": share}), flush=lambda: None)
    no_climber: Any = None
    run = WorkloadRun(server, DEFAULT_GRID, CollectSettings(), sink, np.random.default_rng(0), no_climber)
    with pytest.raises(KeyboardInterrupt):
        run.run(MeasuredAlready())
    assert ((6, 3, 500) in asked[0]) is measured
    assert len(asked[0]) > 20
