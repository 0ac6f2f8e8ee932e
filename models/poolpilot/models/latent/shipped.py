"""What PoolPilot decides by unless told otherwise: what was best on validation (docs/decisions.md, 26).

Who measures what follows tries by the known response curves, whatever the server. Who observes once is answered by the
network of the server's kind, or the one for machines of any size where that does not know its processors or the machine
is simulated, where it is sure, else by the curves. A folder that `poolpilot learn` has left gives other curves, and
maybe another network, which is then the only one. A network alone can be chosen: by its folder, by `network` for the
shipped one, or by the environment variables of `champion.py`.
"""

import os
from pathlib import Path

from poolpilot.featurizer.snapshot import ServerKind
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.artefact import Artefact
from poolpilot.models.champion import CHAMPIONS, MODEL_FOR, champion_folder, load_any_machine, load_for, model_for
from poolpilot.models.latent.latent_advisor import LatentAdvisor, LatentAdvisorSettings
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.learned_folder import holds_learned_model, load_learned_model
from poolpilot.models.latent.one_observation import OneObservation
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.observations.wait_rules import WaitRules
from poolpilot.models.predictor import ScorePredictor

NETWORK = Path("network")
"""Stands for the shipped network in the place of a model's folder."""


def advisor_for(server_kind: ServerKind, model: Path | None = None) -> OneObservation | ScorePredictor:
    """What answers after one observation, to somebody who may not measure what follows.

    Args:
        server_kind: What the windows were measured on.
        model: Folder of a learned model, or of a network to ask alone, or `network` for the shipped one.

    Raises:
        FeatureError: Nobody has learned from such servers.
        ArtefactError: The model or the curves are missing or damaged, or are for another kind of server.
    """
    kind = model_for(server_kind)
    if model is not None and holds_learned_model(model):
        learned = load_learned_model(model)
        if learned.network is not None and learned.network.card.kind == kind:
            return one_observation(server_kind, learned.network, learned.curves)
        return one_observation(
            server_kind, load_for(server_kind), learned.curves, any_machine=_any_machine(server_kind)
        )
    folder = _network(server_kind, model)
    if folder is None:
        return one_observation(server_kind, load_for(server_kind), load_curves(), any_machine=_any_machine(server_kind))
    return ScorePredictor(load_for(server_kind, folder))


def _any_machine(server_kind: ServerKind) -> Artefact | None:
    """The model for machines of any size; none for MariaDB, whose windows do not tell it enough."""
    return load_any_machine() if model_for(server_kind) == "native" else None


def bandit_for(server_kind: ServerKind, model: Path | None = None, rules: WaitRules | None = None) -> Predictor:
    """What names trials to somebody who measures them and goes back, on whatever server; see `advisor_for`.

    Args:
        server_kind: What the windows are measured on.
        model: Folder of a learned model, or of a network to ask alone, or `network` for the shipped one.
        rules: When waits for rows are worth a first trial of fewer groups, for who has a few trials to spend; None goes
            by curves alone.

    Raises:
        FeatureError: The model is a network, and none knows such servers.
        ArtefactError: The model or the curves are missing or damaged, or are for another kind of server.
    """
    if model is not None and holds_learned_model(model):
        return LatentBandit(load_learned_model(model).curves, rules=rules)
    folder = _network(server_kind, model)
    if folder is None:
        return LatentBandit(load_curves(), rules=rules)
    return ScorePredictor.for_trials(load_for(server_kind, folder))


def trials_beside(advisor: OneObservation | ScorePredictor) -> Predictor:
    """What names trials by the same model as what answers after one observation; as `bandit_for` of its folder."""
    if isinstance(advisor, OneObservation):
        return LatentBandit(advisor.advisor.curves)
    return ScorePredictor.for_trials(advisor.artefact)


def _network(server_kind: ServerKind, model: Path | None) -> Path | None:
    """Folder of the network that is asked for; None where none is."""
    if model not in (None, NETWORK):
        return model
    kind = model_for(server_kind) if server_kind in MODEL_FOR else None
    if model is None and (kind is None or not os.environ.get(CHAMPIONS[kind][1])):
        return None
    return champion_folder(None, model_for(server_kind))


def curves_beside(predictor: Predictor) -> ResponseCurves:
    """The known curves that a predictor goes by, or those that are known to whoever asks one without.

    Raises:
        ArtefactError: The file of the curves cannot be read, or holds none.
    """
    return predictor.advisor.curves if isinstance(predictor, OneObservation) else load_curves()


def one_observation(
    server_kind: ServerKind,
    network: Artefact,
    curves: ResponseCurves,
    settings: LatentAdvisorSettings | None = None,
    any_machine: Artefact | None = None,
) -> OneObservation:
    """The advisor of a kind of server; rules stand for what a MariaDB does not time, as pools of ours do.

    Args:
        server_kind: What the windows were measured on.
        network: The network of that kind.
        curves: The known response curves.
        settings: When the curves speak up.
        any_machine: The network for simulated machines and for numbers of processors that `network` does not know;
            None for nobody.
    """
    other = None if any_machine is None else ScorePredictor(any_machine)
    rules = WaitRules() if server_kind == "mariadb" else None
    return OneObservation(ScorePredictor(network), LatentAdvisor(curves, settings), rules, other)
