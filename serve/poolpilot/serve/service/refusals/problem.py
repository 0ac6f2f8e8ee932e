"""A refusal as a problem document (RFC 9457): one form for every reason."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Literal, get_args

from poolpilot.errors import PoolPilotError

Reason = Literal[
    "bad_field",
    "not_json",
    "media_type",
    "too_large",
    "too_slow",
    "client_left",
    "bad_http",
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

STATUS: Mapping[Reason, HTTPStatus] = MappingProxyType(
    {
        "bad_field": HTTPStatus.UNPROCESSABLE_ENTITY,
        "not_json": HTTPStatus.UNPROCESSABLE_ENTITY,
        "media_type": HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "too_slow": HTTPStatus.REQUEST_TIMEOUT,
        "client_left": HTTPStatus.BAD_REQUEST,
        "bad_http": HTTPStatus.BAD_REQUEST,
        "no_such_path": HTTPStatus.NOT_FOUND,
        "no_such_method": HTTPStatus.METHOD_NOT_ALLOWED,
        "taken_id": HTTPStatus.CONFLICT,
        "no_token": HTTPStatus.UNAUTHORIZED,
        "unknown_token": HTTPStatus.UNAUTHORIZED,
        "wrong_scope": HTTPStatus.FORBIDDEN,
        "from_a_page": HTTPStatus.FORBIDDEN,
        "not_loopback": HTTPStatus.FORBIDDEN,
        "no_such_server": HTTPStatus.NOT_FOUND,
        "too_many_requests": HTTPStatus.TOO_MANY_REQUESTS,
        "keeps_no_outcomes": HTTPStatus.NOT_FOUND,
        "busy": HTTPStatus.SERVICE_UNAVAILABLE,
        "failure": HTTPStatus.SERVICE_UNAVAILABLE,
        "storage": HTTPStatus.SERVICE_UNAVAILABLE,
        "not_ready": HTTPStatus.SERVICE_UNAVAILABLE,
        "reload_failed": HTTPStatus.SERVICE_UNAVAILABLE,
    }
)

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


def no_such_path(listed: str = "docs/service.md") -> Problem:
    """The refusal of a path that there is not; `listed` names the text that lists those that there are."""
    return Problem("no_such_path", f"there is no such path; {listed} lists them")
