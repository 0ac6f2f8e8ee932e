"""What a tuner was worth on MariaDB: by rounds, by the class that loses most, and over families."""

import math
from collections.abc import Sequence

import pytest

from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import LATENCY_PREFIX, Snapshot
from poolpilot.featurizer.window import Window
from tuner_pays_report import Comparison, least_classes, summary_of, table_of

DEFAULT, TUNED = (2, 3, 500), (4, 3, 250)


def of_classes(points: int, scans: int = 0) -> Window:
    """A window of a second with two classes."""
    ended = {
        LATENCY_PREFIX + name: Histogram.of_values([1000.0] * count)
        for name, count in (("points", points), ("scans", scans))
        if count
    }
    gauges = {"connections": 64.0, "cpus": 2.0}
    before = Snapshot(0.0, 0, PoolTuple(*DEFAULT), {"completed": 0.0}, gauges, {})
    after = Snapshot(1.0, 0, PoolTuple(*DEFAULT), {"completed": float(points + scans)}, gauges, ended)
    return Window.between(before, after)


def windows(*counts: int) -> Sequence[Window]:
    """Windows of so many requests, two to a round."""
    return [of_classes(count) for count in counts]


def row(family: str, gain: float) -> dict[str, object]:
    """One workload with a gain, and half of it over the constant."""
    return {
        "workload": f"{family}-18-0",
        "family": family,
        "tuned": TUNED,
        "tuned_over_default": (gain, 0.01),
        "tuned_over_constant": (gain / 2, 0.02),
        "constant_over_default": (gain / 2, 0.02),
        "meanwhile_over_default": gain / 4,
        "unsafe": 0.25,
    }


def test_a_gain_is_the_mean_over_rounds_with_their_error() -> None:
    found = Comparison(windows(100, 100, 200, 200), windows(100, 100, 100, 100), windows(200, 200, 400, 400))
    assert found.gain(found.tuned, found.default) == pytest.approx((math.log(2.0), 0.0))
    gain, error = found.gain(found.tuned, found.constant)
    assert gain == pytest.approx(1.5 * math.log(2.0))
    assert error == pytest.approx(0.5 * math.log(2.0))


def test_the_least_class_is_the_one_that_loses_most() -> None:
    default, tuned = [of_classes(100, 10), of_classes(100, 10)], [of_classes(900, 3), of_classes(900, 3)]
    found = Comparison(default, [of_classes(2000, 0), of_classes(2000, 0)], tuned)
    assert found.least_class(found.tuned) == pytest.approx(0.3)
    assert found.least_class(found.constant) == 0.0
    assert found.as_dict()["constant_least_class"] == 0.0


def test_nothing_is_said_of_classes_where_none_completed() -> None:
    nothing = [of_classes(0, 0), of_classes(0, 0)]
    assert Comparison(nothing, nothing, nothing).least_class(nothing) is None
    assert not least_classes(row("hot", 0.1))


def test_a_mean_has_an_interval_from_three_families_on() -> None:
    two = summary_of([row("hot", 0.1), row("slow", 0.3)])["tuned_over_default"]
    assert two["mean"] == pytest.approx(0.2)
    assert two["interval"] is None
    low, high = summary_of([row("hot", 0.1), row("slow", 0.3), row("flat", 0.2)])["tuned_over_default"]["interval"]
    assert low < 0.2 < high


def test_the_table_has_a_line_for_each_workload_and_their_mean() -> None:
    rows = [row("hot", 0.1), row("slow", 0.3) | {"tuned_least_class": 0.5, "constant_least_class": 0.25}]
    table = table_of(rows, summary_of(rows))
    assert table.row_count == 3
    assert list(table.columns[-1].cells) == ["", "x0.50, x0.25", ""]
