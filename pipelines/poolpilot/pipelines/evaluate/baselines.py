"""The baselines, fitted on the training sweeps that the network learned from."""

from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from poolpilot.agent.baselines.formulas import LittleFormula, WaitRatioFormula
from poolpilot.agent.baselines.nearest import NearestSettings, NearestWorkload
from poolpilot.agent.baselines.sbs import SingleBestStatic, SingleBestStaticSettings
from poolpilot.agent.baselines.static import DefaultPredictor
from poolpilot.agent.baselines.trees import BoostedTrees, TreesSettings
from poolpilot.agent.controllers.refiner import Refiner, RefinerSettings
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.models.artefact import Artefact
from poolpilot.models.predictor import ScorePredictor
from poolpilot.pipelines.evaluate.evaluation import SBS, EvaluationSettings, Methods
from poolpilot.pipelines.progress_bars import NO_BARS, ProgressBars

UNGUARDED = "unguarded"
"""The network's preference, however unsure: what abstaining costs or saves shows against it."""


class BaselineSettings(BaseModel):
    """How the baselines are fitted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sbs: SingleBestStaticSettings = SingleBestStaticSettings()
    nearest: NearestSettings = NearestSettings()
    trees: TreesSettings = TreesSettings()


class Unguarded:
    """The score network without abstaining and without leaving things alone.

    Args:
        predictor: The network with its guards.
    """

    def __init__(self, predictor: ScorePredictor) -> None:
        self.predictor = predictor

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`. The interval is that of the gain over the tuple in force."""
        preferred = self.predictor.prefer(windows, limits, objective)
        return Prediction(
            pool_tuple=preferred.pool_tuple,
            in_force=windows[-1].pool_tuple,
            abstained=False,
            reasons=("the highest expected objective, however unsure",),
            model_digest=self.predictor.artefact.digest,
            expected_gain=preferred.over_first.mean,
            gain_low=preferred.over_in_force.low,
            gain_high=preferred.over_in_force.high,
        )


def fit_baselines(
    training: Sequence[WorkloadSweep], grid: ActionGrid, settings: BaselineSettings, bars: ProgressBars = NO_BARS
) -> dict[str, Predictor]:
    """Fits every baseline on the training sweeps.

    Args:
        training: The sweeps.
        grid: The tuples to choose from.
        settings: How they are fitted.
        bars: Show which is being fitted; the trees take a minute.

    Raises:
        StoreError: There is no training sweep.
    """
    fits: Mapping[str, Callable[[], Predictor]] = {
        "default": DefaultPredictor,
        SBS: lambda: SingleBestStatic.fit(training, settings.sbs, grid),
        "nearest": lambda: NearestWorkload.fit(training, settings.nearest, grid),
        "trees": lambda: BoostedTrees.fit(training, settings.trees, grid),
        "wait_ratio": lambda: WaitRatioFormula(grid),
        "little": lambda: LittleFormula(grid),
    }
    return {name: fits[name]() for name in bars.each("fitting baselines", list(fits), str)}


def methods_of(
    artefact: Artefact, baselines: dict[str, Predictor], decisions: int, settings: EvaluationSettings
) -> Methods:
    """The model, one-shot, refined and unguarded, beside its baselines.

    Args:
        artefact: The model.
        baselines: Fitted baselines by name.
        decisions: Tuples that the refiner may set.
        settings: The length of the refiner's windows is theirs.
    """
    predictor = ScorePredictor(artefact)
    measurement = MeasurementSettings(window_s=settings.window_s)
    # The refiner ends on the best it has measured, so it may try what is not surely better.
    relaxed = ScorePredictor.for_trials(artefact)
    refiner = Refiner(relaxed, RefinerSettings(decisions=decisions, measurement=measurement))
    return Methods({"predicted": predictor, **baselines, UNGUARDED: Unguarded(predictor)}, {"refined": refiner})
