"""The restoration on a MariaDB server, which other people use and which outlives the command.

One tuner at a time holds a lock in the database. Before each change the tuple is noted in a journal on this host. At
the end the pool's variables go back to where they were, one by one: those that somebody else has set meanwhile stay. A
lost connection is opened again for that; where another server answers by then, such as after a switch-over, it is
tuned from its own beginning, and the journal of the first one stays for who restores there. A journal that is
still there at the next start is of a command that could not restore: that is done first, so that what it left is
never taken for the beginning.
"""

import time
from contextlib import suppress
from pathlib import Path

from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.env.tuning.restoration import Say
from poolpilot.errors import JournalError, LostServerError, ServerError, TakenServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.actuator import CallProcedure, SetGlobal, in_order
from poolpilot.mariadb.identity_query import read_identity
from poolpilot.mariadb.restoration.event_lease import EventLease
from poolpilot.mariadb.restoration.journal import Journal, Leftover, journal_folder, path_of
from poolpilot.mariadb.restoration.known_server import KnownServer
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.tuner_lock import holder_of, lock, unlock
from poolpilot.mariadb.variables import KNOB_VARIABLES

REOPEN_WITHIN_S = 30.0
"""A server that restarts or stands still for a while answers again within this, or a person must look at it."""

POLL_S = 0.5

UNATTENDED = ("tune",)
"""Commands that run while nobody looks, which a switch-over must not end; others are refused on an unknown server."""

OLD_CONNECTION_GONE_WITHIN_S = 2.0
"""The lock of a connection that is lost to us is free once the server has noticed it too."""


