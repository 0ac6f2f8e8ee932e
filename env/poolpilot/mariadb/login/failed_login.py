"""Why there was no login, as a sentence that says what to do."""

import ssl
import struct

from pymysql import MySQLError
from pymysql.constants import CR

from poolpilot.errors import LostServerError, ServerError
from poolpilot.mariadb.login.dsn import Account
from poolpilot.mariadb.login.sealed_login import REFUSED

SURELY_WAITED = 0.5
"""Share of the time for a login below which a login has not been waited for: the connection was closed."""

LOST = (CR.CR_SERVER_GONE_ERROR, CR.CR_SERVER_LOST)

NO_PROTOCOL = (struct.error, ValueError, IndexError, AssertionError, RuntimeError)
"""What the driver raises of an answer that is none of a MariaDB's."""

EXPIRED, SELF_SIGNED, OTHER_HOST = 10, 18, (62, 64)
"""What OpenSSL numbers certificates that have expired, that sign themselves, and for another host or address."""


def failed_login(error: Exception, after_s: float, within_s: float, where: str, account: Account) -> ServerError | None:
    """Why a connection came to no login; None for what any statement could have met.

    Args:
        error: What the driver has raised.
        after_s: Seconds after the connection.
        within_s: Seconds that it may take.
        where: What the server is called.
        account: Who wanted to log in, and how.
    """
    cause = getattr(error, "original_exception", error)
    closed = code_of(error) in LOST or isinstance(cause, ConnectionError | ssl.SSLEOFError)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return _not_trusted(cause, where)
    if code_of(error) == CR.CR_SSL_CONNECTION_ERROR:
        return _without_tls(where)
    if closed and after_s < SURELY_WAITED * within_s:
        shown = ", and does it take the certificate of ssl-cert" if account.tls.certificate else ""
        return ServerError(
            f"{where} has closed the connection during the login: is a server behind it, and no proxy or tunnel "
            f"alone{shown}?"
        )
    if closed or isinstance(cause, TimeoutError):
        return LostServerError(
            f"{where} does not answer a login within {within_s:g} s: its pool may have no free thread; connect to its "
            "extra port (E=...)"
        )
    return _not_agreed(error, cause, where)


def _without_tls(where: str) -> ServerError:
    """Says that a server has no TLS where there must be some."""
    return ServerError(
        f"{where} offers no TLS, which the defaults file asks for or which it has offered before: have it offer TLS "
        "(ssl_cert and ssl_key in its my.cnf), or put ssl=OFF under [client]"
    )


def code_of(error: Exception) -> int:
    """The number of an error of the driver; 0 where it has none."""
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def _not_trusted(error: ssl.SSLCertVerificationError, where: str) -> ServerError:
    remedy = "name the file of the authority that signed it, ssl-ca=FILE under [client]"
    if error.verify_code == EXPIRED:
        remedy = "have it renewed, or set the clock of this host"
    elif error.verify_code == SELF_SIGNED:
        remedy = (
            "name it itself, ssl-ca=FILE under [client], or, if the server has made it at its start (11.4 and later), "
            "give the server one (ssl_cert and ssl_key in its my.cnf)"
        )
    elif error.verify_code in OTHER_HOST:
        remedy = "name the host as its certificate does"
    return ServerError(f"what {where} shows as its certificate is not trusted ({error.verify_message}): {remedy}")


def _not_agreed(error: Exception, cause: Exception, where: str) -> ServerError | None:
    """Both ends are there and do not understand each other."""
    if code_of(error) == CR.CR_AUTH_PLUGIN_ERR:
        return ServerError(
            f"{where} {REFUSED}: connect by its socket, have it prove who it is (ssl-ca=FILE under [client]), or give "
            "the account another way to log in"
        )
    if isinstance(cause, ssl.SSLError):
        return ServerError(
            f"{where} and this host agree on no TLS ({cause.reason or cause}): see to ssl_cert, ssl_key and "
            "tls_version of the server, or put ssl=OFF under [client]"
        )
    if isinstance(error, RuntimeError) and "package" in str(error):
        return ServerError(
            f"the account logs in to {where} by a way that needs another package ({error}): install that, or give the "
            "account mysql_native_password"
        )
    if not isinstance(error, MySQLError | OSError):
        return ServerError(f"{where} does not answer as a MariaDB does ({type(error).__name__}): is it one?")
    return None
