"""What the page of a recorded profile asks for."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from poolpilot.env.measurement.sweep import Core
from poolpilot.errors import SettingError
from poolpilot.serve.page.play.playground import Playground, PlaygroundBusyError

KNOBS = ("pool_size", "oversubscribe", "stall_limit_ms")

MOST_DIGITS = 6
"""Of a knob; the ranges of the recorded server are narrower."""


def play_routes(playground: Playground) -> list[Route]:
    """`GET /v1/profiles`: what there is to choose from; `GET /v1/play`: a profile under a configuration."""

    async def choices(_: Request) -> Response:
        return JSONResponse(playground.choices())

    def play(request: Request) -> Response:
        try:
            return JSONResponse(playground.answer(request.query_params.get("profile", ""), _core(request)))
        except SettingError as error:
            raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)[:300]) from error
        except PlaygroundBusyError as error:
            raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, str(error)) from error

    return [Route("/v1/profiles", choices), Route("/v1/play", play)]


def _core(request: Request) -> Core:
    values = [request.query_params.get(name, "") for name in KNOBS]
    if not all(text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS for text in values):
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"{', '.join(KNOBS)} are whole numbers")
    return int(values[0]), int(values[1]), int(values[2])
