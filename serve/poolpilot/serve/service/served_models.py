"""The models that answer now, and how others take their place."""

import time
from collections.abc import Callable, Mapping

from typing_extensions import TypedDict

from poolpilot.errors import in_words
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.artefact import Artefact
from poolpilot.models.latent.one_observation import OneObservation
from poolpilot.models.predictor import ScorePredictor
from poolpilot.serve.service.predictor_by_kind import PredictorByKind

ANY_KIND = "any"
"""Stands for the kind of server where one predictor answers whatever the kind."""

CHECKED_FOR_S = 10.0
"""Time for which models that were found sound are not checked again."""


class ModelsInForce(TypedDict):
    """What `GET /v1/model` tells: digests by kind of server and part, and why they could not be loaded again."""

    models: dict[str, dict[str, str]]
    loaded_unix_s: float
    failed_reload: str | None
    schema_version: int


class ServedModels:
    """A predictor that is replaced as a whole, or stays.

    Attributes:
        predictor: What answers now.
        failure: Why it could not be replaced the last time that was tried; None where it could, or nobody has.

    Args:
        predictor: What answers first.
        load: Loads what shall answer, always from the same place; None where it cannot be loaded again.
    """

    def __init__(self, predictor: Predictor, load: Callable[[], Predictor] | None = None) -> None:
        self.predictor = predictor
        self.failure: str | None = None
        self._load = load
        self._loaded_unix_s = time.time()
        self._sound_until_s = 0.0

    def renew(self) -> None:
        """Loads the models again; a request is answered whole by the old ones or whole by the new ones.

        Raises:
            ArtefactError: One is missing or damaged; the old ones answer on.
        """
        if self._load is None:
            return
        try:
            predictor = self._load()
            check(predictor)
        except Exception as error:
            self.failure = str(error) or repr(error)
            raise
        self.predictor, self.failure = predictor, None
        self._loaded_unix_s = time.time()

    def check(self) -> None:
        """Has the models answer their golden vectors, at most every `CHECKED_FOR_S`.

        Raises:
            ArtefactError: A model does not answer what it did when it was saved.
        """
        now_s = time.monotonic()
        if now_s >= self._sound_until_s:
            check(self.predictor)
            self._sound_until_s = now_s + CHECKED_FOR_S

    def digests(self) -> dict[str, dict[str, str]]:
        """Kind of server to part to digest of what answers."""
        return {kind: _digests(predictor) for kind, predictor in _by_kind(self.predictor).items()}

    def as_dict(self) -> ModelsInForce:
        """What answers, fit for JSON."""
        return {
            "models": self.digests(),
            "loaded_unix_s": self._loaded_unix_s,
            "failed_reload": self.failure,
            "schema_version": SCHEMA_VERSION,
        }


def failure_of(renew: Callable[[], None]) -> str | None:
    """Renews something; why it could not be renewed, whatever that is, and None where it was."""
    try:
        renew()
    except Exception as error:
        return in_words(error)
    return None


def check(predictor: Predictor) -> None:
    """Has every network of a predictor answer its golden vectors.

    Raises:
        ArtefactError: One does not answer what it did when it was saved.
    """
    for one in _by_kind(predictor).values():
        for artefact in _networks(one).values():
            artefact.check()


def _by_kind(predictor: Predictor) -> Mapping[str, Predictor]:
    if isinstance(predictor, PredictorByKind):
        return {kind: one for kind, one in predictor.predictors.items()}
    return {ANY_KIND: predictor}


def _networks(predictor: Predictor) -> dict[str, Artefact]:
    """The networks of a predictor by what they are to it."""
    if isinstance(predictor, OneObservation):
        other = {} if predictor.any_machine is None else {"network_any_machine": predictor.any_machine.artefact}
        return {"network": predictor.artefact, **other}
    return {"network": predictor.artefact} if isinstance(predictor, ScorePredictor) else {}


def _digests(predictor: Predictor) -> dict[str, str]:
    networks = {part: artefact.digest for part, artefact in _networks(predictor).items()}
    return networks | ({"curves": predictor.advisor.curves.digest} if isinstance(predictor, OneObservation) else {})
