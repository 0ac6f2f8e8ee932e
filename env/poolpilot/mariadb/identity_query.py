"""Asks a server which one it is, and since when it runs."""

from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.mariadb.session import Session

IDENTITY_QUERY = (
    "SELECT @@hostname, @@datadir, VERSION(), UNIX_TIMESTAMP() - CAST(VARIABLE_VALUE AS SIGNED) "
    "FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME'"
)


def read_identity(session: Session) -> ServerIdentity:
    """Asks the server.

    Raises:
        LostServerError: It is gone.
    """
    return ServerIdentity.from_row(session.row(IDENTITY_QUERY))
