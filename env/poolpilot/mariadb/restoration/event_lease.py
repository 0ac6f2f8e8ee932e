"""A lease inside the database: an event that brings the verified tuple back once its tuner is gone, host and all.

The tuner's connection is what is leased. It holds the tuner's lock, and the server closes it when nothing has been
asked over it for a while, whether the tuner has died, hangs, or its host is gone; then the lock is free. The event
looks every few seconds whether it is. So nothing is written to renew the lease, and only the server's clock counts. The
event itself is written anew when another tuple is about to be tried, and when one is verified.
"""

from collections.abc import Iterator, Sequence

from poolpilot.env.knobs import CORE_KNOBS
from poolpilot.env.tuning.identity import ROUNDING_S, ServerIdentity
from poolpilot.errors import LostServerError, ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.actuator import PROCEDURE, CallProcedure, in_order
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.tuner_lock import LOCK, OWN, sees_itself
from poolpilot.mariadb.variables import KNOB_VARIABLES

NAME = "tuner_lease"
"""The event, in the schema of the procedure."""

LEAST_S, MOST_S = 5, 3600

MOST_TRIED = 2
"""Tuples that may be partly in force besides the verified one: the one tried last, and the one before it."""

STARTED = (
    "(SELECT UNIX_TIMESTAMP() - CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS "
    "WHERE VARIABLE_NAME = 'UPTIME')"
)

OWN_HOLDER = f"SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = IS_USED_LOCK('{LOCK}') AND BINARY USER = {OWN}"
"""A session of the tuner's account that has the lock: nobody else's is a tuner's."""

GRANTS = "`poolpilot grants --lease` prints the statements that let it"


