"""What is placed of a library is kept for as long as the library is, and for few servers."""

import gc
import weakref

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.placed_curves import KEPT_SERVERS, PlacedCurves
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves

GRID = MachineGrid(sizes=(1, 8), multiples=(), oversubscribes=(3,), timer_intervals_ms=(500,))


def library(source: str) -> ResponseCurves:
    curve = ResponseCurve(name="a", family="a", cpus=2, connections=64, log_worth=(1.0, 3.0))
    return ResponseCurves(grid=GRID, source=source, curves=(curve,))


def test_same_server_is_placed_once() -> None:
    curves = library("kept")
    first, second = (PlacedCurves.on(curves, KnobSpace.stock(2), Objective()) for _ in range(2))
    assert first.columns is second.columns
    other = PlacedCurves.on(curves, KnobSpace.stock(4), Objective())
    assert other.columns is not first.columns


def test_few_servers_are_kept() -> None:
    curves = library("many servers")
    first = PlacedCurves.on(curves, KnobSpace.stock(1), Objective()).columns
    for cpus in range(2, KEPT_SERVERS + 2):
        PlacedCurves.on(curves, KnobSpace.stock(cpus), Objective())
    assert PlacedCurves.on(curves, KnobSpace.stock(1), Objective()).columns is not first


def test_library_that_was_replaced_goes() -> None:
    """Before, a service that follows models kept each one that it had been asked by: 40 MB a promotion."""
    curves = library("to be replaced")
    placed = weakref.ref(PlacedCurves.on(curves, KnobSpace.stock(2), Objective()).columns.values)
    gone = weakref.ref(curves)
    assert placed() is not None
    del curves
    gc.collect()
    assert (gone(), placed()) == (None, None)
