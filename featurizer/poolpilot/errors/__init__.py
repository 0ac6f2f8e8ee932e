"""The exceptions of PoolPilot: one small tree, so that a caller can catch all of it or one branch."""

__all__ = [
    "ArtefactError",
    "CountersResetError",
    "DamagedArtefactError",
    "FeatureError",
    "JournalError",
    "LoadError",
    "LostServerError",
    "NoConnectionLeftError",
    "NotBroughtBackError",
    "PoolPilotError",
    "RemoteError",
    "ServerError",
    "SettingError",
    "StoreError",
    "TakenFolderError",
    "TakenLabError",
    "TakenNameError",
    "TakenServerError",
    "TupleChangedError",
    "in_words",
]


class PoolPilotError(Exception):
    """Base of every error a user can cause or meet; its text is one sentence fit to print."""


class SettingError(PoolPilotError):
    """A setting, tuple or option lies outside its range; the text names the range."""


class FeatureError(PoolPilotError):
    """A window does not fit the feature schema; `feature` names the field."""

    def __init__(self, feature: str, message: str) -> None:
        """Names the field and explains.

        Args:
            feature: Path to the offending field, its steps joined by dots; empty for the whole.
            message: The sentence to print.
        """
        super().__init__(message)
        self.feature = feature


class ServerError(PoolPilotError):
    """A pool server, or the load on it, cannot be started, reached or set."""


class LoadError(ServerError):
    """The load on a server cannot be started, changed or measured."""


class LostServerError(ServerError):
    """The connection to a server broke, or the server was restarted."""


class NoConnectionLeftError(ServerError):
    """The server refuses a login because a limit on connections is reached: its own, or one of the account."""


class CountersResetError(LostServerError):
    """What a server counts fell: it was restarted, or somebody has reset its counters."""


class TakenServerError(ServerError):
    """Another tuner is at work on a server."""


class TakenLabError(ServerError):
    """Another program uses a test server."""


class NotBroughtBackError(ServerError):
    """What a command found on a server could not be brought back; the text says what is in force."""


class TupleChangedError(ServerError):
    """Somebody else set the tuple while it was being measured."""


class JournalError(PoolPilotError):
    """What a command noted before it changed a server cannot be read, or is not of that server."""


class StoreError(PoolPilotError):
    """Stored records are missing, torn or of another schema."""


class TakenFolderError(StoreError):
    """Another process writes to a folder that only one may write to."""


class TakenNameError(StoreError):
    """What shall be kept has the name of something else that is kept already."""


class RemoteError(PoolPilotError):
    """A prediction service on another host does not answer, refuses, or answers what cannot be trusted."""


class RefusedForGoodError(RemoteError):
    """A prediction service refuses what it was sent, and will refuse it whenever it is sent again."""


class ArtefactError(PoolPilotError):
    """A model artefact is missing, damaged or does not fit this version."""


class DamagedArtefactError(ArtefactError):
    """A file of a model artefact is gone, cannot be read or is not what was written."""


def in_words(error: Exception) -> str:
    """What is said of an error: ours is a sentence already; of any other, which is a defect, its kind is told."""
    return str(error) if isinstance(error, PoolPilotError) else f"unexpected: {error!r}"
