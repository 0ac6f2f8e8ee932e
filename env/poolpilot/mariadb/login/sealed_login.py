"""A login that gives the password to nobody who has not proved who he is.

What answers chooses how to log in, and some ways send the password itself, or encrypt it by a key that the one who
answers has shown. Whoever stands in a server's place, on loopback any account while the server is down, would ask so.
"""

import ssl
from collections.abc import Callable
from typing import Any, Final, NoReturn

import pymysql
from pymysql.constants import CR

IN_CLEAR = ("mysql_clear_password", "dialog", "sha256_password", "caching_sha2_password", "mysql_old_password")
"""The last one sends a hash of it that is as good."""

REFUSED: Final = "asks for the password in clear, and has not proved that it is the server"


class SealedLogin(pymysql.Connection):  # type: ignore[misc]  # the driver has no types
    """A connection of the driver's; it keeps the password from who would read it.

    Args:
        proved: Whether it is certain who answers: on a socket, or by a certificate.
        given: What the driver takes.
    """

    def __init__(self, *, proved: bool, **given: Any) -> None:
        self._proved = proved
        ways: dict[str, Callable[..., object]] = {} if proved else dict.fromkeys(IN_CLEAR, NeverInClear)
        super().__init__(auth_plugin_map=ways, **given)

    @property
    def tls_version(self) -> str:
        """What encrypts it; empty for nothing."""
        return (self._sock.version() or "") if isinstance(self._sock, ssl.SSLSocket) else ""

    def _request_authentication(self) -> None:
        """Before the first answer: one way has the password in it."""
        if not self._proved and self._auth_plugin_name in IN_CLEAR:
            refuse()
        super()._request_authentication()


class NeverInClear:
    """Takes the place of a way to log in.

    Args:
        _: The connection.
    """

    def __init__(self, _: object) -> None:
        pass

    def authenticate(self, _: object) -> NoReturn:
        """Refuses it."""
        refuse()


def refuse() -> NoReturn:
    """Says that nobody logs in so.

    Raises:
        OperationalError: Always.
    """
    raise pymysql.OperationalError(CR.CR_AUTH_PLUGIN_ERR, REFUSED)
