"""The way to a prediction service: one request at a time over HTTP or TLS, each within a deadline of its own."""

import http.client
import json
import socket
import ssl
import threading
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from poolpilot.env.loopback import is_loopback
from poolpilot.errors import PoolPilotError, RefusedForGoodError, RemoteError, SettingError
from poolpilot.featurizer.untrusted import shown
from poolpilot.mariadb.login.tls import show_certificate
from poolpilot.models.prediction_request import finite_json
from poolpilot.serve.service.access.private_text import private_text

LARGEST_ANSWER = 1 << 20
LONGEST_TOKEN_FILE = 4096
LONGEST_DETAIL = 200

JSON_TYPE = "application/json"

DONE = (200, 201)

REFUSED_FOR_GOOD = (400, 409, 413, 415, 422)
"""Status codes that a body gets for what it is; others may be otherwise once token, load or service are."""


@dataclass(frozen=True)
class Trust:
    """Whom the client of a service trusts, and by what it is known.

    Attributes:
        token_file: Holds the bearer token in its first line, perhaps after scopes; None sends none.
        authority: Certificates of authorities that may have signed that of the service; those of the system if None.
        certificate: Certificate that the client shows; None shows none.
        key: Its key.
    """

    token_file: Path | None = None
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


class ServiceLink:
    """Asks one service.

    Args:
        url: Its address: `http://HOST:PORT` or `https://HOST:PORT`; without TLS on loopback alone.
        trust: Whom to trust.
        deadline_s: Seconds in which an answer must be there, from the name of the host to the last byte.

    Raises:
        SettingError: The address, the token or a certificate is of no use.
    """

    def __init__(self, url: str, trust: Trust | None = None, deadline_s: float = 2.0) -> None:
        self.url = url
        self._trust = trust or Trust()
        self._deadline_s = deadline_s
        self._host, self._port, self._secured = _address(url)
        self._connection()  # what is wrong with a certificate or the token is told at the beginning
        self._headers()

    def post(self, path: str, body: object) -> Any:
        """Sends JSON and returns what comes back, as parsed JSON.

        Args:
            path: Path of the service.
            body: What is sent.

        Raises:
            RefusedForGoodError: The service does not take such a body.
            RemoteError: There is no answer within the deadline, it is another refusal, or no JSON.
            SettingError: The token or a certificate is of no use any more.
        """
        exchange = _Exchange(self._connection(), path, json.dumps(body, allow_nan=False).encode(), self._headers())
        try:
            status, kind, raw = exchange.within(self._deadline_s)
        except TimeoutError as error:
            raise RemoteError(f"{self.url} did not answer within {self._deadline_s:g} s") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise RemoteError(f"{self.url} could not be asked: {_said(error)}") from error
        if status not in DONE:
            kind_of_error = RefusedForGoodError if status in REFUSED_FOR_GOOD else RemoteError
            raise kind_of_error(f"{self.url} refuses with {status}: {_detail(raw)}")
        if kind.partition(";")[0].strip().lower() != JSON_TYPE:
            raise RemoteError(f"{self.url} answers with {shown(kind)}, which is not {JSON_TYPE}: is it the service?")
        return _parsed(self.url, raw)

    def _connection(self) -> http.client.HTTPConnection:
        """A connection that is not open yet; certificates are read each time, so that they may be replaced."""
        if not self._secured:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._deadline_s)
        context = _context(self._trust)
        return http.client.HTTPSConnection(self._host, self._port, timeout=self._deadline_s, context=context)

    def _headers(self) -> dict[str, str]:
        """The headers of a request; the token is read each time, so that it may be replaced."""
        headers = {"Content-Type": JSON_TYPE, "Accept": JSON_TYPE, "Connection": "close"}
        if self._trust.token_file is not None:
            words = private_text(self._trust.token_file, LONGEST_TOKEN_FILE).partition("\n")[0].split()
            if not words:
                raise SettingError(f"the file of tokens {self._trust.token_file} holds no token in its first line")
            headers["Authorization"] = f"Bearer {words[-1]}"
        return headers


