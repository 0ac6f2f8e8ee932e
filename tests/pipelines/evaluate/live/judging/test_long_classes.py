"""Long classes are found by processor time or by target, where either is known."""

import pytest

from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.pipelines.evaluate.live.judging.long_classes import long_classes
from poolpilot.pipelines.evaluate.stage import Stage


@pytest.mark.parametrize(
    ("cpu_ms", "targets_ms", "found"),
    [
        ({"a": 1.0, "b": 10.5, "c": 9.0}, {}, ("b",)),
        ({}, {"a": 5.0, "b": 51.0}, ("b",)),
        ({"a": 1.0, "b": 11.0, "c": 1.0}, {"a": 5.0, "c": 60.0}, ("b", "c")),
        ({"a": 0.0, "b": 1.0, "c": 5.0}, {}, ()),
        ({}, {}, ()),
    ],
)
def test_more_than_ten_times_the_shortest_is_long(
    cpu_ms: dict[str, float], targets_ms: dict[str, float], found: tuple[str, ...]
) -> None:
    objective = Objective(targets_ms=targets_ms)
    stage = Stage("mine", "ours", 0, objective, lambda: CurveServer([(1, 100), (2, 200)]), cpu_ms)
    assert long_classes(stage) == found
