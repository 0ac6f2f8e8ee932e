"""The schema: definitions, ranges and scales of the features."""

from dataclasses import replace

import numpy as np
import pytest

from poolpilot.errors import FeatureError
from poolpilot.featurizer.measures import GAUGES, MEASURE_NAMES, STATUS_COUNTERS, Measures, measures_between
from poolpilot.featurizer.operand import needed
from poolpilot.featurizer.profile import WorkloadProfile, checked_features
from poolpilot.featurizer.schema import (
    FEATURES,
    INDICATORS,
    SCHEMA_VERSION,
    feature_names,
    feature_table,
    features_of,
    indicators_of,
    scaled,
)
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.featurizer.window import Window

NOTHING: dict[str, float | None] = dict.fromkeys(MEASURE_NAMES)


def measures_with(**known: float) -> Measures:
    """Measures of a server that gives these alone."""
    return {**NOTHING, **known}


def test_names_are_unique_and_need_only_known_measures() -> None:
    assert len(set(feature_names())) == len(FEATURES)
    for feature in FEATURES:
        assert needed(feature.numerator, feature.denominator) <= set(MEASURE_NAMES)


@pytest.mark.parametrize("histogram", ["thread_create_us", "active_round_us", "wait_round_us", "think_us"])
def test_the_seeds_times_come_as_five_statistics(histogram: str) -> None:
    wanted = {f"{histogram}_{part}" for part in ("count_per_s", "mean", "p50", "p95", "cv")}
    assert wanted <= set(feature_names())


def test_the_seeds_counts_are_features() -> None:
    assert {"connections", "cpus", "active_rounds_mean", "active_rounds_cv"} <= set(feature_names())


def test_a_server_of_the_core_tier_gives_exactly_the_core_features(before: Snapshot, after: Snapshot) -> None:
    core = ("completed", "dequeues", "polls", "process_cpu_us", "stalls", "thread_creations", "throttles", "wa")
    poorer = replace(
        after,
        counters={name: value for name, value in after.counters.items() if name.startswith(core)},
        histograms={},
    )
    features = features_of(measures_between(before, poorer))
    present = {name for name, value in features.items() if value is not None}
    assert present == {feature.name for feature in FEATURES if feature.tier == "core"}


@pytest.mark.parametrize(
    ("name", "measures", "expected"),
    [
        ("completed_per_s", {"completed": 10.0, "duration_s": 4.0}, 2.5),
        ("utilisation", {"process_cpu_us": 3e6, "duration_s": 2.0, "cpus": 2.0}, 0.75),
        ("process_cpu_us_per_request", {"process_cpu_us": 500.0, "completed": 10.0}, 50.0),
        ("connections_per_cpu", {"connections": 64.0, "cpus": 2.0}, 32.0),
        ("voluntary_switches_per_request", {"voluntary_switches": 6.0, "sampled_requests": 3.0}, 2.0),
        (
            "silent_wait_us_per_round",
            {"active_round_us_mean": 2000.0, "round_cpu_us_mean": 300.0, "run_delay_us_mean": 200.0},
            1500.0,
        ),
        (
            "silent_wait_share",
            {"active_round_us_mean": 2000.0, "round_cpu_us_mean": 300.0, "run_delay_us_mean": 200.0},
            0.75,
        ),
        ("active_threads_mean", {"active_thread_us": 6e6, "duration_s": 2.0}, 3.0),
        ("latch_wait_us_per_request", {"latch_waits": 20.0, "latch_wait_us_mean": 5.0, "completed": 10.0}, 10.0),
    ],
)
def test_values_by_hand(name: str, measures: dict[str, float], expected: float) -> None:
    assert features_of(measures_with(**measures))[name] == pytest.approx(expected)


def test_in_system_follows_littles_law_even_when_nobody_waited() -> None:
    measures = measures_with(
        duration_s=2.0,
        queue_wait_us_count=100.0,
        queue_wait_us_mean=10_000.0,
        active_round_us_count=100.0,
        active_round_us_mean=30_000.0,
        wait_round_us_count=0.0,
    )
    features = features_of(measures)
    assert features["in_system"] == pytest.approx(2.0)
    assert features["active_by_little"] == pytest.approx(1.5)
    assert features["queue_share"] == pytest.approx(0.25)


def test_wait_to_cpu_counts_silent_and_reported_waits_but_not_the_run_queue() -> None:
    measures = measures_with(
        active_round_us_count=10.0,
        active_round_us_mean=600.0,
        wait_round_us_count=5.0,
        wait_round_us_mean=400.0,
        round_cpu_us_mean=100.0,
        run_delay_us_mean=300.0,
    )
    assert features_of(measures)["wait_to_cpu"] == pytest.approx((6000.0 + 2000.0 - 1000.0 - 3000.0) / 1000.0)


