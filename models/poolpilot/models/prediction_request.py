"""The request of a prediction as bytes from outside: one checked reading for the service and the command alike."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from poolpilot.env.knobs import CORE_KNOBS, MOST_CPUS, checked_cpus
from poolpilot.errors import FeatureError, PoolPilotError, SettingError
from poolpilot.featurizer.untrusted import LONGEST_NAME, shown
from poolpilot.models.body import REQUEST, Request, from_body, place_of


class RequestError(PoolPilotError):
    """A request is refused.

    Args:
        location: Path from `body` to the offending field; a part may hold several steps, joined by dots.
        message: The sentence to print.
    """

    def __init__(self, location: tuple[str | int, ...], message: str) -> None:
        super().__init__(f"{'.'.join(map(str, location))}: {message}")
        self.location = location
        self.message = message


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class StatedKnob(_Strict):
    """A knob and its range, as a client states them."""

    name: Literal["pool_size", "oversubscribe", "timer_interval_ms", "create_thread_on_wait", "idle_timeout_s"]
    low: Annotated[float, Field(ge=0)]
    high: Annotated[float, Field(le=2**32)]
    default: float
    unit: Annotated[str, Field(max_length=64)]
    restart_only: bool = False
    per_session: bool = False

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.default <= self.high:
            raise ValueError(f"{self.name} must have low <= default <= high")
        return self


def _cpus(value: object) -> int:
    try:
        return checked_cpus(value)
    except SettingError as error:
        raise ValueError(str(error)) from error


class StatedLimits(_Strict):
    """The knobs of a server and their ranges, as a client states them."""

    cpus: Annotated[int, Field(ge=1, le=MOST_CPUS), BeforeValidator(_cpus)]
    knobs: Annotated[list[StatedKnob], Field(max_length=5)]

    @field_validator("knobs")
    @classmethod
    def _each_once(cls, knobs: list[StatedKnob]) -> list[StatedKnob]:
        for knob, number in Counter(each.name for each in knobs).items():
            if number > 1:
                raise ValueError(f"{knob} is named {number} times: name each knob once")
        return knobs


def parse(raw: bytes) -> Request:
    """Reads `{"windows": [...], "limits": {...}, "objective": {...}}`; the objective may be left out.

    The same may stand under the key `request` of a larger object, as in the files that commands write.

    Raises:
        RequestError: A field is missing, unknown, of the wrong type or outside its range.
    """
    return checked(finite_json(raw))


def checked(found: object) -> Request:
    """Checks the parsed JSON of a request, or of a larger object that holds one under the key `request`.

    Raises:
        RequestError: A field is missing, unknown, of the wrong type or outside its range.
    """
    place = place_of(found)
    location = ("body", *place)
    body = found[REQUEST] if place and isinstance(found, Mapping) else found
    if isinstance(body, Mapping) and "limits" in body:
        _check_limits(body["limits"], location)
    try:
        request = from_body(found)
        _check_what_is_kept(request)
    except FeatureError as error:
        raise RequestError((*location, error.feature) if error.feature else location, str(error)) from error
    return request


def _check_limits(values: object, location: tuple[str, ...]) -> None:
    """Refuses limits that a knob space, which trusts its callers, would take."""
    try:
        StatedLimits.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        reason = first["msg"].removeprefix("Value error, ")
        raise RequestError((*location, "limits", *first["loc"]), reason) from error


def _check_what_is_kept(request: Request) -> None:
    """Refuses a tuple in force whose fields beside the core, which every prediction keeps, are outside the limits."""
    kept = request.windows[-1].pool_tuple
    for name, knob in request.limits.knobs.items():
        if name not in CORE_KNOBS:
            try:
                knob.check(getattr(kept, name))
            except SettingError as error:
                place = f"windows.{len(request.windows) - 1}.pool_tuple.{name}"
                raise FeatureError(place, str(error)) from error


def finite_json(raw: bytes) -> object:
    """Parses JSON whose numbers are finite and whose names are short and there once.

    Raises:
        RequestError: It is no such JSON; where a name is to blame, the location ends with it.
    """
    try:
        return _DECODER.decode(raw.decode(json.detect_encoding(raw), "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise RequestError(("body",), f"not JSON with finite numbers: {error}") from error


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{shown(text)} is not a finite number")
    return number


def _unambiguous(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Builds a JSON object whose names are all different and short enough to be repeated in a refusal."""
    found = dict(pairs)
    if len(found) == len(pairs) and max(map(len, found), default=0) <= LONGEST_NAME:
        return found
    found = {}
    for name, value in pairs:
        if len(name) > LONGEST_NAME:
            beginning = name[:LONGEST_NAME]
            reason = f"the name of this field goes on for {len(name)} characters; allowed are {LONGEST_NAME}"
            raise RequestError(("body", beginning), reason)
        if name in found:
            raise RequestError(("body", name), f"the field {name!r} is there twice; give it once")
        found[name] = value
    return found


_DECODER = json.JSONDecoder(parse_constant=_finite, parse_float=_finite, object_pairs_hook=_unambiguous)
"""Made once: `json.loads` makes one for every text."""
