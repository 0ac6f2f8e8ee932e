"""The folder of the decisions about a server, by which people speak to its tuner as well."""

from pathlib import Path

from poolpilot.durability.durable_writes import rename_durably
from poolpilot.durability.folder_lock import locked_folder
from poolpilot.env.tuning.target import Target
from poolpilot.errors import StoreError
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.serve.commands.tune.tune_settings import TuneSettings


def decisions_folder(settings: TuneSettings, target: Target) -> Path:
    """The folder, by a name that is the server's own: a kill switch holds whatever port the tuner logs in by.

    It used to be named by the way to the server; such a folder is renamed.

    Raises:
        TakenFolderError: A tuner is at work in that.
        StoreError: It cannot be renamed.
    """
    folder = settings.folder(target.own_name)
    if isinstance(target.server, MariadbServer) and not folder.exists():
        older = next(filter(Path.is_dir, map(settings.folder, _ways_to(target.server))), None)
        if older is not None:
            _rename(older, folder)
    return folder


def _ways_to(server: MariadbServer) -> tuple[str, ...]:
    """How a server may have been reached, as it was reached now first."""
    account, extra_port = server.account, server.control.extra_port
    return (server.session.where, str(account), f"{account.host}:{extra_port}", f"{account.host}:{account.port}")


def _rename(older: Path, folder: Path) -> None:
    try:
        with locked_folder(older, "keeps its decisions"):
            rename_durably(older, folder)
    except OSError as error:
        raise StoreError(
            f"cannot rename {older} to {folder} ({error.strerror}): do so, or name one with --log"
        ) from error
