"""What clients saw is told from the windows of their latencies."""

import math

import pytest

from poolpilot.featurizer.histogram import Histogram
from poolpilot.pipelines.demo.production.phase_seen import PhaseSeen


def seen(*counts: int) -> PhaseSeen:
    windows = tuple({"short": Histogram.of_values([1000.0] * count), "long": Histogram()} for count in counts)
    return PhaseSeen("selects", 2.0, tuple(count / 2.0 for count in counts), windows)


def test_figures_of_all_windows() -> None:
    phase = seen(10, 20, 30)
    assert phase.throughput_per_s == 10.0
    assert phase.error_per_s == pytest.approx(5.0 / math.sqrt(3.0))
    assert phase.class_per_s("short") == 10.0
    assert phase.p99_ms("short") == pytest.approx(1.0, rel=0.07)
    assert (phase.class_per_s("long"), phase.p99_ms("long")) == (0.0, 0.0)


def test_second_half_is_what_has_settled() -> None:
    assert seen(2, 4, 100, 102).settled.throughput_per_s == pytest.approx(50.5)


def test_error_of_a_single_window_is_not_known() -> None:
    assert seen(10).error_per_s == math.inf


def test_json_names_every_class() -> None:
    told = seen(10, 20).as_dict()
    assert (told["phase"], told["seconds"]) == ("selects", 4.0)
    assert list(told["classes"]) == ["short", "long"]
