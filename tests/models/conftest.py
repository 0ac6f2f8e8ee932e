"""Fixtures of the models' tests: made-up windows, a small network of random weights, a library of known curves."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.profile import WorkloadProfile
from poolpilot.featurizer.schema import FEATURES, SCHEMA_VERSION, feature_names
from poolpilot.featurizer.window import ClassWindow, Window
from poolpilot.models.architecture import Architecture, grid_coordinates
from poolpilot.models.artefact import Artefact, save
from poolpilot.models.card import ModelCard, PredictorSettings
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.ratios import ratio_names
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves
from poolpilot.models.out_of_distribution import OutOfDistribution

CPUS = 2
ARCHITECTURE = Architecture.of(DEFAULT_GRID, members=3, hidden=16)


def make_window(seed: int, pool_tuple: PoolTuple | None = None, **changes: float | None) -> Window:
    """A window of random features, all but `changes`."""
    assert changes.keys() <= set(feature_names()), "a change names no feature"
    random = np.random.default_rng(seed)
    features: dict[str, float | None] = {}
    for feature, draw in zip(FEATURES, random.uniform(0.0, 1.0, len(FEATURES)), strict=True):
        span = feature.high - feature.low if feature.knee is None else feature.knee * 10.0 ** (3.0 * draw)
        features[feature.name] = min(feature.low + span * draw, feature.high)
    features |= {"cpus": float(CPUS), "connections": 64.0, **changes}
    in_force = pool_tuple or PoolTuple(CPUS, 3, 500)
    throughput_per_s = float(random.uniform(100.0, 1000.0))
    counts = Histogram.from_sparse([(100, int(throughput_per_s))])
    profile = WorkloadProfile(SCHEMA_VERSION, in_force, features)
    return Window(SCHEMA_VERSION, in_force, 1.0, profile, {"read": ClassWindow(throughput_per_s, counts)})


def make_weights(seed: int = 0, *, alike: bool = False) -> dict[str, NDArray[np.float32]]:
    """Random weights; `alike` makes the members of the ensemble equal."""
    random = np.random.default_rng(seed)
    weights: dict[str, NDArray[np.float32]] = {}
    for name, shape in ARCHITECTURE.shapes.items():
        array = random.normal(0.0, 0.3, shape).astype(np.float32)
        weights[name] = np.repeat(array[:1], len(array), axis=0) if alike and shape else array
    return weights | {"candidates": grid_coordinates(DEFAULT_GRID)}


def make_card(**changes: Any) -> ModelCard:
    """A card for `make_weights`; without changes it trusts the members completely."""
    statistics = OutOfDistribution.fit(
        [make_window(seed) for seed in range(200)], [make_window(seed) for seed in range(200, 260)], {CPUS}
    )
    fields: dict[str, Any] = {
        "architecture": ARCHITECTURE,
        "grid": DEFAULT_GRID,
        "training_digest": "0" * 64,
        "residual_std": 0.0,
        "out_of_distribution": statistics,
        "settings": PredictorSettings(min_gain=0.0, max_disagreement=100.0),
    }
    return ModelCard(**{**fields, **changes})


@pytest.fixture
def window_of() -> Callable[..., Window]:
    """Makes a window from a seed, a tuple and changed features."""
    return make_window


@pytest.fixture
def limits() -> KnobSpace:
    """The knobs of the server that all windows come from."""
    return KnobSpace.stock(CPUS)


@pytest.fixture
def card_of() -> Callable[..., ModelCard]:
    """Makes a card with changed fields."""
    return make_card


@pytest.fixture
def weights() -> dict[str, NDArray[np.float32]]:
    """Random weights of three different members."""
    return make_weights()


@pytest.fixture
def artefact(tmp_path: Path) -> Artefact:
    """A saved random network whose members disagree."""
    return save(tmp_path / "random", make_weights(), make_card())


@pytest.fixture
def unanimous(tmp_path: Path) -> Artefact:
    """A saved random network whose members agree, so that it is always sure."""
    return save(tmp_path / "unanimous", make_weights(alike=True), make_card())


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


def without_family(curves: ResponseCurves, family: str) -> ResponseCurves:
    """The curves of every other family."""
    rest = tuple(curve for curve in curves.curves if curve.family != family)
    return ResponseCurves(grid=curves.grid, source=curves.source, curves=rest)


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
