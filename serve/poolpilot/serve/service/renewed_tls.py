"""What the service shows in handshakes of TLS, as its files have it now: certificate, and authorities of clients."""

import ssl
from contextlib import suppress
from typing import Any

from typing_extensions import override

from poolpilot.errors import ServerError
from poolpilot.serve.service.service_settings import ServeSettings


class RenewedTls(ssl.SSLContext):
    """Has a context of its own for whoever connects after a renewal.

    A context that is in use forgets no authority, nor the sessions of whom it has admitted.
    """

    def show(self, settings: ServeSettings) -> None:
        """Reads the files again; where they are of no use what was read before stays.

        Raises:
            ServerError: A file is missing or of no use.
        """
        self._latest = _read(settings)

    @override
    def wrap_bio(self, *args: Any, **named: Any) -> ssl.SSLObject:
        return self._latest.wrap_bio(*args, **named)


def tls_of(settings: ServeSettings) -> RenewedTls | None:
    """Certificate and authorities as their files have them now; None where there are none.

    Raises:
        ServerError: A file is missing or of no use.
    """
    if settings.tls_certificate is None:
        return None
    tls = RenewedTls(ssl.PROTOCOL_TLS_SERVER)
    tls.show(settings)
    return tls


class _LeftAtOnce(ssl.SSLObject):
    """Says goodbye and waits for no answer to it: a client that gives none would keep its connection half a minute."""

    @override
    def unwrap(self) -> None:
        with suppress(ssl.SSLWantReadError):
            super().unwrap()


def _read(settings: ServeSettings) -> ssl.SSLContext:
    assert settings.tls_certificate is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslobject_class = _LeftAtOnce
    named = f"the certificate {settings.tls_certificate} with the key {settings.tls_key}"
    try:
        context.load_cert_chain(settings.tls_certificate, settings.tls_key, password=_no_passphrase)
        if settings.tls_client_ca is not None:
            named = f"the authorities in {settings.tls_client_ca}"
            context.load_verify_locations(settings.tls_client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ServerError(f"cannot use {named}: {reason}; both are PEM files, a key has no passphrase") from error
    return context


def _no_passphrase() -> str:
    """Stands in for OpenSSL's question on the terminal."""
    raise ValueError("the key asks for a passphrase")