def period_s(seconds: int) -> int:
    """How often the event of a lease looks."""
    return max(seconds // 5, 1)


def silence_s(seconds: int) -> int:
    """Seconds without a statement after which the server ends the connection of a lease's tuner."""
    return max(seconds - period_s(seconds) - 1, 1)


class EventLease:
    """The lease of one tuner.

    Args:
        server: The server, whose connection may be opened anew meanwhile.
        seconds: Within so many seconds after the tuner's last statement its tuple is rolled back.
    """

    def __init__(self, server: MariadbServer, seconds: int) -> None:
        self._server = server
        self._period_s = period_s(seconds)
        self._silent_s = silence_s(seconds)
        actuator = server.actuator
        self._procedure = actuator.name if isinstance(actuator, CallProcedure) else None
        self.name = f"{(self._procedure or PROCEDURE).partition('.')[0]}.{NAME}"
        self._verified: PoolTuple | None = None
        self._identity: ServerIdentity | None = None
        self._tried: tuple[PoolTuple, ...] = ()
        self._is_written = False
        self._connection_id = 0
        self._sees_itself = False

    def hold(self, verified: PoolTuple, identity: ServerIdentity) -> None:
        """Begins, or goes on over a connection that was opened anew.

        Args:
            verified: What comes back.
            identity: The server. Another one, to which the event came by replication, leaves it alone; after another
                start its my.cnf holds, and nothing comes back.

        Raises:
            ServerError: The scheduler is off, or the account may not; the text says what to do.
        """
        self._verified, self._identity, self._is_written = verified, identity, False
        self._connection_id = self._server.session.connection_id
        self._sees_itself = sees_itself(self._server.session)
        self._server.session.execute(f"SET SESSION wait_timeout = {self._silent_s}")
        self._write()

    def announce(self, pool_tuple: PoolTuple) -> None:
        """Notes a tuple that is about to be set; what is verified may always come back.

        Raises:
            ServerError: It cannot be noted, so that the tuple must not be set.
        """
        if pool_tuple == self._verified:
            return
        if self._is_written and pool_tuple in self._tried:
            self._check_scheduler()
            return
        self._tried = (*self._tried[1 - MOST_TRIED :], pool_tuple)
        self._write()

    def commit(self, verified: PoolTuple) -> None:
        """Takes a tuple that is in force for the one that comes back from now on.

        Raises:
            ServerError: It cannot be noted now; the next tuple that is announced notes both, or is not set.
        """
        self._verified, self._tried = verified, ()
        self._write()

    def return_to(self, verified: PoolTuple) -> None:
        """Takes a tuple that need not be in force for the one that comes back; the one before it is still the tuner's.

        Raises:
            ServerError: As `commit`.
        """
        ours = dict.fromkeys((self._verified, *self._tried))
        self._verified, self._tried = verified, tuple(one for one in ours if one not in (None, verified))[-MOST_TRIED:]
        self._write()

    def end(self) -> None:
        """Ends it in order: the event is gone.

        Raises:
            ServerError: The server cannot be reached; then the event finds nothing to do and ends itself.
        """
        self._server.session.execute(f"DROP EVENT IF EXISTS {self.name}")

    def _check_scheduler(self) -> None:
        session = self._server.session
        check_scheduler(str(session.row("SELECT @@GLOBAL.event_scheduler")[0]), session.where)

    def _write(self) -> None:
        self._is_written = False
        self._check_scheduler()
        try:
            self._server.session.execute(self.statement(), self._names())
        except LostServerError:
            raise
        except ServerError as error:
            raise ServerError(f"no lease can be kept, and without it nothing is set: {error}; {GRANTS}") from error
        self._is_written = True

    def _names(self) -> tuple[str, str]:
        assert self._identity is not None, "hold first"
        return self._identity.hostname, self._identity.data_folder

    def statement(self) -> str:
        """What makes the event; the names of the server's host and data folder are to be filled in."""
        assert self._verified is not None, "hold first"
        assert self._identity is not None, "hold first"
        back = "".join(f"{line}; " for line in _lines_back(self._procedure, self._tried, self._verified))
        # Inside a procedure of another account the tuner's own session is that account's, so its number counts too.
        not_ours = f"IS_USED_LOCK('{LOCK}') <> {self._connection_id} AND NOT EXISTS ({OWN_HOLDER})"
        held_by_stranger = f" OR ({not_ours})" if self._sees_itself else ""
        # The lock keeps a tuner that comes back just now from writing the event that this one is about to drop. While
        # somebody else holds it, who is no tuner of this account, none can come back.
        return (
            f"CREATE OR REPLACE EVENT {self.name} ON SCHEDULE EVERY {self._period_s} SECOND "
            f"STARTS CURRENT_TIMESTAMP + INTERVAL {self._period_s} SECOND "
            f"COMMENT 'PoolPilot: {self._verified} comes back when the tuner is gone' DO "
            f"IF @@hostname = %s AND @@datadir = %s THEN IF GET_LOCK('{LOCK}', 0) = 1{held_by_stranger} THEN "
            f"IF ABS({STARTED} - {self._identity.started_unix_s}) <= {ROUNDING_S} THEN {back}DO 0; END IF; "
            f"DROP EVENT IF EXISTS {self.name}; DO RELEASE_LOCK('{LOCK}'); END IF; END IF"
        )


def check_scheduler(value: str, where: str) -> None:
    """Refuses a server whose scheduler runs no events.

    Args:
        value: Its event_scheduler.
        where: What it is called.

    Raises:
        ServerError: It runs none; the text says what to do.
    """
    if value in ("ON", "1"):
        return
    how = "restart it with" if value == "DISABLED" else "SET GLOBAL event_scheduler = ON, and put"
    raise ServerError(
        f"the event scheduler of {where} is {value}, so that it keeps no lease: {how} event_scheduler=ON under "
        "[mariadb] in its my.cnf, or leave out --lease event and let a second process watch (poolpilot tune --keeper)"
    )


def _lines_back(procedure: str | None, tried: Sequence[PoolTuple], verified: PoolTuple) -> Iterator[str]:
    """Statements that bring a tuple back from those that were tried; what somebody else has set is left alone."""
    if not tried:
        return
    values = {name: _value_back(name, tried, verified) for name in KNOB_VARIABLES}
    if procedure is not None:
        yield f"CALL {procedure}({', '.join(values[name] for name in CORE_KNOBS)})"
        return
    changed = dict.fromkeys(name for one in reversed(tried) for name in in_order(one, verified))
    for name in changed:
        yield f"SET GLOBAL {KNOB_VARIABLES[name][0].lower()} = {values[name]}"


def _value_back(name: str, tried: Sequence[PoolTuple], verified: PoolTuple) -> str:
    variable, wanted = f"@@GLOBAL.{KNOB_VARIABLES[name][0].lower()}", int(getattr(verified, name))
    ours = sorted({int(getattr(one, name)) for one in tried} - {wanted})
    return f"IF({variable} IN ({', '.join(map(str, ours))}), {wanted}, {variable})" if ours else variable
