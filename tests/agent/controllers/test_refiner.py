"""The refiner: asks again, stops when told to stay, ends on the best tuple it measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from poolpilot.agent.baselines.choice import advise
from poolpilot.agent.controllers.refiner import Refiner, RefinerSettings, refine_recorded
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction

START = PoolTuple(2, 3, 500)


@dataclass
class ScriptedPredictor:
    """Names sizes from a list and counts the windows it was shown."""

    sizes: list[int]
    seen: list[int] = field(default_factory=list)

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        self.seen.append(len(windows))
        return advise(windows, (self.sizes[len(self.seen) - 1], 3, 500), "scripted", "script")


@pytest.mark.parametrize(
    ("sizes", "measured", "final"),
    [
        ([16, 16], [2, 16], 16),
        ([8, 16, 4], [2, 8, 16, 4], 16),
        ([2], [2], 2),
        ([1, 1], [2, 1], 2),
    ],
    ids=["moves and keeps", "ends on the best of three", "leaves things alone", "goes back"],
)
def test_refiner_ends_on_the_best_tuple_it_measured(
    waiting_sweep: WorkloadSweep, sizes: list[int], measured: list[int], final: int
) -> None:
    predictor = ScriptedPredictor(sizes)
    done = refine_recorded(Refiner(predictor), waiting_sweep, START, seed=0)
    assert [window.pool_tuple.pool_size for window in done.windows] == measured
    assert done.pool_tuple.pool_size == final
    assert done.one_shot.pool_size == sizes[0]
    assert predictor.seen == list(range(1, len(sizes) + 1))


def test_refiner_decides_no_more_often_than_allowed(waiting_sweep: WorkloadSweep) -> None:
    predictor = ScriptedPredictor([4, 8, 16])
    refine_recorded(Refiner(predictor, RefinerSettings(decisions=2)), waiting_sweep, START, seed=0)
    assert predictor.seen == [1, 2]


@dataclass
class Prober(ScriptedPredictor):
    """Probes a size of its own wherever it has no other to name."""

    hunch: int = 16

    def probe(
        self,
        windows: Sequence[Window],
        limits: KnobSpace,  # noqa: ARG002
        objective: Objective,  # noqa: ARG002
    ) -> PoolTuple | None:
        return windows[-1].pool_tuple.with_core((self.hunch, 3, 500))


def test_refiner_probes_where_the_predictor_has_no_other_tuple(waiting_sweep: WorkloadSweep) -> None:
    predictor = Prober([2, 2])
    done = refine_recorded(Refiner(predictor, RefinerSettings(decisions=1)), waiting_sweep, START, seed=0)
    assert [window.pool_tuple.pool_size for window in done.windows] == [2, 16]
    assert done.one_shot.pool_size == 2
    assert done.pool_tuple.pool_size == 16
