"""A predictor that answers what a test tells it to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.predictor import Prediction


@dataclass
class TellablePredictor:
    """Answers `pool_tuple`, or raises `error` if set, and keeps what it was asked."""

    pool_tuple: PoolTuple = field(default_factory=lambda: PoolTuple(16, 3, 10))
    gain: float = 0.3
    abstained: bool = False
    error: Exception | None = None
    asked: list[tuple[Sequence[Window], KnobSpace, Objective]] = field(default_factory=list)

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        self.asked.append((windows, limits, objective))
        if self.error is not None:
            raise self.error
        return Prediction(
            pool_tuple=windows[-1].pool_tuple if self.abstained else self.pool_tuple,
            in_force=windows[-1].pool_tuple,
            abstained=self.abstained,
            reasons=("requests wait silently", "the processors are idle"),
            model_digest="ab" * 32,
            expected_gain=self.gain,
            gain_low=self.gain - 0.1,
            gain_high=self.gain + 0.1,
        )

    def probe(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective, near: PoolTuple | None) -> None:
        """Has no tuple to probe."""


@pytest.fixture
def predictor() -> TellablePredictor:
    return TellablePredictor()


@pytest.fixture
def tellable() -> Callable[..., TellablePredictor]:
    return TellablePredictor
