"""Connections to a server: statements in, rows out, and every failure as one sentence that says what to do."""

import socket
import struct
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pymysql
from pymysql.constants import ER

from poolpilot.env.interrupts import held
from poolpilot.env.loopback import is_loopback
from poolpilot.errors import LostServerError, NoConnectionLeftError, ServerError
from poolpilot.mariadb.login.dsn import Account
from poolpilot.mariadb.login.failed_login import LOST, NO_PROTOCOL, code_of, failed_login
from poolpilot.mariadb.login.sealed_login import SealedLogin

ANSWER_WITHIN_S = 10.0
"""A statement of ours takes a millisecond; one that takes longer has met a pool without a free thread."""

NO_PRIVILEGE = (ER.SPECIFIC_ACCESS_DENIED_ERROR, ER.PROCACCESS_DENIED_ERROR)
NO_SLOT = (ER.CON_COUNT_ERROR,)
NO_SLOT_OF_ACCOUNT = (ER.TOO_MANY_USER_CONNECTIONS, ER.USER_LIMIT_REACHED)

CONNECTION_KILLED = 1927
ENDED = (ER.SERVER_SHUTDOWN, ER.QUERY_INTERRUPTED, CONNECTION_KILLED)
"""What a server says in place of an answer when it, the connection or the statement is ended by somebody."""


class Session:
    """A connection that counts its own statements, so that a profile can leave them out; no signal cuts one in two.

    Args:
        account: Where to and as whom.
        extra: Connect by TCP to this extra port instead.

    Attributes:
        sent: Statements that it has sent, by their first word in lower case.

    Raises:
        ServerError: The server cannot be reached, refuses the account, or cannot prove who it is where it must.
        LostServerError: It does not answer in time.
    """

    def __init__(self, account: Account, extra: int | None = None) -> None:
        self.where = f"{account.host}:{extra}" if extra else str(account)
        self.sent: Counter[str] = Counter()
        self._extra = extra is not None
        self._account = account
        path = account.socket if not extra else None
        encrypted_by = account.tls.context(None if path else account.host)
        self._socket = _connected(path, account.host, extra or account.port, self.where)
        self._peer, self._is_local = _peer_of(self._socket), _is_local(self._socket)
        self._connection = SealedLogin(
            proved=path is not None or (encrypted_by is not None and account.tls.verifies),
            host=account.host,
            ssl=encrypted_by,
            ssl_disabled=encrypted_by is None and (path is not None or account.tls.wanted is False),
            user=account.user,
            password=account.password.encode(errors="surrogateescape"),  # the bytes of the file
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
        except Exception as error:  # whoever answers chooses what the driver stumbles over
            self._socket.close()
            after_s = time.monotonic() - begun_s
            said = failed_login(error, after_s, ANSWER_WITHIN_S, self.where, account)
            raise said or self._told(error) from error
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        # A value outside its range must be an error: without strict mode the server clamps it and says nothing.
        # The second is MariaDB's default, which somebody may have made shorter than an answer that we ask for. InnoDB
        # tells times in the zone of the system, so NOW() must be of it too. A limit on statements is meant for others:
        # an overloaded server would strike the one that is to relieve it.
        self.execute(
            "SET SESSION sql_mode = 'STRICT_ALL_TABLES', SESSION group_concat_max_len = 1048576, "
            "SESSION time_zone = 'SYSTEM', SESSION max_statement_time = 0"
        )
        # In a cluster a reading would wait until all that was replicated is applied, for as long as 30 s under load.
        try:
            self.execute("SET SESSION wsrep_sync_wait = 0")
        except LostServerError:
            raise
        except ServerError:  # built without clusters
            return

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
    def tls_version(self) -> str:
        """What encrypts this connection, such as "TLSv1.3", as this end knows it; empty for nothing."""
        return self._connection.tls_version

    def open_to_others(self) -> str:
        """What somebody between here and the server could do; empty where nothing, as on a socket and on loopback."""
        if self._socket.family == socket.AF_UNIX or is_loopback(self._account.host):
            return ""
        return self._account.tls.open_to(self._account.host, self.tls_version)

    @property
    def connection_id(self) -> int:
        """The server's number of this connection, as KILL takes it."""
        return int(self._connection.thread_id())

    @property
    def over_extra_port(self) -> bool:
        """Whether it has come in by the extra port, so that no thread of the pool serves it."""
        return self._extra

    @property
    def is_local(self) -> bool:
        """Whether the server is reached without leaving this host, by whatever name."""
        return self._is_local

    def peer_process(self) -> int | None:
        """Process id of the server at the other end of a Unix socket; None over TCP."""
        return self._peer

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
        except (pymysql.MySQLError, OSError, *NO_PROTOCOL) as error:
            raise self._told(error) from error

    def _told(self, error: Exception) -> ServerError:
        code, text = code_of(error), str(error.args[1]) if len(error.args) > 1 else str(error)
        if code in (*LOST, *ENDED) or isinstance(error, (OSError, pymysql.err.InterfaceError, *NO_PROTOCOL)):
            return LostServerError(
                f"the connection to {self.where} is lost ({text or type(error).__name__}): the server was stopped, "
                f"restarted or did not answer within {ANSWER_WITHIN_S:g} s"
            )
        if code == ER.ACCESS_DENIED_ERROR:
            return ServerError(
                f"{self.where} denies access to {self._account.user!r} ({text}): check user and password in the "
                "[client] group of the defaults file, the account's host (with skip_name_resolve an address, such as "
                "127.0.0.1 in place of localhost), and where the account asks for TLS, ssl or ssl-ca too"
            )
        if code in NO_SLOT:
            remedy = (
                "raise extra_max_connections (3 is enough)"
                if self._extra
                else "max_connections is reached; end some, raise it, or connect to the server's extra port (E=...)"
            )
            return NoConnectionLeftError(f"{self.where} has no free connection left: {remedy}")
        if code in NO_SLOT_OF_ACCOUNT:
            return NoConnectionLeftError(
                f"{self.where} refuses {self._account.user!r} ({text}): a limit of this account is reached "
                "(max_user_connections, or what its GRANT says); end some of its connections, or raise the limit"
            )
        if code in NO_PRIVILEGE:
            return ServerError(
                f"the account lacks a privilege ({text}); `poolpilot grants` prints the statements that give it"
            )
        return ServerError(f"{self.where} refuses a statement: {text} (error {code})")


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
    except (OSError, UnicodeError) as error:
        if ours is not None:
            ours.close()
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise ServerError(f"cannot reach a server at {where}: {reason}; check host, port or socket") from error
    ours.settimeout(None)
    return ours


def _is_local(connected: socket.socket) -> bool:
    if connected.family == socket.AF_UNIX:
        return True
    theirs, ours = str(connected.getpeername()[0]), str(connected.getsockname()[0])
    return theirs == ours or is_loopback(theirs)


def _peer_of(connected: socket.socket) -> int | None:
    """The process at the other end of a Unix socket."""
    if connected.family != socket.AF_UNIX:
        return None
    size = struct.calcsize("3i")
    pid, _, _ = struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return int(pid) or None
