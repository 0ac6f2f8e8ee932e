"""The oracle's own tuple is worth what it was measured afresh at, not what it was chosen by."""

from collections.abc import Callable, Sequence

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from recorded_cases import RecordedCase
from replayed_trials import played

DEFAULT, MIDDLE, LARGE = (1, 3, 500), (4, 3, 500), (16, 3, 500)


class Names:
    """A predictor that always names one tuple."""

    def __init__(self, core: tuple[int, int, int]) -> None:
        self._core = core

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        named = windows[-1].pool_tuple.with_core(PoolTuple(*self._core).core)
        return Prediction(named, windows[-1].pool_tuple, False, (), "", expected_gain=1.0)


def test_oracle_is_valued_by_the_windows_measured_afresh(make_case: Callable[..., RecordedCase]) -> None:
    case = make_case({DEFAULT: [500, 500], MIDDLE: [900, 900], LARGE: [1200, 1200, 1200]}, [1000, 1000], LARGE)
    assert played(case, Names(LARGE), 1, 0) == (0.0, 0.0)
    assert played(case, Names(MIDDLE), 1, 0) == pytest.approx((0.1, 0.1))