def test_a_zero_divisor_makes_a_feature_missing() -> None:
    features = features_of(measures_with(process_cpu_us=5.0, completed=0.0, duration_s=1.0))
    assert features["process_cpu_us_per_request"] is None
    assert features["completed_per_s"] == 0.0


def test_values_are_clipped_into_their_range() -> None:
    noisy = measures_with(active_round_us_mean=10.0, round_cpu_us_mean=11.0, run_delay_us_mean=0.0)
    assert features_of(noisy)["silent_wait_us_per_round"] == 0.0
    assert features_of(measures_with(connections=1e9))["connections"] == 1e6


def test_scales_map_ranges_to_zero_and_one() -> None:
    np.testing.assert_allclose(scaled({feature.name: feature.low for feature in FEATURES}), 0.0)
    np.testing.assert_allclose(scaled({feature.name: feature.high for feature in FEATURES}), 1.0)
    assert np.isnan(scaled(dict.fromkeys(feature_names()))).all()


def test_the_table_has_a_plain_row_for_every_feature() -> None:
    rows = feature_table()
    assert [row["name"] for row in rows] == list(feature_names())
    derived = {row["name"] for row in rows if row["derived"]}
    assert {"silent_wait_us_per_round", "in_system", "utilisation"} <= derived
    assert "active_round_us_mean" not in derived
    assert set(GAUGES) & derived == set()


def test_vector_and_mask_show_what_is_missing(window: Window) -> None:
    features = {**window.profile.features, "think_us_mean": None}
    profile = WorkloadProfile(SCHEMA_VERSION, window.pool_tuple, features)
    index = feature_names().index("think_us_mean")
    assert profile.vector().dtype == np.float32
    assert profile.vector().shape == profile.mask().shape == (len(FEATURES),)
    assert (profile.vector()[index], profile.mask()[index]) == (0.0, 0.0)
    assert profile.mask().sum() == len(FEATURES) - 1
    assert ((profile.vector() >= 0.0) & (profile.vector() <= 1.0)).all()


def test_checked_features_take_the_schemas_order(window: Window) -> None:
    shuffled = dict(sorted(window.profile.features.items()))
    assert tuple(checked_features(shuffled)) == feature_names()


@pytest.mark.parametrize("name", feature_names())
def test_every_feature_is_refused_beyond_its_range_by_name(window: Window, name: str) -> None:
    high = next(feature.high for feature in FEATURES if feature.name == name)
    with pytest.raises(FeatureError, match=f"{name} is .*; allowed is a number from 0 to") as refused:
        checked_features({**window.profile.features, name: high * 2.0})
    assert refused.value.feature == f"features.{name}"


def test_no_feature_is_made_of_what_only_indicators_say() -> None:
    names = {indicator.name for indicator in INDICATORS}
    assert len(names) == len(INDICATORS)
    assert names.isdisjoint(feature_names())
    for feature in FEATURES:
        assert needed(feature.numerator, feature.denominator).isdisjoint(STATUS_COUNTERS)
    for indicator in INDICATORS:
        assert needed(indicator.numerator, indicator.denominator) <= set(MEASURE_NAMES)


def test_indicators_are_those_that_the_server_lets_compute() -> None:
    mix = {f"statements_{kind}": 10.0 for kind in ("insert", "update", "delete", "call", "commit")}
    told = indicators_of(measures_with(completed=100.0, row_lock_wait_us=5000.0, statements_select=50.0, **mix))
    shares = {f"{kind}_share": 0.1 for kind in ("insert", "update", "delete", "call", "commit")}
    assert told == {"row_lock_wait_us_per_request": 50.0, "select_share": 0.5, **shares}


@pytest.mark.parametrize(("latch_wait_us", "net_us"), [(0.0, 900.0), (300.0, 600.0), (5000.0, 0.0)])
def test_silent_waiting_is_net_of_latches(latch_wait_us: float, net_us: float) -> None:
    round_us = {"active_round_us_count": 200.0, "active_round_us_mean": 1000.0}
    parts = {"round_cpu_us_mean": 80.0, "run_delay_us_mean": 20.0}
    latches = {"latch_waits": 400.0, "latch_wait_us_mean": latch_wait_us / 2.0}
    told = indicators_of(measures_with(**round_us, **parts, **latches))
    assert told["net_silent_wait_us_per_round"] == pytest.approx(net_us)