class MariadbRestoration:
    """See the head of this file.

    Args:
        server: The server.
        folder: Folder of the journals; see `journal_folder` for None.
        reopen_within_s: How long a lost connection is tried again.
        lease: A lease inside the database beside the journal; None for none.
    """

    def __init__(
        self,
        server: MariadbServer,
        folder: Path | None = None,
        reopen_within_s: float = REOPEN_WITHIN_S,
        lease: EventLease | None = None,
    ) -> None:
        self._server = server
        self._folder = journal_folder(folder)
        self._reopen_within_s = reopen_within_s
        self._connection_id = server.session.connection_id
        self._journal: Journal | None = None
        self._lease = lease
        self._known = KnownServer(self._folder, server.account.asked)
        self._restarted = False  # and not told yet

    def another_server(self) -> str:
        """That the DSN led to another server when something was last set, as a sentence; empty where it did not."""
        return self._known.other_than(self._server.identity)

    @property
    def folder(self) -> Path:
        """Where the journals lie: those of a command with another folder are not seen from here."""
        return self._folder

    def warnings(self) -> tuple[str, ...]:
        """What an earlier command has left here, as sentences; nothing is set."""
        server = self._server
        if (holder := holder_of(server.session)) is not None:
            return (f"another tuner is at work: {holder}",)
        try:
            journal = self.left()
        except JournalError as error:
            return (str(error),)
        if journal is None:
            return ()
        in_force = server.tuple_in_force()
        return (
            f"{journal} has ended without a restore: {in_force} is in force, {journal.first} was at the beginning; "
            f"{self._would_be_done(journal, in_force)}",
        )

    def _would_be_done(self, journal: Journal, in_force: PoolTuple) -> str:
        """What `_gone_back` would do, as the end of a sentence."""
        restore, left = "`poolpilot restore` with this DSN and --execute", journal.left_over(in_force)
        if read_identity(self._server.session).restarted_since(journal.server):
            return f"the server was restarted since, so its my.cnf holds: {restore} only removes the journal"
        theirs = f"somebody else has set {_told(left)} meanwhile, which is left alone: " if left.theirs else ""
        if left.wanted == in_force:
            return f"{theirs}{restore} only removes the journal"
        return f"{theirs}{restore} brings {left.wanted if left.theirs else 'it'} back"

    def left(self) -> Journal | None:
        """The journal of a command that works now, or has ended without a restore.

        Raises:
            JournalError: It cannot be used.
        """
        return Journal.find(self._folder, read_identity(self._server.session), self._server.knobs)

    def begin(self, command: str, say: Say) -> PoolTuple:
        """See `Restoration.begin`.

        Raises:
            ServerError: Another tuner is at work, the procedure would not bring back what is in force, or the lease
                that is asked for cannot be kept.
            JournalError: The journal cannot be written, an earlier one cannot be used, or the DSN has led to
                another server before.
        """
        if command not in UNATTENDED and (another := self.another_server()):
            raise JournalError(
                f"{another}: nothing is set; where that one is meant, `poolpilot restore` with this DSN and --forget "
                "takes it from now on"
            )
        say(self.resume())
        server = self._server
        first = server.tuple_in_force()
        self.prove(first)
        identity = read_identity(server.session)
        procedure = server.actuator.name if isinstance(server.actuator, CallProcedure) else None
        self._known.note(identity, command)
        self._journal = Journal.begin(self._folder, identity, first, server.knobs, command, procedure)
        if self._lease is not None:
            self._lease.hold(first, identity)
        server.announce = self._announced
        return first

    def prove(self, first: PoolTuple) -> None:
        """Has a procedure set what is in force, which changes nothing, since it is by the procedure that it comes back.

        Raises:
            ServerError: It is not there, may not be called, or refuses such a tuple.
        """
        server = self._server
        try:
            server.actuator.set(server.session, first, first)
        except LostServerError:
            raise
        except ServerError as error:
            raise ServerError(
                f"what is in force, {first}, could not be brought back, so nothing is set: {error}; `poolpilot grants` "
                "makes the procedure anew, with wider ranges if you say so"
            ) from error

    def resume(self) -> str:
        """Takes the server's lock and restores what an earlier command has left; what it did, if anything.

        Raises:
            ServerError: Another tuner is at work, or the server refuses.
            JournalError: The journal cannot be gone by.
        """
        lock(self._server.session)
        return self._resume_locked()

    def _resume_locked(self) -> str:
        """See `resume`; the lock is this session's."""
        server = self._server
        journal = Journal.find(self._folder, read_identity(server.session), server.knobs)
        if journal is None:
            return ""
        asked = server.actuator
        if journal.procedure is not None and isinstance(asked, SetGlobal):
            server.actuator = CallProcedure(journal.procedure)  # the account may have no other right
        try:
            return f"{_upper(journal)} has ended without a restore. {self._gone_back(journal)}"
        finally:
            server.actuator = asked

    def forget(self) -> str:
        """Takes the server's lock and leaves everything as it is: an earlier journal is removed, readable or not.

        From now on it is this server that the DSN is known to lead to.

        Raises:
            ServerError: Another tuner is at work.
            JournalError: That cannot be noted.
        """
        lock(self._server.session)
        identity = read_identity(self._server.session)
        self._known.note(identity, "restore")
        path = path_of(self._folder, identity)
        if not path.exists():
            return ""
        path.unlink()
        return f"{path} is removed. In force now, and the beginning from now on: {self._server.tuple_in_force()}."

    def commit(self, pool_tuple: PoolTuple) -> None:
        """See `Restoration.commit`."""
        if self._journal is None:
            return
        self._journal.commit(pool_tuple)
        if self._lease is not None:
            with suppress(ServerError):  # the lease makes up for it before anything else is set
                self._lease.commit(pool_tuple)

    def return_to(self, pool_tuple: PoolTuple) -> None:
        """See `Restoration.return_to`."""
        if self._journal is None:
            return
        self._journal.return_to(pool_tuple)
        if self._lease is not None:
            with suppress(ServerError):  # see `commit`
                self._lease.return_to(pool_tuple)

    def reach_again(self) -> bool:
        """See `Restoration.reach_again`; that it was restarted is told once it is reached, however often that fails.

        Who has not begun sets nothing: it takes no lock, and ends nobody's connection.
        """
        before = self._server.identity
        self._server.reopen()
        if self._journal is None:
            self._connection_id = self._server.session.connection_id
            return self._server.identity.restarted_since(before)
        self._lock_again(self._journal)
        identity = read_identity(self._server.session)
        if not identity.is_of(self._journal.server):
            self._journal = self._begun_beside(self._journal, identity)
        elif identity.restarted_since(self._journal.server):
            in_force = self._server.tuple_in_force()
            self._journal.server, self._restarted = identity, True
            self._journal.commit(in_force)
        elif not self._journal.path.exists():  # a keeper has taken us for dead meanwhile
            self._journal.renew()
        self._hold_again(self._journal.first, identity)
        restarted, self._restarted = self._restarted, False
        return restarted

    def _begun_beside(self, earlier: Journal, identity: ServerIdentity) -> Journal:
        """The journal of another server that answers by now; that of the earlier one stays as it is."""
        self._resume_locked()
        server, self._restarted = self._server, True
        first = server.tuple_in_force()
        self._known.note(identity, earlier.command)
        return Journal.begin(self._folder, identity, first, server.knobs, earlier.command, earlier.procedure)

    def _hold_again(self, first: PoolTuple, identity: ServerIdentity) -> None:
        """Goes on with the lease; where that cannot be, nothing new is set, but what is verified may come back."""
        if self._lease is None:
            return
        try:
            self._lease.hold(first, identity)
        except LostServerError:
            raise
        except ServerError:
            return

    def bring_back(self, say: Say) -> str:
        """See `Restoration.bring_back`."""
        if self._journal is None:
            return ""
        ends_s = time.monotonic() + self._reopen_within_s
        try:
            while True:
                try:
                    return self._gone_back(self._journal)
                except LostServerError:
                    say(f"The connection to {self._server.session.where} is lost; it is being opened again.")
                    self._reopen(self._journal, ends_s)
        except TakenServerError as error:
            raise TakenServerError(f"nothing is set back, since what is in force is its own by now: {error}") from error
        except ServerError as error:
            raise ServerError(by_hand(self._journal, error)) from error

    def keep(self) -> str:
        """See `Restoration.keep`."""
        if self._journal is not None:
            self._end_lease()
            self._journal.end()
        return f"In force now: {self._server.tuple_in_force()}."

    def close(self) -> None:
        """See `Restoration.close`."""
        self._server.announce = None
        with suppress(ServerError):
            unlock(self._server.session)

    def _gone_back(self, journal: Journal) -> str:
        in_force, identity = self._server.tuple_in_force(), read_identity(self._server.session)
        if not identity.is_of(journal.server):
            raise ServerError(f"{identity} answers by now, and not {journal.server}")
        if identity.restarted_since(journal.server):
            self._end_lease()
            journal.end()
            return f"The server was restarted since, and its my.cnf holds. In force now: {in_force}."
        left = journal.left_over(in_force)
        if left.wanted != in_force:
            self._server.put_back(left.wanted)
        self._end_lease()
        journal.end()
        return f"{_left_alone(left)}In force now: {left.wanted}."

    def _announced(self, pool_tuple: PoolTuple) -> None:
        """Notes a tuple that is about to be set: on this host first, then in the lease."""
        assert self._journal is not None, "begin first"
        self._journal.announce(pool_tuple)
        if self._lease is not None:
            self._lease.announce(pool_tuple)

    def _end_lease(self) -> None:
        """The event is no longer needed; one that cannot be dropped finds nothing to bring back and ends itself."""
        if self._lease is not None:
            with suppress(ServerError):
                self._lease.end()

    def _reopen(self, journal: Journal, ends_s: float) -> None:
        while True:
            try:
                self._server.reopen()
                self._lock_again(journal)
            except ServerError:
                if time.monotonic() >= ends_s:
                    raise
                time.sleep(POLL_S)
            else:
                return

    def _lock_again(self, journal: Journal) -> None:
        session = self._server.session
        if not read_identity(session).restarted_since(journal.server):  # else the number may be another's by now
            with suppress(ServerError):
                session.execute(f"KILL {self._connection_id}")
        try:
            lock(session, OLD_CONNECTION_GONE_WITHIN_S)
        except ServerError:
            session.close()  # what another tuner has set is not to be set back over a connection without the lock
            raise
        self._connection_id = session.connection_id


