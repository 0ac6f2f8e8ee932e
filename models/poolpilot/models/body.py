"""The body of a prediction request: what `Predictor.predict` takes, as JSON.

Files that commands write hold it under the key `request`, beside what else they have to say, and are read as a body.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import FeatureError, SettingError
from poolpilot.featurizer.window import Window

MOST_WINDOWS = 16
"""Windows a request may carry."""

MOST_FORBIDDEN = 64
"""Tuples that who asks may forbid: as many as a grid for any machine has columns."""

FIELDS = ("windows", "limits", "objective")

REQUEST = "request"
"""Key under which a file of ours holds the body of a request beside other things, or null where it has no window."""


class Request(NamedTuple):
    """The arguments of `Predictor.predict`."""

    windows: tuple[Window, ...]
    limits: KnobSpace
    objective: Objective


def as_body(windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> dict[str, Any]:
    """The arguments of `Predictor.predict`, fit for JSON."""
    return {
        "windows": [window.as_dict() for window in windows],
        "limits": limits.as_dict(),
        "objective": objective.model_dump(),
    }


def outcome_body(
    before: Window | None, after: Window | None, limits: KnobSpace, objective: Objective
) -> dict[str, Any] | None:
    """The body of what a server did before and after it was tuned; None where nothing was measured.

    Args:
        before: The window under the first tuple.
        after: The latest window under the tuple that was reached.
        limits: The knobs of the server and their ranges.
        objective: What counts on it.
    """
    windows = [window for window in (before, after) if window is not None]
    return as_body(windows, limits, objective) if windows else None


def place_of(body: object) -> tuple[str, ...]:
    """Keys that lead to the body of the request: none, or that of a file of ours."""
    return (REQUEST,) if isinstance(body, Mapping) and REQUEST in body else ()


def from_body(body: object) -> Request:
    """Checks parsed JSON: a body, or a file of ours that holds one; the objective may be left out for the default one.

    Raises:
        FeatureError: A window does not fit the schema, or a field is missing or unknown; it names the field.
        SettingError: The limits or the objective are out of range.
    """
    for name in place_of(body):
        body = cast("Mapping[str, object]", body)[name]
        if body is None:
            raise FeatureError(name, "the file holds no window: it was written before anything was measured")
    if not isinstance(body, Mapping):
        raise FeatureError("body", "the body must be a JSON object with 'windows', 'limits' and maybe 'objective'")
    unknown = sorted(set(body) - set(FIELDS))
    if unknown:
        allowed = f"{', '.join(FIELDS)}, or {REQUEST!r} with these in it beside anything else"
        raise FeatureError(str(unknown[0]), f"the body has no field {unknown[0]!r}; allowed are {allowed}")
    windows = body.get("windows")
    if not isinstance(windows, list) or not 1 <= len(windows) <= MOST_WINDOWS:
        raise FeatureError("windows", f"'windows' must be a list of 1 to {MOST_WINDOWS} windows, oldest first")
    limits = body.get("limits")
    if not isinstance(limits, Mapping):
        raise FeatureError("limits", "'limits' must be an object with 'cpus' and 'knobs'")
    return Request(_windows(windows), KnobSpace.from_dict(limits), _objective(body.get("objective", {})))


def _windows(values: list[object]) -> tuple[Window, ...]:
    windows = tuple(Window.from_dict(value) for value in values)
    kinds = sorted({window.server_kind for window in windows})
    if len(kinds) > 1:
        raise FeatureError(
            "server_kind",
            f"the windows come from servers of different kinds ({', '.join(kinds)}); "
            "a request holds the windows of one server",
        )
    return windows


def _objective(values: object) -> Objective:
    try:
        return Objective.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(["objective", *(str(part) for part in first["loc"])])
        raise SettingError(f"{place}: {first['msg']}") from error
