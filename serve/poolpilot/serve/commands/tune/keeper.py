"""The keeper: a second process that rolls back what a tuner on this host has left unverified when it died."""

import time
from contextlib import suppress

from rich.console import Console

from poolpilot.env.interrupts import Interrupts
from poolpilot.env.output import introduce
from poolpilot.errors import JournalError, LostServerError, ServerError, SettingError
from poolpilot.mariadb.restoration.mariadb_restoration import MariadbRestoration
from poolpilot.mariadb.restoration.mariadb_target import connect
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.tuner_lock import LOCK, holder_of, sees_itself, stranger_of
from poolpilot.serve.commands.tune.tune_settings import TuneSettings

CHECK_EVERY_S = 1.0


def keep_watch(settings: TuneSettings, console: Console) -> None:
    """Checks again and again whether a tuner has died, until it is interrupted or the seconds are over.

    A tuner holds a lock in the database for as long as it lives, and its journal tells what it was trying. A journal
    without a holder of the lock is of one that has died: what it left is restored as by `poolpilot restore`. A server
    that is lost is opened again, with the account as its file has it by then. That it cannot be, and what it refuses,
    is said once, and tried again; so is a lock that no session of this account has while something is left: any
    account may take it, and nothing comes back while one does.

    Raises:
        KeyboardInterrupt: It was ended.
        ServerError: The server cannot be reached at the beginning.
    """
    server = _opened(settings)
    try:
        with Interrupts() as interrupts:
            introduce(server.reached, server.warnings, console)
            console.print(f"Watching over {server.session.where}; nothing is set unless a tuner dies.", soft_wrap=True)
            ends_s = None if settings.seconds is None else time.monotonic() + settings.seconds
            told, before = "", None
            while ends_s is None or time.monotonic() < ends_s:
                try:
                    if said := restored(server):
                        console.print(said, soft_wrap=True)
                    stranger = stranger_in_the_way(server)
                    if stranger is not None and stranger == before:
                        raise ServerError(
                            f"connection {stranger} holds the lock {LOCK!r} and is none of this account's: if it is no "
                            f"tuner, end it (KILL {stranger})"
                        )
                    told, before = "", stranger
                except LostServerError:
                    server, told = _reached_again(server, settings, told, console)
                except ServerError as error:
                    told = _said_once(f"Not brought back yet: {error}", told, console)
                except JournalError as error:
                    console.print(str(error), soft_wrap=True)
                    raise
                interrupts.check()
                time.sleep(CHECK_EVERY_S)
    finally:
        server.close()


def _opened(settings: TuneSettings) -> MariadbServer:
    """The server by its DSN, with the account as its file has it now; errors as `connect`."""
    assert settings.dsn is not None, "checked"
    return connect(settings.dsn, settings.defaults_file, settings.procedure, settings.cpus)


def _reached_again(
    server: MariadbServer, settings: TuneSettings, told: str, console: Console
) -> tuple[MariadbServer, str]:
    """The lost server over a new connection, and nothing; the lost one and what is told of it while there is none."""
    try:
        server = _over_again(server, settings)
    except (ServerError, SettingError) as error:
        return server, _said_once(f"Not watching: {error}", told, console)
    if told:
        console.print(f"Watching over {server.session.where} again.", soft_wrap=True)
    return server, ""


def _over_again(server: MariadbServer, settings: TuneSettings) -> MariadbServer:
    """The server over a new connection, with another account where the one of before is refused."""
    try:
        server.reopen()
    except LostServerError:
        raise
    except ServerError:  # its password may be another one by now
        again = _opened(settings)
        server.close()
        return again
    return server


def _said_once(text: str, told: str, console: Console) -> str:
    """Says what was not said just before."""
    if text != told:
        console.print(text, soft_wrap=True)
    return text


def restored(server: MariadbServer) -> str:
    """Restores what a dead tuner has left behind, and says what it did; nothing where none has died.

    Raises:
        ServerError: The server is gone, or somebody has taken the lock just now.
        JournalError: The journal cannot be gone by.
    """
    if holder_of(server.session) is not None:
        return ""
    restoration = MariadbRestoration(server)
    if not restoration.warnings():
        return ""
    try:
        return restoration.resume()
    finally:
        restoration.close()


def stranger_in_the_way(server: MariadbServer) -> int | None:
    """The connection that has the lock and is none of this account's, while something is left; None where none is.

    A tuner's own looks so, too, for as long as it is inside a procedure of another account.

    Raises:
        ServerError: The server is gone.
    """
    stranger = stranger_of(server.session)
    if stranger is None or not sees_itself(server.session):
        return None
    with suppress(JournalError):
        return None if MariadbRestoration(server).left() is None else stranger
    return None
