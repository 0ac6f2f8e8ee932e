"""What a tuner is made of, by its settings: rules, what proposes, and what speaks to it from outside."""

from functools import partial
from pathlib import Path

from poolpilot.agent.baselines.static import StaticPredictor
from poolpilot.env.server import Tunable
from poolpilot.env.tuning.target import Target
from poolpilot.errors import SettingError
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.mariadb.diagnosis.hindrances import hindrances
from poolpilot.mariadb.diagnosis.listed_session import hidden_sessions
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.champion import MODEL_FOR
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.remote.remote_predictor import RemotePredictor
from poolpilot.serve.shadow.challenger import Challenger
from poolpilot.serve.tuner.caution import KeptCaution
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.hours import Hours
from poolpilot.serve.tuner.machine.decision import Mode
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.outside import Outside, nothing_hinders

KILL_FILE, APPROVAL_FILE = "stop", "approved"
"""Files in the folder of the decisions by which people speak to a tuner."""


def rules_for(settings: TuneSettings, server: Tunable) -> Rules:
    """What the settings and the server allow.

    Raises:
        SettingError: They have nothing in common.
    """
    most_threads, stack_bytes = None, None
    if isinstance(server, MariadbServer):
        most_threads = server.threads_beside_reserve
        stack_bytes = int(server.variables["thread_stack"].value)
    return Rules(
        mode=settings.mode,
        guard=settings.guard,
        pace=settings.pace,
        envelope=Envelope.of(settings.guard, server.knobs, most_threads),
        hours=[Hours.parse(text) for text in settings.hours],
        approval=settings.approve,
        min_rows_share=settings.min_rows_share,
        thread_stack_bytes=stack_bytes,
    )


def check_proposed(settings: TuneSettings, server: Tunable) -> None:
    """Refuses a configuration to try that the server would not take.

    Raises:
        SettingError: A knob of it is outside the server's range.
    """
    if settings.proposed is None:
        return
    try:
        server.knobs.check(settings.proposed)
    except SettingError as error:
        raise SettingError(f"--propose {settings.propose}: {error}; name another configuration") from error


def predictor_for(settings: TuneSettings) -> Predictor:
    """What proposes tuples: to who applies, what measures what follows; else what has a single observation.

    Raises:
        ArtefactError: The model or the curves are missing or damaged.
        SettingError: The model is a network, and none knows such servers; or the service's address is of no use.
    """
    if settings.proposed is not None:
        return StaticPredictor(settings.proposed)
    if (link := settings.service_link()) is not None:
        return RemotePredictor(link, settings.remote_digest, trials=settings.mode is Mode.APPLY)
    return advisor_for(settings, settings.model)


def advisor_for(settings: TuneSettings, model: Path | None) -> Advisor:
    """What a model proposes, as the mode asks it: who only advises has a single observation.

    One's own server, which no network knows, is named trials whatever the mode.
    """
    advises = settings.mode is not Mode.APPLY and settings.server_kind in MODEL_FOR
    return Advisor.load(model, settings.server_kind, Purpose.ADVICE if advises else Purpose.TRIAL)


def challenger_for(settings: TuneSettings) -> Challenger | None:
    """What is asked beside the predictor that acts, as that one is asked; None where nobody named it.

    Raises:
        ArtefactError: Its model or the curves are missing or damaged.
    """
    if settings.challenger is None:
        return None
    return Challenger(advisor_for(settings, settings.challenger), load_curves())


def caution_for(settings: TuneSettings, target: Target, folder: Path) -> KeptCaution | None:
    """Where it is kept what a tuner is wary of: of one that sets, on a server that outlives it."""
    applies = settings.mode is Mode.APPLY and isinstance(target.server, MariadbServer)
    return KeptCaution(folder) if applies else None


def outside_of(settings: TuneSettings, target: Target, folder: Path) -> Outside:
    """What speaks to the tuner: files in the folder of its decisions, and what the server is doing."""
    server = target.server
    asks = nothing_hinders
    if isinstance(server, MariadbServer):
        asks = partial(_hindrances_of, server, settings.most_replica_lag_s)
    return Outside(folder / KILL_FILE, folder / APPROVAL_FILE if settings.approve else None, asks)


def blind_spots(server: Tunable) -> tuple[str, ...]:
    """What a tuner should wait for and cannot see, as sentences.

    Raises:
        LostServerError: The server is gone.
    """
    if not isinstance(server, MariadbServer):
        return ()
    unseen = hidden_sessions(server.session)
    return tuple(f"the tuner does not wait for backups and changes of tables: {one}" for one in unseen)


def _hindrances_of(server: MariadbServer, most_replica_lag_s: float) -> tuple[Hindrance, ...]:
    return hindrances(server.session, most_replica_lag_s)
