"""Gains of sweeps held against the bound on every promise."""

import math

from experiments.gain_bound import held
from poolpilot.env.measurement.sample_sweeps import sample_sweeps


def test_the_best_of_a_sweep_is_within_its_bound() -> None:
    for sweep in sample_sweeps("page_faults"):
        found = held(sweep)
        assert found is not None
        assert found["gain"] - found.get("bound", math.inf) <= 2.0 * found["error"]
        assert found["gain"] > 0.5
