"""The network answers where it is sure, the curves where it abstains or its change may lose."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sample_sweeps import sample_sweeps
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.champion import load_champion
from poolpilot.models.latent.latent_advisor import LatentAdvisor
from poolpilot.models.latent.one_look import OneLook
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import Prediction, ScorePredictor


@dataclass
class Told:
    """Answers as it is told to."""

    size: int
    abstained: bool = False
    low: float = 0.1
    asked: list[Sequence[Window]] = field(default_factory=list)

    def predict(self, windows: Sequence[Window], *_: KnobSpace | Objective) -> Prediction:
        self.asked.append(windows)
        in_force = windows[-1].pool_tuple
        named = in_force if self.abstained else in_force.with_core((self.size, 3, 500))
        return Prediction(named, in_force, self.abstained, ("told",), "network", 0.3, self.low, 0.5)


@pytest.fixture
def window() -> tuple[Window, KnobSpace]:
    sweep = sample_sweeps("page_faults")[0]
    return sweep.entries[sweep.limits.default_tuple().core].windows[0], sweep.limits


@pytest.mark.parametrize(
    ("told", "answers"),
    [
        (Told(32), "network"),
        (Told(32, low=-0.04), "network"),
        (Told(32, low=-0.2), "curves"),
        (Told(32, abstained=True), "curves"),
    ],
)
def test_who_answers(curves: ResponseCurves, window: tuple[Window, KnobSpace], told: Told, answers: str) -> None:
    seen, limits = window
    look = OneLook(cast("ScorePredictor", told), LatentAdvisor(curves))
    prediction = look.predict([seen], limits, Objective())
    assert prediction.model_digest == ("network" if answers == "network" else curves.digest)
    assert len(told.asked) == 1


def test_what_is_to_stay_may_stay_whatever_its_interval(
    curves: ResponseCurves, window: tuple[Window, KnobSpace]
) -> None:
    seen, limits = window
    told = Told(seen.pool_tuple.pool_size, low=-0.5)
    look = OneLook(cast("ScorePredictor", told), LatentAdvisor(curves))
    assert look.predict([seen], limits, Objective()).verdict == "leave it"


def test_shipped_network_answers_for_the_workload_that_it_knows(window: tuple[Window, KnobSpace]) -> None:
    seen, limits = window
    look = OneLook(ScorePredictor(load_champion()), LatentAdvisor(load_curves()))
    prediction = look.predict([seen], limits, Objective())
    assert (prediction.verdict, prediction.pool_tuple.pool_size > 8) == ("change", True)
