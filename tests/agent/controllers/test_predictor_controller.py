"""Every predictor can drive a server: it observes, sets what the predictor names, and holds it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.conftest import answer_of

from poolpilot.agent.baselines.formulas import LittleFormula
from poolpilot.agent.baselines.static import StaticPredictor
from poolpilot.agent.controllers.predictor_controller import PredictorController
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import tune
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction

CURVE = ((1, 100.0), (128, 1000.0))
KNOBS = KnobSpace.stock(4)


class Recorded:
    """Names one size, or abstains where it is None, and keeps what it was shown."""

    def __init__(self, size: int | None) -> None:
        self.size = size
        self.shown: list[list[int]] = []

    def predict(self, windows: Sequence[Window], *_: KnobSpace | Objective) -> Prediction:
        self.shown.append([window.pool_tuple.pool_size for window in windows])
        in_force = windows[-1].pool_tuple
        named = in_force if self.size is None else in_force.with_core((self.size, 1, 10))
        return Prediction(named, in_force, self.size is None, ("as recorded",), "digest")


def window_of(size: int) -> Window:
    return observe(CurveServer(CURVE, initial=PoolTuple(size, 3, 500)), 1.0).window


@pytest.mark.parametrize("windows", [1, 3])
def test_sets_what_is_named_after_the_windows_and_holds_it(windows: int) -> None:
    predictor = Recorded(32)
    trace = tune(
        CurveServer(CURVE),
        PredictorController(predictor, KNOBS, Objective(), windows),
        Objective(),
        period_s=1.0,
        horizon_s=8.0,
    )
    assert [step.pool_tuple.pool_size for step in trace.steps] == [4] * windows + [32] * (8 - windows)
    assert predictor.shown == [[4] * windows]


def test_asks_afresh_when_somebody_else_has_set_another_tuple() -> None:
    predictor = Recorded(32)
    controller = PredictorController(predictor, KNOBS, Objective(), windows=2)
    sizes = [answer_of(controller, window_of(size)).pool_size for size in (4, 4, 32, 8, 8, 32)]
    assert sizes == [4, 32, 32, 8, 32, 32]
    assert predictor.shown == [[4, 4], [8, 8]]


def test_an_observation_starts_again_when_the_tuple_changes_meanwhile() -> None:
    predictor = Recorded(32)
    controller = PredictorController(predictor, KNOBS, Objective(), windows=2)
    assert [answer_of(controller, window_of(size)).pool_size for size in (4, 8, 8)] == [4, 8, 32]
    assert predictor.shown == [[8, 8]]


def test_leaves_things_alone_where_the_predictor_abstains() -> None:
    predictor = Recorded(None)
    controller = PredictorController(predictor, KNOBS, Objective())
    assert [answer_of(controller, window_of(4)).pool_size for _ in range(3)] == [4, 4, 4]
    assert len(predictor.shown) == 1
    assert controller.reason == "as recorded"


def test_never_sets_a_tuple_outside_the_ranges() -> None:
    controller = PredictorController(Recorded(1000), KNOBS, Objective())
    assert answer_of(controller, window_of(4)) == PoolTuple(4, 3, 500)
    assert "outside the ranges" in controller.reason


def test_formulas_and_static_tuples_are_controllers() -> None:
    window = window_of(4)
    features = {**window.profile.features, "in_system": 40.0, "queue_share": 0.6}
    busy = replace(window, profile=replace(window.profile, features=features))
    little = PredictorController(LittleFormula(), KNOBS, Objective())
    assert answer_of(little, busy).pool_size == 16
    assert "throughput" in little.reason
    static = PredictorController(StaticPredictor(PoolTuple(8, 1, 10)), KNOBS, Objective())
    assert answer_of(static, window).core == (8, 1, 10)
    assert static.prediction is not None


def test_refuses_to_ask_without_a_window() -> None:
    with pytest.raises(SettingError, match="windows is 0, but a predictor needs at least 1"):
        PredictorController(Recorded(1), KNOBS, Objective(), windows=0)