class _Exchange:
    """One request and its answer, in a thread of its own: a deadline of the socket would hold for each read alone.

    The thread opens and closes the connection; who waited too long shuts its socket down, which ends the thread's read.
    """

    def __init__(
        self, connection: http.client.HTTPConnection, path: str, payload: bytes, headers: dict[str, str]
    ) -> None:
        self._connection, self._path, self._payload, self._headers = connection, path, payload, headers
        self._socket: socket.socket | None = None
        self._answer: tuple[int, str, bytes] | None = None
        self._error: Exception | None = None

    def within(self, seconds: float) -> tuple[int, str, bytes]:
        """Status, type and body of the answer.

        Raises:
            TimeoutError: It takes longer.
            OSError: The connection fails, or ends early.
            HTTPException: What answers is no HTTP.
            ValueError: The answer is too large, or shorter than it says.
        """
        thread = threading.Thread(target=self._run, daemon=True, name="service-link")
        thread.start()
        thread.join(seconds)
        error, self._error = self._error, None  # an error that is held by what its traceback holds is never freed
        if error is not None:
            raise error
        if self._answer is None:
            if self._socket is not None:
                with suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            raise TimeoutError
        return self._answer

    def _run(self) -> None:
        try:
            with closing(self._connection):
                self._answer = self._ask()
        except Exception as error:
            self._error = error

    def _ask(self) -> tuple[int, str, bytes]:
        self._connection.connect()
        self._socket = self._connection.sock
        self._connection.request("POST", self._path, self._payload, self._headers)
        with closing(self._connection.getresponse()) as answer:
            raw = answer.read(LARGEST_ANSWER + 1)
            if len(raw) > LARGEST_ANSWER:
                raise ValueError(f"the answer exceeds {LARGEST_ANSWER} bytes")
            if answer.length:
                raise ValueError(f"the answer ends {answer.length} bytes early")
            return answer.status, answer.headers.get("Content-Type", ""), raw


def _address(url: str) -> tuple[str, int, bool]:
    """Host, port and whether TLS is asked for.

    Raises:
        SettingError: It is no address of a service, or one beyond loopback without TLS.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise SettingError(f"{shown(url)} is no address of a service: {error}") from error
    plain = parts.path in ("", "/") and not (parts.query or parts.fragment or parts.username or parts.password)
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise SettingError(f"{shown(url)} is no address of a service: write https://HOST:PORT")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise SettingError(f"{shown(url)} leaves this host without TLS: write https://, or a name of loopback")
    return parts.hostname, port or (443 if parts.scheme == "https" else 80), parts.scheme == "https"


def _context(trust: Trust) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=None if trust.authority is None else str(trust.authority))
        if trust.certificate is not None:
            show_certificate(context, trust.certificate, trust.key)
    except (OSError, ssl.SSLError) as error:
        named = [str(path) for path in (trust.authority, trust.certificate, trust.key) if path is not None]
        raise SettingError(f"no TLS by {', '.join(named) or 'the authorities of this host'}: {_said(error)}") from error
    return context


def _detail(raw: bytes) -> str:
    """What a problem document says, cut short; nothing of a body that is none."""
    try:
        found = finite_json(raw)
    except PoolPilotError:
        return "no reason is given"
    detail = found.get("detail") if isinstance(found, dict) else None
    if not isinstance(detail, str):
        return "no reason is given"
    return "".join(each if each.isprintable() else " " for each in detail[:LONGEST_DETAIL])


def _parsed(url: str, raw: bytes) -> object:
    try:
        return finite_json(raw)
    except PoolPilotError as error:
        raise RemoteError(f"{url} answers garbage: {str(error)[:LONGEST_DETAIL]}") from error


def _said(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    if isinstance(error, http.client.HTTPException):
        return f"what answers speaks no HTTP ({type(error).__name__})"
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
