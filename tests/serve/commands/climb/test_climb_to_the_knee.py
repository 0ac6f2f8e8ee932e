"""`poolpilot climb` on curves that are flat from a knee on: no threads without gain."""

from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import tune
from poolpilot.serve.commands.climb.climb_run_settings import command_defaults

SEEDS = range(1, 5)
PERIOD_S = 0.25


def ends(points: list[tuple[float, float]], noise: float) -> list[int]:
    """The sizes that five minutes of `poolpilot climb` end on, seed by seed."""
    sizes = []
    for seed in SEEDS:
        server = CurveServer(points, noise=noise, seed=seed)
        climber = spectral_climber(ClimbSettings(**command_defaults(PERIOD_S)), server.knobs)
        controller = ClimbController(climber, server.tuple_in_force(), Objective())
        tune(server, controller, Objective(), horizon_s=300.0)
        recommended = controller.recommend()
        assert recommended is not None
        sizes.append(recommended.pool_size)
    return sizes


def test_ends_within_a_factor_of_two_of_the_knee() -> None:
    """`climb_knee_test.cpp` has more knees, more noise and how often it fails."""
    near = [4 <= size <= 16 for size in ends([(1.0, 1000.0), (8.0, 8000.0), (128.0, 8000.0)], 0.15)]
    assert sum(near) >= len(SEEDS) - 1


def test_follows_what_pays() -> None:
    points = [(1.0, 1000.0), (4.0, 3900.0), (8.0, 6000.0), (12.0, 6500.0), (16.0, 5000.0), (32.0, 3000.0)]
    assert all(7 <= size <= 14 for size in ends(points, 0.15))
