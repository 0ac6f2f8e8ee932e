"""Outcomes with a planted gain, and learned models that differ by their curves."""

import lzma
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.latent.learned_folder import CURVES_FILE
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves
from poolpilot.pipelines.production.model_shelf import ModelShelf
from poolpilot.pipelines.production.production_outcome import Became, ProductionOutcome

GRID = MachineGrid(sizes=(1, 8), multiples=(1.0,), oversubscribes=(3,), timer_intervals_ms=(10,))
RATE_PER_S = 1000.0


def window_at(rate_per_s: float, pool_tuple: PoolTuple | None = None) -> Window:
    """A window of two seconds."""
    in_force, gauges = pool_tuple or PoolTuple(4, 3, 500), {"connections": 64.0}
    before = Snapshot(10.0, 0, in_force, {"completed": 0.0}, gauges, {})
    return Window.between(before, Snapshot(12.0, 0, in_force, {"completed": 2.0 * rate_per_s}, gauges, {}))


def outcome(
    number: int, digest: str, gain: float, verdict: Became = "kept", server_id: str = "db", propensity: float = 1.0
) -> ProductionOutcome:
    """A decision that has gained `gain` in J."""
    return ProductionOutcome(
        id=f"{digest[:8]}-{server_id}-{number}",
        server_id=server_id,
        propensity=propensity,
        model_digest=digest,
        verdict=verdict,
        before=window_at(RATE_PER_S),
        after=window_at(RATE_PER_S * math.exp(gain)),
        limits=KnobSpace.stock(2),
        objective=Objective(),
    )


def planted(digest: str, mean: float, count: int = 40, server_id: str = "db") -> list[ProductionOutcome]:
    """Decisions with gains of a spread of 0.05 around a mean."""
    gains = np.random.default_rng([count, *digest.encode()]).normal(mean, 0.05, count)
    return [outcome(number, digest, float(gain), server_id=server_id) for number, gain in enumerate(gains)]


class StaticChoice:
    """Names one tuple, whatever it is asked."""

    def __init__(self, pool_tuple: PoolTuple) -> None:
        self.pool_tuple = pool_tuple

    def predict(self, windows: Sequence[Window], _limits: KnobSpace, _objective: Objective) -> Prediction:
        return Prediction(self.pool_tuple, windows[-1].pool_tuple, False, ("planted",), "ab" * 32)


def curves_named(name: str) -> ResponseCurves:
    """A library of one curve."""
    curve = ResponseCurve(name=name, family="one", cpus=2, connections=8, log_worth=(1.0, 2.0, 1.5))
    return ResponseCurves(grid=GRID, source="made for tests", curves=(curve,))


def files_of(name: str) -> dict[str, bytes]:
    """The files of a learned model of one curve."""
    return {CURVES_FILE: lzma.compress(curves_named(name).as_json().encode())}


@pytest.fixture
def shelf(tmp_path: Path) -> ModelShelf:
    return ModelShelf(tmp_path / "learned")


@pytest.fixture
def put(shelf: ModelShelf) -> Callable[[str], str]:
    """Puts a model on the shelf and makes it the one in force; gives its digest."""

    def put_and_promote(name: str) -> str:
        curves = curves_named(name)
        shelf.put(curves.digest, files_of(name))
        shelf.promote(curves.digest)
        return curves.digest

    return put_and_promote
