"""What a server shows is told from a snapshot of it, each thing by itself."""

import pytest

from poolpilot.featurizer.measures import COUNTERS, GAUGES
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.serve.commands.observe.visibility import SIGHTS, visibility_rows


def test_every_sight_is_of_a_counter_or_gauge_that_there_is() -> None:
    assert {sight.counter for sight in SIGHTS} <= {*COUNTERS, *GAUGES}


@pytest.mark.parametrize("counter", [sight.counter for sight in SIGHTS])
def test_what_a_snapshot_has_is_seen_and_the_rest_is_not(counter: str) -> None:
    has_gauge = counter in GAUGES
    counters, gauges = ({}, {counter: 1.0}) if has_gauge else ({counter: 1.0}, {})
    rows = visibility_rows(Snapshot(0.0, 0, PoolTuple(2, 3, 500), counters, gauges, {}))
    assert [row["seen"] for row in rows] == [sight.counter == counter for sight in SIGHTS]
    assert all(row["needs"] for row in rows)
