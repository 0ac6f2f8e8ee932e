"""The body of a request as bytes: JSON by its media type, whole in time, refused as a problem."""

import asyncio

from starlette.requests import ClientDisconnect, Request

from poolpilot.models.prediction_request import RequestError, finite_json
from poolpilot.serve.service.refusals.problem import Problem
from poolpilot.serve.service.service_settings import ServeSettings

WHOLE_BODY = ("body",)

IDENTITY = "identity"
"""The coding of a body that is as it is: one that must be unpacked may be a thousand times as large as its limit."""

LONGEST_CODING = 40
"""Characters of a coding that are repeated."""


async def json_body(request: Request, limits: ServeSettings) -> bytes:
    """Waits for the body of a request, and no longer once it is too large, whatever its headers claim.

    Raises:
        Problem: It is no JSON by its media type, is compressed, is late, too large, or never comes.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem("media_type", "the body must be application/json", headers={"Accept-Post": "application/json"})
    if (coding := request.headers.get("content-encoding", "").strip().lower()) not in ("", IDENTITY):
        detail = f"the body must come as it is, without Content-Encoding {coding[:LONGEST_CODING]!r}"
        raise Problem("media_type", detail, headers={"Accept-Encoding": IDENTITY})
    try:
        async with asyncio.timeout(limits.body_timeout_s):
            body = bytearray()
            async for part in request.stream():
                body += part
                if len(body) > limits.body_limit_bytes:
                    raise Problem("too_large", f"the body exceeds {limits.body_limit_bytes} bytes")
            return bytes(body)
    except TimeoutError as error:
        raise Problem("too_slow", f"the body did not arrive within {limits.body_timeout_s:g} s") from error
    except ClientDisconnect as error:
        raise Problem("client_left", "the client left before its body was whole") from error


def parsed(raw: bytes) -> object:
    """Parses a body.

    Raises:
        Problem: It is no JSON, or a name in it is there twice or too long.
    """
    try:
        return finite_json(raw)
    except RequestError as error:
        if error.location == WHOLE_BODY:
            raise Problem("not_json", error.message) from error
        raise as_problem(error) from error


def as_problem(error: RequestError) -> Problem:
    """The refusal of what a body holds."""
    return Problem("bad_field", error.message, ".".join(map(str, error.location)))
