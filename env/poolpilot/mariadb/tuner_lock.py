"""One tuner at a time on a server: a lock in the database, which ends with its connection, however that ends.

Such a lock needs no right, so any account can hold it: no tuner begins meanwhile, and a dead one is taken for alive. So
who must know looks whether its holder is a session of the tuner's own account, which every account sees its own of.
"""

from poolpilot.errors import TakenServerError
from poolpilot.mariadb.session import Session

LOCK = "poolpilot"
"""Name of the lock; locks of this kind belong to no database."""

OWN_HOST = "SUBSTRING_INDEX(CURRENT_USER(), '@', -1)"
"""The host of the account that asks; in an event, of the one that has made it."""

OWN = f"LEFT(CURRENT_USER(), CHAR_LENGTH(CURRENT_USER()) - CHAR_LENGTH({OWN_HOST}) - 1)"
"""The name of that account, which may hold an @ itself."""


def lock(session: Session, within_s: float = 0.0) -> None:
    """Takes the lock for as long as the connection lives.

    Args:
        session: The connection.
        within_s: How long to wait for it.

    Raises:
        TakenServerError: Another tuner has it; the text says who.
    """
    (taken,) = session.row("SELECT GET_LOCK(%s, %s)", (LOCK, within_s))
    if taken != 1:
        raise TakenServerError(
            f"another tuner is at work on {session.where}: {holder_of(session) or 'it has just ended'}; two would "
            "spoil each other's windows: wait for its end"
        )


def unlock(session: Session) -> None:
    """Gives the lock back; nothing happens where it is not held."""
    session.row("SELECT RELEASE_LOCK(%s)", (LOCK,))


def holder_of(session: Session) -> str | None:
    """Who has the lock; None where nobody has. The account is told where the asking one may see it."""
    if (number := _holder(session)) is None:
        return None
    seen = session.rows("SELECT USER, HOST FROM information_schema.PROCESSLIST WHERE ID = %s", (number,))
    account = f" of {seen[0][0]} from {seen[0][1]}" if seen else ""
    return f"connection {number}{account}"


def stranger_of(session: Session) -> int | None:
    """The connection that has the lock and is not seen as one of the asking account; None where there is none."""
    number = _holder(session)
    return None if number is None or _is_own(session, number) else number


def sees_itself(session: Session) -> bool:
    """Whether the account sees its own sessions as its own, which one that stands for another does not."""
    return _is_own(session, session.connection_id)


def _holder(session: Session) -> int | None:
    """The number of the connection that has the lock."""
    (number,) = session.row("SELECT IS_USED_LOCK(%s)", (LOCK,))
    return None if number is None else int(number)


def _is_own(session: Session, number: int) -> bool:
    seen = session.rows(
        f"SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = %s AND BINARY USER = {OWN}", (number,)
    )
    return bool(seen)
