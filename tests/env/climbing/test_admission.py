"""Admission in the simulated pool through Python: limits that matter, and controllers that look for them."""

import pytest
from tests.env.climbing.admission_families import ADMISSION_FAMILIES, draw_transactions

from poolpilot.env.climbing.admission import LimitSample, control
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.errors import SettingError
from poolpilot.featurizer.measures import ADMISSION_COUNTERS, ADMISSION_GAUGES, ADMISSION_HISTOGRAM
from poolpilot.native_pool import Climber, LivePool
from poolpilot.native_pool._core import Gradient2Climber, Gradient2Settings, VegasClimber, VegasSettings
from poolpilot.native_pool.simulation import CALIBRATED

each_family = pytest.mark.parametrize("family", ADMISSION_FAMILIES)


def goodput_per_s(family: str, limit: int, connections: int = 512) -> float:
    workload = draw_transactions(ADMISSION_FAMILIES[family], 1, connections)
    server = SimulatedServer(workload, CALIBRATED, admission_limit=limit)
    server.run_for(0.5)
    before = server.snapshot()
    server.run_for(1.5)
    return LimitSample.between(before, server.snapshot()).throughput_per_s


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


def test_a_sample_tells_those_inside_and_how_long_they_stay() -> None:
    workload = draw_transactions(ADMISSION_FAMILIES["latch_convoy"], 1)
    server = SimulatedServer(workload, CALIBRATED, admission_limit=8)
    server.run_for(0.5)
    before = server.snapshot()
    server.run_for(1.0)
    sample = LimitSample.between(before, server.snapshot())
    assert sample.limit == 8
    assert sample.inside == pytest.approx(8.0, rel=0.02)
    assert sample.latency_s == pytest.approx(sample.inside / sample.throughput_per_s, rel=0.02)


@pytest.mark.parametrize(
    "climber",
    [
        Gradient2Climber(Gradient2Settings(), 20, 1, 512),
        VegasClimber(VegasSettings(), 20, 1, 512),
    ],
    ids=["gradient2", "vegas"],
)
def test_a_controller_sets_the_limits_it_asks_for_and_does_better_than_none(climber: Climber) -> None:
    workload = draw_transactions(ADMISSION_FAMILIES["latch_convoy"], 1)
    server = SimulatedServer(workload, CALIBRATED)
    samples = control(server, climber, 20, 0.25)
    assert samples[0].limit == 20
    assert server.snapshot().gauges["admission_limit"] == climber.size
    assert samples[-1].throughput_per_s > 1.2 * goodput_per_s("latch_convoy", 0)


def test_a_limit_outside_its_range_is_refused_by_name() -> None:
    server = SimulatedServer(draw_transactions(ADMISSION_FAMILIES["hot_rows"], 1))
    with pytest.raises(SettingError, match=r"^admission_limit is -1, but must be in 0\.\.65536$"):
        server.set_knobs(admission_limit=-1)
    with pytest.raises(SettingError, match=r"^admission_escape_ms is 86400001, but must be in 0\.\.86400000$"):
        SimulatedServer(server.workload, admission_escape_ms=86_400_001)
