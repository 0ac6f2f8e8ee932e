"""Reasons are read off the features that speak for the direction of the change."""

import math
from collections.abc import Callable

import pytest

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.schema import feature_names
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.reasons import MOST_REASONS, gain_in_words, percent, reasons_for

NOTHING = dict.fromkeys(feature_names())
IN_FORCE = PoolTuple(8, 3, 500)
MORE, FEWER, SAME = PoolTuple(32, 3, 500), PoolTuple(2, 3, 500), PoolTuple(8, 10, 500)


@pytest.mark.parametrize(
    ("chosen", "features", "sentence"),
    [
        (
            MORE,
            {"silent_wait_share": 0.83},
            "workers spend 83 % of a round off the CPU without telling the pool, so more groups can run",
        ),
        (MORE, {"utilisation": 0.2}, "the CPU is only 20 % used, so there is room for more groups"),
        (MORE, {"queue_length_mean": 3.2}, "3.2 requests wait in the queue, so more groups serve them sooner"),
        (
            FEWER,
            {"latch_wait_us_per_request": 2100.0, "completed_per_s": 2000.0},
            "4.2 threads wait for a latch on average, so fewer groups collide less",
        ),
        (
            FEWER,
            {"run_delay_share_of_round": 0.4},
            "workers spend 40 % of a round waiting for a CPU, so fewer groups switch less",
        ),
        (
            FEWER,
            {"utilisation": 0.97, "process_cpu_us_per_request": 300.0},
            "the CPU is 97 % used by requests of 0.3 ms, so fewer groups do the same work with fewer threads",
        ),
        (FEWER, {"queue_length_mean": 0.1}, "hardly any request waits in the queue, so fewer groups do the same work"),
        (IN_FORCE, {"utilisation": 1.1}, "the CPU is 100 % used, so more groups would only take turns"),
        (
            SAME,
            {"active_round_us_p50": 400.0, "active_round_us_p95": 38_000.0},
            "long requests (p95 38 ms) block short ones (median 0.4 ms); a group may run more of them side by side",
        ),
        (
            PoolTuple(8, 3, 10),
            {"active_round_us_p50": 400.0, "active_round_us_p95": 38_000.0},
            "long requests (p95 38 ms) block short ones (median 0.4 ms); a blocked group is noticed sooner",
        ),
        (SAME, {}, "workloads that respond like this one ran best under this configuration"),
    ],
)
def test_evidence_becomes_a_sentence(
    window_of: Callable[..., Window], chosen: PoolTuple, features: dict[str, float], sentence: str
) -> None:
    window = window_of(0, IN_FORCE, **{**NOTHING, **features})
    assert reasons_for(window, chosen) == (sentence,)


def test_latch_waits_are_not_taken_for_waits_that_more_groups_would_hide(window_of: Callable[..., Window]) -> None:
    features = {"silent_wait_share": 0.8, "latch_wait_us_per_request": 4000.0, "completed_per_s": 1000.0}
    (reason,) = reasons_for(window_of(0, IN_FORCE, **{**NOTHING, **features}), MORE)
    assert "off the CPU" not in reason


def test_a_window_full_of_evidence_gives_the_strongest_few(window_of: Callable[..., Window]) -> None:
    features = {"silent_wait_share": 0.8, "utilisation": 0.2, "queue_length_mean": 9.0}
    mixed = {"active_round_us_p50": 400.0, "active_round_us_p95": 38_000.0}
    reasons = reasons_for(window_of(0, IN_FORCE, **{**NOTHING, **features, **mixed}), MORE)
    assert len(reasons) == MOST_REASONS
    assert reasons[0].startswith("workers spend 80 %")


def test_percent_is_signed_goodput() -> None:
    assert [percent(gain) for gain in (0.0, 0.6931, -0.6931)] == ["+0 %", "+100 %", "-50 %"]


def test_a_gain_beyond_belief_is_no_percentage() -> None:
    believable, beyond = math.log(9.99), math.log(100.31)
    assert [percent(gain) for gain in (believable, beyond)] == ["+899 %", "more than 10 times"]


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ((1.38, 1.2, 1.6), "+38 % requests in time (+20 % to +60 %)"),
        ((1.38, 0.49, 3.91), "+38 % requests in time, but it may also lose (-51 % to +291 %)"),
        ((2.5, 1.2, 5.2), "2.5 times the requests in time (1.2 to 5.2 times)"),
        ((5.0, 1.2, 30.0), "5.0 times the requests in time (1.2 to more than 10 times)"),
        (
            (12.0, 4.2, 34.0),
            "more than 10 times the requests in time (4.2 to more than 10 times): almost nothing gets through in time "
            "today",
        ),
        ((713.0, 192.4, 2642.7), "more than 10 times the requests in time: almost nothing gets through in time today"),
        ((1.0, 1.0, 1.0), "+0 % requests in time"),
    ],
)
def test_a_gain_is_told_with_its_interval_as_far_as_it_can_be_believed(
    factors: tuple[float, float, float], words: str
) -> None:
    expected, low, high = map(math.log, factors)
    assert gain_in_words(expected, low, high) == words


def test_a_gain_without_an_interval_is_told_alone() -> None:
    assert gain_in_words(math.log(1.38)) == "+38 % requests in time"
    assert gain_in_words(None) == "not estimated"
