"""The factory hands every setting to the climber and keeps it within the server's sizes."""

import pytest

from poolpilot.env.backends.curve import CurveServer
from poolpilot.env.climb import ClimbController, run_climb
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.spectral import ClimbSettings, spectral_climber

ARCH = ((1, 100.0), (16, 1200.0), (32, 1300.0), (64, 600.0))


def test_cold_climb_from_the_default_reaches_the_summit_of_a_curve() -> None:
    server = CurveServer(ARCH, connections=64, cpus=2)
    climber = spectral_climber(ClimbSettings(), server.knobs)
    trace = run_climb(server, ClimbController(climber, server.tuple_in_force(), Objective()), 0.25, 60.0, Objective())
    assert trace.steps[0].pool_tuple.pool_size == 2
    assert trace.steps[-1].goodput_per_s >= 0.95 * 1300.0


def test_warm_climb_holds_where_it_starts() -> None:
    server = CurveServer(ARCH, connections=64, cpus=2)
    start = server.apply(server.tuple_in_force().with_core((30, 3, 10)))
    climber = spectral_climber(ClimbSettings(), server.knobs, start.pool_size, warm=True)
    trace = run_climb(server, ClimbController(climber, start, Objective()), 0.25, 20.0, Objective())
    assert {step.pool_tuple.pool_size for step in trace.steps} == {30}
    assert climber.mode == "OPTIMIZED"


def test_refused_setting_is_named() -> None:
    with pytest.raises(ValueError, match="price_of_thread"):
        spectral_climber(ClimbSettings(price_of_thread=50.0), KnobSpace.stock(2))
