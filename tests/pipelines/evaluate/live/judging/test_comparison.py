"""What the windows of a comparison say: floors and limits hold there too, and what is censored is the sweep's fault."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from poolpilot.env.measurement.protocol import observe
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.servers.curve import CurveServer
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.window import ClassWindow, Window
from poolpilot.pipelines.evaluate.live.judging.comparison import Choices, beyond, broken_by, compared
from poolpilot.pipelines.evaluate.live.judging.live_result import LiveResult, SweptTuple
from poolpilot.pipelines.evaluate.stage import Stage

DEFAULT, GOOD, GREEDY, BETWEEN = (2, 3, 500), (8, 3, 500), (64, 3, 500), (12, 3, 500)
SWEPT = frozenset({DEFAULT, GOOD, GREEDY})
OBJECTIVE = Objective(weights={"long": 0.0}, min_share={"long": 0.3}, max_p99_ms={"short": 100.0}, price_of_thread=0.0)


def seen(short: int, long: int, latency_ms: float = 10.0) -> Window:
    """A window of a second with so many completions of the two classes, under a size of four groups."""
    latency = {"short": latency_ms, "long": 500.0}
    classes = {
        name: ClassWindow(float(count), Histogram.of_values([1000.0 * latency[name]] * count))
        for name, count in (("short", short), ("long", long))
    }
    plain = observe(CurveServer([(1, 100.0), (64, 100.0)], cpus=4), 1.0).window
    return replace(plain, duration_s=1.0, classes=classes)


def windows(short: int, long: int, short_ms: float = 10.0, scatter: int = 0) -> list[Window]:
    """The windows of two rounds, which scatter to both sides."""
    return [seen(short, long + side * scatter, short_ms) for side in (-1, -1, 1, 1)]


def result_of(
    choices: Mapping[str, tuple[Core, Sequence[Window]]],
    swept: Collection[Core] = SWEPT,
    objective: Objective = OBJECTIVE,
) -> LiveResult:
    def opened() -> PoolServer:
        raise AssertionError("nothing is measured any more")

    stage = Stage("mine", "ours", 0, objective, opened)
    cores = {name: core for name, (core, _) in choices.items()}
    found = tuple(SweptTuple.of(core, [1.0]) for core in swept)
    return compared(stage, Choices(cores, {}, found), {name: each for name, (_, each) in choices.items()})


CHOICES: dict[str, Any] = {
    "reference": (GOOD, windows(4000, 50)),
    "default": (DEFAULT, windows(100, 100)),
    "default_again": (DEFAULT, windows(101, 100)),
}


@pytest.mark.parametrize(
    ("short", "long", "short_ms", "scatter", "broken"),
    [
        (9000, 10, 10.0, 0, ("long",)),
        (9000, 50, 300.0, 0, ("short",)),
        (9000, 10, 300.0, 0, ("long", "short")),
        (9000, 30, 10.0, 0, ()),
        (9000, 29, 10.0, 20, ()),  # by chance
    ],
)
def test_floors_and_limits_hold_where_choices_are_judged(
    short: int, long: int, short_ms: float, scatter: int, broken: tuple[str, ...]
) -> None:
    greedy = windows(short, long, short_ms, scatter)
    assert broken_by(OBJECTIVE, greedy, CHOICES["default"][1]) == broken
    result = result_of({**CHOICES, "greedy": (GREEDY, greedy)})
    run, default = result.run_of("greedy"), result.run_of("default")
    assert run.broken == broken
    assert (run.value == default.value) == bool(broken)
    assert (result.censored is None) == bool(broken), "what breaks a floor is no better than the reference"


def test_what_the_sweep_has_not_measured_may_be_better_without_its_fault() -> None:
    better = (BETWEEN, windows(5000, 50))
    assert result_of({**CHOICES, "between": better}).censored is None
    censored = result_of({**CHOICES, "between": better}, SWEPT | {BETWEEN}).censored
    assert censored is not None
    assert "loses 20% against (12, 3, 500)" in censored


def test_reference_that_breaks_a_floor_measured_afresh_is_none() -> None:
    result = result_of({**CHOICES, "reference": (GREEDY, windows(9000, 10))})
    assert result.censored == "the reference (64, 3, 500), best of the sweep, does not keep long measured afresh"


def test_limit_is_not_kept_by_answering_nobody() -> None:
    objective = Objective(max_p99_ms={"long": 900.0})
    assert broken_by(objective, windows(9000, 0), windows(100, 50)) == ("long",)
    assert broken_by(objective, windows(9000, 0), windows(100, 0)) == (), "nor does the default answer any"


@pytest.mark.parametrize(("rounds", "errors"), [(2, 12.7), (4, 3.18), (6, 2.57), (1, math.inf)])
def test_few_rounds_need_more_errors(rounds: int, errors: float) -> None:
    assert beyond(0.975, rounds) == pytest.approx(errors, rel=0.01)


def test_next_to_nothing_that_ends_is_no_comparison() -> None:
    few = {"reference": (GOOD, windows(2, 1)), "default": (DEFAULT, windows(1, 1))}
    censored = result_of({**few, "default_again": few["default"]}).censored
    assert censored is not None
    assert "of the reference 8 requests ended in time in 4 s" in censored  # the other 4 are of no weight
    assert "files.run.paired.measurement.window_s" in censored


def test_requests_that_end_too_late_are_no_comparison_either() -> None:
    objective = Objective(targets_ms={"short": 5.0, "long": 5.0})  # the requests of every window take longer
    censored = result_of(CHOICES, objective=objective).censored
    assert censored is not None
    assert "of the reference 0 requests ended in time" in censored
    assert "a target that can be met" in censored
