"""The session that observes and sets, on the extra port where there is one, so that no pool can lock its tuner out."""

from types import TracebackType
from typing import Self

from poolpilot.errors import ServerError
from poolpilot.mariadb.identity_query import read_identity
from poolpilot.mariadb.login.dsn import Account
from poolpilot.mariadb.session import Session

NO_EXTRA_PORT = (
    "the server has no extra_port: where its pool runs out of threads this connection waits like any other, and a bad "
    "configuration could not be rolled back; put extra_port=3307 and extra_max_connections=3 under [mariadb] into its "
    "my.cnf"
)

EXTRA_PORT_UNUSED = (
    "the extra port {port} cannot be used ({error}): where the pool runs out of threads this connection waits like any "
    "other, and a bad configuration could not be rolled back; see to it that this host reaches the port, and that "
    "extra_max_connections leaves a connection free"
)


class Control:
    """The session that observes and sets, and how it was reached.

    Args:
        session: The permanent one.
        first: The session on the normal port that came before it, if any; it tells the server's process.
        warnings: What to know of it; why it is not on an extra port, if it is not, stands first.
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
    control = _reached(account)
    warning = control.session.open_to_others()
    control.warnings += (*((warning,) if warning else ()), *account.warnings)
    return control


def _reached(account: Account) -> Control:
    if account.extra_port is not None:
        return Control(Session(account, account.extra_port), None, (), account.extra_port)
    first = Session(account)
    try:
        extra_port = int(first.row("SELECT @@GLOBAL.extra_port")[0])
        if extra_port == 0:
            return Control(first, None, (NO_EXTRA_PORT,))
        try:
            return Control(_of_the_same(first, Session(account, extra_port)), first, (), extra_port)
        except ServerError as error:
            return Control(first, None, (EXTRA_PORT_UNUSED.format(port=extra_port, error=error),))
    except BaseException:
        first.close()
        raise


def _of_the_same(first: Session, extra: Session) -> Session:
    """The session on the extra port, where the server of the first one answers: a tunnel or a proxy may lie between.

    Raises:
        ServerError: Another one does.
    """
    try:
        server, answering = read_identity(first), read_identity(extra)
        if not answering.is_of(server):
            raise ServerError(f"{answering} answers there, and not {server}")
    except BaseException:
        extra.close()
        raise
    return extra
