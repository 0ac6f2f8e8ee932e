"""A predictor that asks what decides for the kind of server that the windows come from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.models.card import ModelKind
from poolpilot.models.champion import CHAMPIONS, load_champion, model_for
from poolpilot.models.latent.learned_folder import holds_learned_model
from poolpilot.models.latent.one_observation import OneObservation
from poolpilot.models.latent.shipped import advisor_for, trials_beside
from poolpilot.models.predictor import ScorePredictor


class PredictorByKind:
    """One predictor for each kind of server.

    Args:
        predictors: What answers after one observation, by kind.
        trying: What names trials to who measures them and goes back; the same if None.
    """

    def __init__(
        self, predictors: Mapping[ModelKind, Predictor], trying: Mapping[ModelKind, Predictor] | None = None
    ) -> None:
        self.predictors = predictors
        self._trying = predictors if trying is None else trying

    def for_trials(self) -> Predictor:
        """What is asked by who measures what is named, and goes back."""
        return type(self)(self._trying)

    @classmethod
    def load(cls, model: Path | None = None) -> Self:
        """Loads what ships, or the networks that the environment names.

        Args:
            model: Folder that `poolpilot learn` has left, or of a network that answers for its kind of server instead.

        Raises:
            DamagedArtefactError: A file of one is missing, unreadable or not what was written.
            ArtefactError: One is missing, or does not fit this version.
        """
        advisors = _advisors(model)
        return cls(advisors, {kind: trials_beside(advisor) for kind, advisor in advisors.items()})

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`.

        Raises:
            FeatureError: Nobody knows the kind of server that the windows come from.
        """
        return self.predictors[model_for(windows[-1].server_kind)].predict(windows, limits, objective)


def _advisors(model: Path | None) -> Mapping[ModelKind, OneObservation | ScorePredictor]:
    """What answers after one observation, by kind; see `PredictorByKind.load`."""
    if model is not None and holds_learned_model(model):
        learned = model.resolve()  # one model for all kinds, should a link be moved meanwhile
        return {kind: advisor_for(kind, learned) for kind in CHAMPIONS}
    named: dict[ModelKind, OneObservation | ScorePredictor] = {}
    if model is not None:
        artefact = load_champion(model)
        named[artefact.card.kind] = ScorePredictor(artefact)
    return named | {kind: advisor_for(kind) for kind in CHAMPIONS if kind not in named}
