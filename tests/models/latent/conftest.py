"""A library of two kinds of workload: one that waits and wants many groups, one that computes and wants few."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.ratios import ratio_names
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves

GRID = MachineGrid(sizes=(1, 2, 4, 8, 16, 32, 64), multiples=(1.0, 4.0), oversubscribes=(3,), timer_intervals_ms=(500,))


LOOK = tuple(round(math.log(64.0), 2) if name == "connections" else None for name in ratio_names())
"""What every window of 64 connections looks like, under whatever configuration: no workload from another."""


def curve(name: str, family: str, peak: float, cpus: int = 2) -> ResponseCurve:
    """Worth that falls off by a factor of two for each factor of four between a size and the best one."""
    sizes = np.array([pool_tuple.pool_size for pool_tuple in GRID.columns_on(KnobSpace.stock(cpus))])
    worth = np.log(1000.0) - 0.5 * np.abs(np.log(sizes / peak))
    looks = (LOOK,) * len(GRID.reference_columns)
    return ResponseCurve(
        name=name, family=family, cpus=cpus, connections=64, log_worth=tuple(worth.tolist()), ratios=looks
    )


@pytest.fixture
def make_curve() -> Callable[..., ResponseCurve]:
    return curve


@pytest.fixture
def curves() -> ResponseCurves:
    """Two workloads of a family that waits, one of a family that computes."""
    return ResponseCurves(
        grid=GRID,
        source="made for tests",
        curves=(curve("wait-1", "wait", 32.0), curve("wait-2", "wait", 64.0), curve("compute-1", "compute", 2.0)),
    )
