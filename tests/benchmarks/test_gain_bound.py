"""Gains of sweeps held against the bound on every promise."""

from gain_bound import Held, held
from poolpilot.env.measurement.sample_sweeps import sample_sweeps


def test_the_best_of_a_sweep_is_within_its_bound() -> None:
    for sweep in sample_sweeps("page_faults"):
        found = held(sweep)
        assert found is not None
        assert not found.is_exceeded
        assert found.gain > 0.5


def test_what_is_beyond_two_errors_is_exceeded() -> None:
    assert Held("a", (2, 3, 500), gain=0.3, error=0.05, bound=0.1).is_exceeded
    assert not Held("a", (2, 3, 500), gain=0.3, error=0.2, bound=0.1).is_exceeded
    assert not Held("a", (2, 3, 500), gain=9.0, error=0.01, bound=None).is_exceeded
