"""One tuner at a time on a server: a lock in the database, which ends with its connection, however that ends."""

from poolpilot.env.mariadb.session import Session
from poolpilot.errors import ServerError

LOCK = "poolpilot"
"""Name of the lock; locks of this kind need no privilege and belong to no database."""


def lock(session: Session, within_s: float = 0.0) -> None:
    """Takes the lock for as long as the connection lives.

    Args:
        session: The connection.
        within_s: How long to wait for it.

    Raises:
        ServerError: Another tuner has it; the text says who.
    """
    (taken,) = session.row("SELECT GET_LOCK(%s, %s)", (LOCK, within_s))
    if taken != 1:
        raise ServerError(
            f"another tuner is at work on {session.where}: {holder_of(session) or 'it has just ended'}; two would "
            "spoil each other's windows: wait for its end"
        )


def unlock(session: Session) -> None:
    """Gives the lock back; nothing happens where it is not held."""
    session.row("SELECT RELEASE_LOCK(%s)", (LOCK,))


def holder_of(session: Session) -> str | None:
    """Who has the lock; None where nobody has. The account is told where the asking one may see it."""
    (number,) = session.row("SELECT IS_USED_LOCK(%s)", (LOCK,))
    if number is None:
        return None
    seen = session.rows("SELECT USER, HOST FROM information_schema.PROCESSLIST WHERE ID = %s", (number,))
    account = f" of {seen[0][0]} from {seen[0][1]}" if seen else ""
    return f"connection {number}{account}"
