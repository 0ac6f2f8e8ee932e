"""The request of a prediction as bytes from outside: one checked reading for the service and the command alike."""

import json
import math
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from poolpilot.featurizer.errors import FeatureError, PoolPilotError, SettingError
from poolpilot.models.body import Request, from_body


class RequestError(PoolPilotError):
    """A request is refused.

    Args:
        location: Path from `body` to the offending field.
        message: The sentence to print.
    """

    def __init__(self, location: tuple[str | int, ...], message: str) -> None:
        super().__init__(f"{'.'.join(map(str, location))}: {message}")
        self.location = location
        self.message = message


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Knob(_Strict):
    name: Literal["pool_size", "oversubscribe", "timer_interval_ms", "create_thread_on_wait", "idle_timeout_s"]
    low: Annotated[int | float, Field(ge=0)]
    high: Annotated[int | float, Field(le=2**32)]
    default: int | float
    unit: Annotated[str, Field(max_length=64)]
    restart_only: bool = False
    per_session: bool = False

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.default <= self.high:
            raise ValueError(f"{self.name} must have low <= default <= high")
        return self


class _Limits(_Strict):
    cpus: Annotated[int, Field(ge=1, le=65_536)]
    knobs: Annotated[list[_Knob], Field(max_length=5)]


def parse(raw: bytes) -> Request:
    """Reads `{"windows": [...], "limits": {...}, "objective": {...}}`; the objective may be left out.

    Raises:
        RequestError: A field is missing, unknown, of the wrong type or outside its range.
    """
    body = _finite_json(raw)
    if isinstance(body, Mapping) and "limits" in body:
        _check_limits(body["limits"])
    try:
        return from_body(body)
    except FeatureError as error:
        raise RequestError(("body", error.feature), str(error)) from error
    except SettingError as error:
        raise RequestError(("body",), str(error)) from error


def _check_limits(values: object) -> None:
    """Refuses limits that a knob space, which trusts its callers, would take."""
    try:
        _Limits.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        reason = first["msg"].removeprefix("Value error, ")
        raise RequestError(("body", "limits", *first["loc"]), reason) from error


def _finite_json(raw: bytes) -> object:
    try:
        return json.loads(raw, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise RequestError(("body",), f"not JSON with finite numbers: {error}") from error


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number
