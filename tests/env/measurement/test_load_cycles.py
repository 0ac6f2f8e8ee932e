"""Windows of a load that repeats itself end with a cycle."""

import pytest

from poolpilot.env.measurement.load_cycles import whole_cycles_s


@pytest.mark.parametrize(
    ("seconds", "cycle_s", "whole_s"),
    [(1.01, 1.0, 2.0), (3 * 0.1, 0.1, 0.3), (2.0, 1.0, 2.0), (0.2, 5.0, 5.0), (0.0, 5.0, 5.0)],
)
def test_fewest_whole_cycles_that_last_so_long(seconds: float, cycle_s: float, whole_s: float) -> None:
    assert whole_cycles_s(seconds, cycle_s) == pytest.approx(whole_s)
