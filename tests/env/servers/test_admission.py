"""Admission in the simulated pool through Python: limits that matter, and what its counters tell."""

import pytest
from tests.env.servers.admission_families import ADMISSION_FAMILIES, draw_transactions

from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.errors import SettingError
from poolpilot.featurizer.measures import ADMISSION_COUNTERS, ADMISSION_GAUGES, ADMISSION_HISTOGRAM
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.native_pool import LivePool
from poolpilot.native_pool.simulation import CALIBRATED

each_family = pytest.mark.parametrize("family", ADMISSION_FAMILIES)


def goodput_per_s(family: str, limit: int, connections: int = 512) -> float:
    workload = draw_transactions(ADMISSION_FAMILIES[family], 1, connections)
    server = SimulatedServer(workload, CALIBRATED, admission_limit=limit)
    server.run_for(0.5)
    before = server.snapshot()
    server.run_for(1.5)
    after = server.snapshot()
    return rise(before, after, "completed") / (after.time_s - before.time_s)


def rise(before: Snapshot, after: Snapshot, name: str) -> float:
    return after.counters[name] - before.counters[name]


@each_family
def test_a_good_limit_beats_none_by_far(family: str) -> None:
    assert max(goodput_per_s(family, limit) for limit in (8, 16)) > 1.5 * goodput_per_s(family, 0)


@each_family
def test_a_limit_that_does_not_bind_changes_nothing(family: str) -> None:
    assert goodput_per_s(family, 24, connections=24) == goodput_per_s(family, 0, connections=24)


@each_family
def test_families_are_drawn_again_alike(family: str) -> None:
    assert draw_transactions(ADMISSION_FAMILIES[family], 3) == draw_transactions(ADMISSION_FAMILIES[family], 3)
    assert draw_transactions(ADMISSION_FAMILIES[family], 3) != draw_transactions(ADMISSION_FAMILIES[family], 4)


def test_both_pools_give_every_name() -> None:
    live = LivePool(class_names=["convoy"])
    live.start()
    try:
        snapshot = live.snapshot()
    finally:
        live.close()
    simulated = SimulatedServer(draw_transactions(ADMISSION_FAMILIES["latch_convoy"], 1)).snapshot()
    for counters, gauges, histograms in (
        (snapshot["counters"], snapshot["gauges"], snapshot["histograms"]),
        (simulated.counters, simulated.gauges, simulated.histograms),
    ):
        assert set(ADMISSION_COUNTERS) == {name for name in counters if name.startswith("admission_")}
        assert set(ADMISSION_GAUGES) == {name for name in gauges if name.startswith("admission_")}
        assert ADMISSION_HISTOGRAM in histograms


def test_counters_tell_those_inside_and_how_long_they_stay() -> None:
    workload = draw_transactions(ADMISSION_FAMILIES["latch_convoy"], 1)
    server = SimulatedServer(workload, CALIBRATED, admission_limit=8)
    server.run_for(0.5)
    before = server.snapshot()
    server.run_for(1.0)
    after = server.snapshot()
    inside_s = rise(before, after, "admission_inside_us") / 1e6
    assert after.gauges["admission_limit"] == 8
    assert inside_s / (after.time_s - before.time_s) == pytest.approx(8.0, rel=0.02)
    assert rise(before, after, "admission_admitted") == pytest.approx(rise(before, after, "completed"), rel=0.02)


def test_a_limit_outside_its_range_is_refused_by_name() -> None:
    server = SimulatedServer(draw_transactions(ADMISSION_FAMILIES["hot_rows"], 1))
    with pytest.raises(SettingError, match=r"^admission_limit is -1, but must be in 0\.\.65536$"):
        server.set_knobs(admission_limit=-1)
    with pytest.raises(SettingError, match=r"^admission_escape_ms is 86400001, but must be in 0\.\.86400000$"):
        SimulatedServer(server.workload, admission_escape_ms=86_400_001)
