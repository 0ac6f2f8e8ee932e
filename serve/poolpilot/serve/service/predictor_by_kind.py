"""A predictor that asks what decides for the kind of server that the windows come from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.card import ModelKind
from poolpilot.models.champion import CHAMPIONS, load_champion, model_for
from poolpilot.models.latent.learned_folder import holds_learned_model
from poolpilot.models.latent.shipped import advisor_for
from poolpilot.models.predictor import Prediction, Predictor, ScorePredictor


class PredictorByKind:
    """One predictor for each kind of server.

    Args:
        predictors: The predictors, by kind.
    """

    def __init__(self, predictors: Mapping[ModelKind, Predictor]) -> None:
        self.predictors = predictors

    @classmethod
    def load(cls, model: Path | None = None) -> Self:
        """Loads what ships, or the networks that the environment names.

        Args:
            model: Folder that `poolpilot learn` has left, or of a network that answers for its kind of server instead.

        Raises:
            DamagedArtefactError: A file of one is missing, unreadable or not what was written.
            ArtefactError: One is missing, or does not fit this version.
        """
        if model is not None and holds_learned_model(model):
            learned = model.resolve()  # one model for all kinds, should a link be moved meanwhile
            return cls({kind: advisor_for(kind, learned) for kind in CHAMPIONS})
        named: dict[ModelKind, Predictor] = {}
        if model is not None:
            artefact = load_champion(model)
            named[artefact.card.kind] = ScorePredictor(artefact)
        return cls(named | {kind: advisor_for(kind) for kind in CHAMPIONS if kind not in named})

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`.

        Raises:
            FeatureError: Nobody knows the kind of server that the windows come from.
        """
        return self.predictors[model_for(windows[-1].server_kind)].predict(windows, limits, objective)
