"""Measures: differences of snapshots, and what is missing."""

from dataclasses import replace

import pytest

from poolpilot.errors import ServerError
from poolpilot.featurizer.measures import MEASURE_NAMES, measure_tier, measures_between
from poolpilot.featurizer.snapshot import Snapshot


def test_every_measure_is_given_in_order(before: Snapshot, after: Snapshot) -> None:
    measures = measures_between(before, after)
    assert tuple(measures) == MEASURE_NAMES
    assert None not in measures.values()


def test_counters_and_histograms_are_differences_and_gauges_are_the_last_value(
    before: Snapshot, after: Snapshot
) -> None:
    measures = measures_between(before, after)
    assert measures["duration_s"] == 2.0
    assert measures["completed"] == 1000.0
    assert measures["threads"] == 12.0
    assert measures["think_us_count"] == 2.0
    assert measures["think_us_mean"] == 200.0
    assert measures["think_us_cv"] == pytest.approx(0.5)


def test_a_name_that_a_server_cannot_give_is_missing(before: Snapshot, after: Snapshot) -> None:
    poorer = replace(after, counters={"completed": 1100.0}, gauges={}, histograms={})
    measures = measures_between(before, poorer)
    assert {name for name, value in measures.items() if value is not None} == {"duration_s", "completed"}


def test_a_histogram_without_observations_has_count_zero_and_nothing_else(before: Snapshot, after: Snapshot) -> None:
    idle = replace(after, histograms={**after.histograms, "think_us": before.histograms["think_us"]})
    measures = measures_between(before, idle)
    assert measures["think_us_count"] == 0.0
    assert [measures[f"think_us_{part}"] for part in ("mean", "p50", "p95", "cv")] == [None] * 4


def test_a_counter_that_fell_means_a_restart(before: Snapshot, after: Snapshot) -> None:
    with pytest.raises(ServerError, match=r"counter 'completed' .* restarted"):
        measures_between(before, replace(after, counters={**after.counters, "completed": 1.0}))


def test_what_a_server_shows_beside_its_pool_may_be_reset_and_is_then_missing(
    before: Snapshot, after: Snapshot
) -> None:
    measures = measures_between(before, replace(after, counters={**after.counters, "events_file_us": 1.0}))
    assert measures["events_file_us"] is None
    assert measures["events_file"] == 1000.0


def test_a_histogram_that_fell_means_a_restart(before: Snapshot, after: Snapshot) -> None:
    fallen = after.histograms["think_us"] - before.histograms["think_us"]
    with pytest.raises(ServerError, match=r"histogram 'think_us' .* restarted"):
        measures_between(before, replace(after, histograms={**after.histograms, "think_us": fallen}))


@pytest.mark.parametrize(
    ("name", "tier"),
    [("duration_s", "core"), ("waits_net", "core"), ("cpus", "core"), ("failed", "rich"), ("think_us_mean", "rich")],
)
def test_tiers(name: str, tier: str) -> None:
    assert measure_tier(name) == tier
