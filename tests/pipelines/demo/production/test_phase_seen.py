"""What clients saw is told from the windows of their latencies."""

import math
import time
from collections.abc import Mapping
from typing import cast

import pytest

from poolpilot.featurizer.histogram import Histogram
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.pipelines.demo.production.phase_seen import PhaseSeen, watched
from poolpilot.pipelines.demo.production.shifting_load import SELECTS


def seen(*counts: int) -> PhaseSeen:
    windows = tuple({"short": Histogram.of_values([1000.0] * count), "long": Histogram()} for count in counts)
    return PhaseSeen("selects", (2.0,) * len(counts), windows)


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


class SlowToTell:
    """A load of one class whose histograms take as long to read as a window lasts."""

    workload = SELECTS
    told = 0

    def histograms(self) -> Mapping[str, Histogram]:
        time.sleep(0.05)
        self.told += 1
        return {"select": Histogram.of_values([1000.0] * 10 * self.told)}


def test_all_rates_are_over_the_seconds_that_the_windows_have_lasted() -> None:
    phase = watched(cast(SqlLoad, SlowToTell()), 0.15, 0.05)
    assert len(phase.windows) == 3
    assert min(phase.seconds) >= 0.1
    assert phase.class_per_s("select") == pytest.approx(30.0 / sum(phase.seconds))
    assert phase.throughput_per_s == phase.class_per_s("select")
    assert phase.as_dict()["seconds"] == sum(phase.seconds)
