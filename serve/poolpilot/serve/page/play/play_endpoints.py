"""What the page of a recorded profile asks for."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from poolpilot.env.measurement.sample_sweeps import sample_families
from poolpilot.env.measurement.sweep import Core
from poolpilot.errors import SettingError
from poolpilot.serve.page.play.playground import Playground, PlaygroundBusyError
from poolpilot.serve.service.refusals.problem import Problem, bad_parameter, check_names

KNOBS = ("pool_size", "oversubscribe", "stall_limit_ms")

PROFILE = "profile"

LONGEST_REASON = 300
"""Characters of a refusal, which may repeat the name of a profile that there is not."""

MOST_DIGITS = 6
"""Of a knob; the ranges of the recorded server are narrower."""


def play_routes(playground: Playground) -> list[Route]:
    """`GET /v1/profiles`: what there is to choose from; `GET /v1/play`: a profile under a configuration."""

    async def choices(_: Request) -> Response:
        return JSONResponse(playground.choices())

    def play(request: Request) -> Response:
        check_names(request.query_params, (PROFILE, *KNOBS))
        profile = request.query_params.get(PROFILE, "")
        try:
            return JSONResponse(playground.answer(profile, _core(request)))
        except SettingError as error:
            field = "query" if profile in sample_families() else f"query.{PROFILE}"
            raise Problem("bad_field", str(error)[:LONGEST_REASON], field) from error
        except PlaygroundBusyError as error:
            raise Problem("too_many_requests", str(error)) from error

    return [Route("/v1/profiles", choices), Route("/v1/play", play)]


def _core(request: Request) -> Core:
    size, oversubscribe, stall_limit_ms = (_whole(request, name) for name in KNOBS)
    return size, oversubscribe, stall_limit_ms


def _whole(request: Request, name: str) -> int:
    text = request.query_params.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise bad_parameter(name, f"{name} is a whole number of at most {MOST_DIGITS} digits")
    return int(text)
