"""Windows are compared with known workloads under the same configuration, by what both sides show."""

import numpy as np
import pytest
from tests.models.conftest import make_window

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.likeness import (
    NOTHING_SHARED,
    LikenessSettings,
    curves_like,
    prior_by_distance,
    prior_by_likeness,
    squared_distances,
)
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.ratios import ratios_of
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves, rounded
from poolpilot.native_pool.workload import RequestClass, Step, Workload

GRID = MachineGrid(sizes=(), multiples=(1.0, 16.0), oversubscribes=(3,), timer_intervals_ms=(500,))
LIMITS = KnobSpace.stock(2)
NO_RATIOS = tuple(rounded(ratios_of({})) for _ in range(2))
PROGRAMS = {
    "computes": (Step("cpu", us=800.0),),
    "waits": (Step("cpu", us=50.0), Step("wait", us=4000.0)),
}


def window_of(name: str, pool_size: int, seed: int = 1) -> Window:
    workload = Workload(name, name, (RequestClass("all", PROGRAMS[name]),), connections=64, cpus=2, seed=seed)
    with SimulatedServer(workload, initial=PoolTuple(pool_size, 3, 500)) as server:
        server.run_for(1.0)
        before = server.snapshot()
        server.run_for(2.0)
        return Window.between(before, server.snapshot())


@pytest.fixture(scope="module")
def library() -> ResponseCurves:
    return ResponseCurves(
        grid=GRID,
        source="made for tests",
        curves=tuple(
            ResponseCurve(
                name=name,
                family=name,
                cpus=2,
                connections=64,
                log_worth=(7.0, 7.0),
                ratios=tuple(rounded(ratios_of(window_of(name, size).profile.features)) for size in (2, 32)),
            )
            for name in PROGRAMS
        ),
    )


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("pool_size", [2, 3, 32])
def test_a_workload_is_like_itself_under_whatever_is_in_force(
    library: ResponseCurves, name: str, pool_size: int
) -> None:
    distances = squared_distances(library, [window_of(name, pool_size, seed=2)], LIMITS)
    assert list(PROGRAMS)[int(distances.argmin())] == name
    assert distances.min() < 0.2 < distances.max()


def test_same_window_under_another_configuration_is_another_distance(library: ResponseCurves) -> None:
    window = window_of("waits", 2)
    exact = squared_distances(library, [window], LIMITS)
    both = squared_distances(library, [window, window_of("waits", 32)], LIMITS)
    assert exact[1] == pytest.approx(0.0, abs=0.01)
    assert both[0] != exact[0]


def test_what_shows_nothing_leaves_the_prior(library: ResponseCurves) -> None:
    blank = ResponseCurves(
        grid=GRID, source="x", curves=tuple(curve.model_copy(update={"ratios": ()}) for curve in library.curves)
    )
    assert np.isinf(squared_distances(blank, [window_of("waits", 2)], LIMITS)).all()
    prior = prior_by_likeness(blank, [window_of("waits", 2)], LIMITS, LikenessSettings(bandwidth=0.1))
    np.testing.assert_allclose(prior, blank.prior)


def test_a_curve_without_looks_is_far_where_others_have_them(library: ResponseCurves) -> None:
    computes, waits = library.curves
    half = ResponseCurves(grid=GRID, source="x", curves=(computes.model_copy(update={"ratios": ()}), waits))
    assert squared_distances(half, [window_of("waits", 2)], LIMITS)[0] == NOTHING_SHARED


def test_doubt_leaves_something_for_what_looks_different(library: ResponseCurves) -> None:
    window = window_of("waits", 2)
    sure = prior_by_likeness(library, [window], LIMITS, LikenessSettings(bandwidth=0.1))
    doubtful = prior_by_likeness(library, [window], LIMITS, LikenessSettings(bandwidth=0.1, doubt=0.2))
    assert sure[0] < 1e-3
    assert doubtful[0] == pytest.approx(0.1, abs=1e-3)
    np.testing.assert_allclose([sure.sum(), doubtful.sum()], 1.0)


def test_enough_workloads_count_however_far_away_they_are() -> None:
    """Twenty families of one curve each, the first very near and the others twice as far as each before it."""
    curves = ResponseCurves(
        grid=GRID,
        source="made for tests",
        curves=tuple(
            ResponseCurve(name=f"{i}", family=f"{i}", cpus=2, connections=64, log_worth=(7.0, 7.0), ratios=NO_RATIOS)
            for i in range(20)
        ),
    )
    distances = np.array([0.001 * 2.0**place for place in range(20)])

    def effective(fewest: float) -> float:
        prior = prior_by_distance(curves, distances, LikenessSettings(bandwidth=0.2, fewest=fewest))
        assert prior.sum() == pytest.approx(1.0)
        assert (np.diff(prior) <= 0.0).all()
        return float(1.0 / np.square(prior).sum())

    assert effective(0.0) < 8.0
    assert 10.0 <= effective(10.0) < 12.0
    assert effective(0.0) == effective(2.0)
    assert effective(1000.0) < 20.0


@pytest.mark.parametrize(("queued", "known"), [(0.0, 2), (60.0, 1)])
def test_light_curves_count_where_little_is_waited_for(queued: float, known: int) -> None:
    """A server that is asked for all it can give is like no quiet one."""
    curves = [
        ResponseCurve(name=f"{i}", family=f"{i}", cpus=2, connections=64, log_worth=(7.0, 7.0), light=bool(i))
        for i in range(2)
    ]
    library = ResponseCurves(grid=GRID, source="by hand", curves=tuple(curves))
    window = make_window(
        3, connections=64.0, queue_length_mean=queued, active_threads_mean=0.1, utilisation=0.01, in_system=0.2
    )
    assert len(curves_like(library, [window]).curves) == known
