"""Arrival and loss, computed by hand on made-up runs."""

import pytest

from poolpilot.env.measurement.protocol import observe
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import TuningStep
from poolpilot.pipelines.evaluate.timeline import lost_goodput, mean_goodput, time_to_share

MEASURED = observe(CurveServer(((1, 100.0), (8, 800.0))), 1.0)


def steps(*goodputs: float, seconds: float = 0.5) -> list[TuningStep]:
    """Windows of equal length; only goodput and time matter here."""
    return [Made(seconds * (place + 1), seconds, goodput) for place, goodput in enumerate(goodputs)]


class Made(TuningStep):
    """A window with a length of its own."""

    def __init__(self, end_s: float, seconds: float, goodput_per_s: float) -> None:
        super().__init__(end_s, MEASURED, goodput_per_s, 0.0)
        object.__setattr__(self, "seconds", seconds)

    @property
    def duration_s(self) -> float:
        return float(object.__getattribute__(self, "seconds"))


def test_arrives_when_it_reaches_the_share_and_stays() -> None:
    assert time_to_share(steps(10, 10, 96, 98, 97, 96), 100.0) == pytest.approx(1.0)


def test_a_lucky_start_that_does_not_last_is_no_arrival() -> None:
    assert time_to_share(steps(100, 100, 100, 20, 20, 20), 100.0) is None
    assert time_to_share(steps(100, 100, 20, 20, 100, 100, 100, 100), 100.0) == pytest.approx(2.0)


def test_one_poor_window_of_noise_does_not_undo_an_arrival() -> None:
    assert time_to_share(steps(10, 102, 88, 102, 98, 99, 97), 100.0) == pytest.approx(0.5)


def test_the_last_second_is_too_short_to_arrive_in() -> None:
    assert time_to_share(steps(10, 10, 10, 100), 100.0) is None


def test_lost_is_the_area_under_the_oracle() -> None:
    assert lost_goodput(steps(60, 100), 100.0) == pytest.approx(20.0)
    assert lost_goodput(steps(120, 110), 100.0) == 0.0


def test_mean_goodput_is_weighted_by_time_and_may_be_cut() -> None:
    run = [*steps(100, seconds=1.0), *steps(40, 40, seconds=0.5)]
    assert mean_goodput(run) == pytest.approx(70.0)
    assert mean_goodput(run, 1.0) == pytest.approx(100.0)
