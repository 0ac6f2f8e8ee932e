"""Connections to a server: statements in, rows out, and every failure as one sentence that says what to do.

The permanent one is on the extra port where there is one, so that no pool can lock its tuner out.
"""

import socket
import struct
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pymysql
from pymysql.constants import CR, ER

from poolpilot.env.interrupts import held
from poolpilot.env.mariadb.dsn import Account
from poolpilot.errors import LostServerError, ServerError

ANSWER_WITHIN_S = 10.0
"""A statement of ours takes a millisecond; one that takes longer has met a pool without a free thread."""

SURELY_WAITED = 0.5
"""Share of that time below which a login has not been waited for: the connection was closed."""

LOST = (CR.CR_SERVER_GONE_ERROR, CR.CR_SERVER_LOST)
NO_PRIVILEGE = (ER.SPECIFIC_ACCESS_DENIED_ERROR, ER.PROCACCESS_DENIED_ERROR)
NO_SLOT = (ER.CON_COUNT_ERROR,)


class Session:
    """A connection that counts its own statements, so that a profile can leave them out; no signal cuts one in two.

    Args:
        account: Where to and as whom.
        extra: Connect by TCP to this extra port instead.

    Attributes:
        sent: Statements that it has sent, by their first word in lower case.

    Raises:
        ServerError: The server cannot be reached or refuses the account.
        LostServerError: It does not answer in time.
    """

    def __init__(self, account: Account, extra: int | None = None) -> None:
        self.where = f"{account.host}:{extra}" if extra else str(account)
        self.sent: Counter[str] = Counter()
        self._extra = extra is not None
        path = account.socket if not extra else None
        self._socket = _connected(path, account.host, extra or account.port, self.where)
        self._connection = pymysql.Connection(
            user=account.user,
            password=account.password,
            autocommit=True,
            connect_timeout=ANSWER_WITHIN_S,
            read_timeout=ANSWER_WITHIN_S,
            write_timeout=ANSWER_WITHIN_S,
            program_name="poolpilot",
            defer_connect=True,
        )
        begun_s = time.monotonic()
        try:
            self._connection.connect(self._socket)
        except (pymysql.MySQLError, OSError) as error:
            self._socket.close()
            if _code(error) in LOST and time.monotonic() - begun_s < SURELY_WAITED * ANSWER_WITHIN_S:
                raise ServerError(
                    f"{self.where} has closed the connection during the login: is a server behind it, and no proxy or "
                    "tunnel alone?"
                ) from error
            if _code(error) in LOST:
                raise LostServerError(
                    f"{self.where} does not answer a login within {ANSWER_WITHIN_S:g} s: its pool may have no free "
                    "thread; connect to its extra port (E=...)"
                ) from error
            raise self._told(error, account.user) from error
        # A value outside its range must be an error: without strict mode the server clamps it and says nothing.
        # The second is MariaDB's default, which somebody may have made shorter than an answer that we ask for. InnoDB
        # tells times in the zone of the system, so NOW() must be of it too.
        self.execute(
            "SET SESSION sql_mode = 'STRICT_ALL_TABLES', SESSION group_concat_max_len = 1048576, "
            "SESSION time_zone = 'SYSTEM'"
        )

    @property
    def statements(self) -> int:
        """How many it has sent."""
        return self.sent.total()

    def execute(self, statement: str, values: Sequence[object] = ()) -> None:
        """Runs a statement that returns no rows.

        Raises:
            ServerError: The server refuses it.
            LostServerError: The server is gone.
        """
        self.rows(statement, values)

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Runs a statement and returns its rows; errors as `execute`."""
        return self._answer(statement, values)[1]

    def named_rows(self, statement: str) -> list[dict[str, Any]]:
        """The rows of a statement by the names of its columns, which a release may have put elsewhere."""
        names, rows = self._answer(statement)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def row(self, statement: str, values: Sequence[object] = ()) -> tuple[Any, ...]:
        """The only row of a statement."""
        return self.rows(statement, values)[0]

    @property
    def connection_id(self) -> int:
        """The server's number of this connection, as KILL takes it."""
        return int(self._connection.thread_id())

    def peer_process(self) -> int | None:
        """Process id of the server at the other end of a Unix socket; None over TCP."""
        if self._socket.family != socket.AF_UNIX:
            return None
        size = struct.calcsize("3i")
        pid, _, _ = struct.unpack("3i", self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return int(pid) or None

    def close(self) -> None:
        """Closes the connection; a second call does nothing."""
        if self._connection.open:
            try:
                self._connection.close()
            except (pymysql.MySQLError, OSError):
                self._connection._force_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self, statement: str, values: Sequence[object] = ()) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The names of the columns, and the rows."""
        self.sent[statement.partition(" ")[0].lower()] += 1
        try:
            with held(), self._connection.cursor() as cursor:
                cursor.execute(statement, values or None)
                return [column[0] for column in cursor.description or ()], list(cursor.fetchall())
        except (pymysql.MySQLError, OSError, struct.error) as error:
            raise self._told(error) from error

    def _told(self, error: Exception, user: str = "") -> ServerError:
        code, text = _code(error), str(error.args[1]) if len(error.args) > 1 else str(error)
        if code in LOST or isinstance(error, OSError | struct.error | pymysql.err.InterfaceError):
            return LostServerError(
                f"the connection to {self.where} is lost ({text or type(error).__name__}): the server was stopped, "
                f"restarted or did not answer within {ANSWER_WITHIN_S:g} s"
            )
        if code == ER.ACCESS_DENIED_ERROR:
            return ServerError(
                f"{self.where} denies access to {user!r}: check user and password in the [client] group of the "
                "defaults file"
            )
        if code in NO_SLOT:
            remedy = (
                "raise extra_max_connections (3 is enough)"
                if self._extra
                else "max_connections is reached; end some, raise it, or connect to the server's extra port (E=...)"
            )
            return ServerError(f"{self.where} has no free connection left: {remedy}")
        if code in NO_PRIVILEGE:
            return ServerError(
                f"the account lacks a privilege ({text}); `poolpilot mariadb grants` prints the statements that give it"
            )
        return ServerError(f"{self.where} refuses a statement: {text} (error {code})")


def _code(error: Exception) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def _connected(path: Path | None, host: str, port: int, where: str) -> socket.socket:
    """A connected socket; made here and not by the driver, which leaves it open where the server is not there."""
    ours = socket.socket(socket.AF_UNIX) if path else None
    try:
        if ours is None:
            ours = socket.create_connection((host, port), ANSWER_WITHIN_S)
            ours.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            ours.settimeout(ANSWER_WITHIN_S)
            ours.connect(str(path))
    except OSError as error:
        if ours is not None:
            ours.close()
        reason = error.strerror or str(error)
        raise ServerError(f"cannot reach a server at {where}: {reason}; check host, port or socket") from error
    ours.settimeout(None)
    return ours


NO_EXTRA_PORT = (
    "the server has no extra_port: where its pool runs out of threads this connection waits like any other, and a bad "
    "tuple could not be taken back; put extra_port=3307 and extra_max_connections=3 under [mariadb] into its my.cnf"
)


class Control:
    """The session that looks and sets, and how it was reached.

    Args:
        session: The permanent one.
        first: The session on the normal port that came before it, if any; it tells the server's process.
        warnings: What to know of it.
        extra_port: The extra port that the session is on; None where it is on the normal port.
    """

    def __init__(
        self, session: Session, first: Session | None, warnings: tuple[str, ...], extra_port: int | None = None
    ) -> None:
        self.session = session
        self.first = first
        self.warnings = warnings
        self.extra_port = extra_port

    def drop_first(self) -> None:
        """Gives the slot on the normal port back."""
        if self.first is not None:
            self.first.close()
            self.first = None

    def close(self) -> None:
        """Closes both; a second call does nothing."""
        self.drop_first()
        self.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_control(account: Account) -> Control:
    """Connects to the extra port: the one that the caller names, else the one that the server names.

    Raises:
        ServerError: The server cannot be reached or refuses the account on the normal port, or on a named extra port.
    """
    if account.extra_port is not None:
        return Control(Session(account, account.extra_port), None, (), account.extra_port)
    first = Session(account)
    try:
        extra_port = int(first.row("SELECT @@GLOBAL.extra_port")[0])
        if extra_port == 0:
            return Control(first, None, (NO_EXTRA_PORT,))
        try:
            return Control(Session(account, extra_port), first, (), extra_port)
        except ServerError as error:
            return Control(first, None, (f"the extra port {extra_port} cannot be used ({error})",))
    except BaseException:
        first.close()
        raise