def by_hand(journal: Journal, error: Exception) -> str:
    """Why it could not be restored, what is in force, and the statements that restore it by hand."""
    unless = "unless the server was restarted"
    if not journal.announced:
        return f"{error}; nothing was set: {journal.first} is in force {unless}"
    names = dict.fromkeys(name for pool_tuple in journal.announced for name in in_order(pool_tuple, journal.first))
    lines = (f"SET GLOBAL {KNOB_VARIABLES[name][0].lower()} = {int(getattr(journal.first, name))};" for name in names)
    return (
        f"the initial configuration, {journal.first}, could not be brought back: {error}. "
        f"Last set, and in force {unless}: {journal.announced[-1]}. Once the server answers, "
        "`poolpilot restore` with the same DSN and --execute brings it back, as does the next command that sets "
        "anything, or by hand:\n" + "\n".join(lines)
    )


def _upper(journal: Journal) -> str:
    """The command of a journal, as a sentence begins."""
    text = str(journal)
    return text[0].upper() + text[1:]


def _left_alone(left: Leftover) -> str:
    if not left.theirs:
        return ""
    return f"Somebody else has set {_told(left)} meanwhile, which is left alone. "


def _told(left: Leftover) -> str:
    """The variables that somebody else has set, with their values."""
    return ", ".join(f"{KNOB_VARIABLES[name][0].lower()} = {int(getattr(left.wanted, name))}" for name in left.theirs)
