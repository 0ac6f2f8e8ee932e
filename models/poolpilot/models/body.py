"""The body of a prediction request: what `Predictor.predict` takes, as JSON.

Files that commands write hold it under the key `request`, beside what else they have to say, and are read as a body.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import FeatureError, SettingError
from poolpilot.featurizer.untrusted import mapping, within
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
        FeatureError: A field is missing, unknown, of the wrong type or out of its range; its path begins in the body.
    """
    for name in place_of(body):
        body = cast("Mapping[str, object]", body)[name]
        if body is None:
            raise FeatureError("", "the file holds no window: it was written before anything was measured")
    if not isinstance(body, Mapping):
        raise FeatureError("", "the body must be a JSON object with 'windows', 'limits' and maybe 'objective'")
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
    return Request(_windows(windows), _limits(limits), _objective(body.get("objective", {})))


def _windows(values: list[object]) -> tuple[Window, ...]:
    windows = tuple(_window(index, value) for index, value in enumerate(values))
    kinds = [window.server_kind for window in windows]
    for index, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise FeatureError(
                f"windows.{index}.server_kind",
                f"the windows come from servers of different kinds ({', '.join(sorted(set(kinds)))}); "
                "a request holds the windows of one server",
            )
    return windows


def _window(index: int, value: object) -> Window:
    try:
        return Window.from_dict(value)
    except FeatureError as error:
        raise FeatureError(within("windows", str(index), error.feature), str(error)) from error


def _limits(values: Mapping[str, object]) -> KnobSpace:
    try:
        return KnobSpace.from_dict(values)
    except SettingError as error:
        raise FeatureError("limits.knobs" if "knobs" in values else "limits", str(error)) from error


def _objective(values: object) -> Objective:
    try:
        return Objective.model_validate(mapping("objective", values), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = within("objective", *map(str, first["loc"]))
        raise FeatureError(place, f"{place}: {first['msg']}") from error
