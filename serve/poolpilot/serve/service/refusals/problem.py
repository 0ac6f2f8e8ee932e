"""A refusal as a problem document (RFC 9457): one form for every reason."""

import json
from collections.abc import Collection, Iterable, Mapping
from http import HTTPStatus
from typing import Any, Literal, get_args

from starlette.responses import Response

from poolpilot.errors import PoolPilotError
from poolpilot.featurizer.untrusted import LONGEST_NAME

Reason = Literal[
    "bad_field",
    "not_json",
    "media_type",
    "too_large",
    "too_slow",
    "client_left",
    "no_such_path",
    "no_such_method",
    "taken_id",
    "no_token",
    "unknown_token",
    "wrong_scope",
    "from_a_page",
    "not_loopback",
    "no_such_server",
    "too_many_requests",
    "keeps_no_outcomes",
    "busy",
    "failure",
    "storage",
    "not_ready",
    "reload_failed",
]
"""Why a request is refused, by the service or by the live page; also what the service's metrics count refusals by."""

REASONS: tuple[Reason, ...] = get_args(Reason)

_BY_STATUS: Mapping[int, tuple[Reason, ...]] = {
    400: ("client_left",),
    401: ("no_token", "unknown_token"),
    403: ("wrong_scope", "from_a_page", "not_loopback"),
    404: ("no_such_path", "no_such_server", "keeps_no_outcomes"),
    405: ("no_such_method",),
    408: ("too_slow",),
    409: ("taken_id",),
    413: ("too_large",),
    415: ("media_type",),
    422: ("bad_field", "not_json"),
    429: ("too_many_requests",),
    503: ("busy", "failure", "storage", "not_ready", "reload_failed"),
}

STATUS = {reason: HTTPStatus(status) for status, reasons in _BY_STATUS.items() for reason in reasons}

UNAVAILABLE = "unavailable: keep what is"
"""Begins the detail of every 503: the client leaves its server as it is."""

MEDIA_TYPE = "application/problem+json"

LONGEST_DETAIL, LONGEST_FIELD = 1000, 200
"""Characters that a document repeats of what may come from outside."""


class Problem(PoolPilotError):
    """A request is refused.

    Args:
        reason: Which rule refuses it.
        detail: The sentence to read; that of a 503 begins with `UNAVAILABLE`, which is put before it.
        field: Path from `body` to the offending field, or `query` and the name of a parameter, where there is one.
        headers: Further headers of the answer.
    """

    def __init__(
        self, reason: Reason, detail: str = "", field: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        self.reason: Reason = reason
        self.status = STATUS[reason]
        if self.status is HTTPStatus.SERVICE_UNAVAILABLE:
            detail = f"{UNAVAILABLE} ({detail})" if detail else UNAVAILABLE
        self.detail = detail[:LONGEST_DETAIL]
        self.field = None if field is None else field[:LONGEST_FIELD]
        self.headers = dict(headers or {})
        super().__init__(self.detail)

    def as_dict(self) -> dict[str, Any]:
        """The document, fit for JSON."""
        document: dict[str, Any] = {
            "type": f"urn:poolpilot:problem:{self.reason}",
            "title": self.status.phrase,
            "status": int(self.status),
            "detail": self.detail,
            "reason": self.reason,
        }
        return document if self.field is None else {**document, "field": self.field}

    def content(self) -> bytes:
        """The document as bytes; escaped, because a field's name as a client spelled it need not be encodable."""
        return json.dumps(self.as_dict()).encode()

    def response(self) -> Response:
        """The answer that carries the document."""
        return Response(self.content(), self.status, self.headers, MEDIA_TYPE)


def no_such_path(listed: str = "docs/service.md") -> Problem:
    """The refusal of a path that there is not; `listed` names the text that lists those that there are."""
    return Problem("no_such_path", f"there is no such path; {listed} lists them")


def bad_parameter(name: str, detail: str) -> Problem:
    """The refusal of what stands behind the `?` of a path."""
    return Problem("bad_field", detail, f"query.{name}")


def check_names(parameters: Iterable[str], known: Collection[str]) -> None:
    """Refuses parameters that a path does not have: a misspelt one changes the answer.

    Raises:
        Problem: There is one.
    """
    for name in parameters:
        if name not in known:
            raise bad_parameter(name[:LONGEST_NAME], f"there is no such parameter; this path has {', '.join(known)}")
