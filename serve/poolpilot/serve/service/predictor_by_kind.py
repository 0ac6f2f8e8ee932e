"""A predictor that asks the model for the kind of server that the windows come from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.card import ModelKind
from poolpilot.models.champion import CHAMPIONS, load_champion, model_for
from poolpilot.models.predictor import Prediction, Predictor, ScorePredictor


class PredictorByKind:
    """One model for each kind of server.

    Args:
        predictors: The models, by kind.
    """

    def __init__(self, predictors: Mapping[ModelKind, Predictor]) -> None:
        self.predictors = predictors

    @classmethod
    def load(cls, model: Path | None = None) -> Self:
        """Loads the champions.

        Args:
            model: Folder of a model that takes the place of the champion of its kind.

        Raises:
            DamagedArtefactError: A file of one is missing, unreadable or not what was written.
            ArtefactError: One is missing, or does not fit this version.
        """
        artefacts = {} if model is None else {(named := load_champion(model)).card.kind: named}
        artefacts |= {kind: load_champion(None, kind) for kind in CHAMPIONS if kind not in artefacts}
        return cls({kind: ScorePredictor(artefact) for kind, artefact in artefacts.items()})

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`.

        Raises:
            FeatureError: No model knows the kind of server that the windows come from.
        """
        return self.predictors[model_for(windows[-1].server_kind)].predict(windows, limits, objective)
