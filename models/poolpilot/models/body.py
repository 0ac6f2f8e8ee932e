"""The body of a prediction request: what `Predictor.predict` takes, as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import FeatureError, SettingError
from poolpilot.featurizer.window import Window

MOST_WINDOWS = 16
"""Windows a request may carry."""

FIELDS = ("windows", "limits", "objective")


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


def from_body(body: object) -> Request:
    """Checks parsed JSON; the objective may be left out for the default one.

    Raises:
        FeatureError: A window does not fit the schema, or a field is missing or unknown; it names the field.
        SettingError: The limits or the objective are out of range.
    """
    if not isinstance(body, Mapping):
        raise FeatureError("body", "the body must be a JSON object with 'windows', 'limits' and maybe 'objective'")
    unknown = sorted(set(body) - set(FIELDS))
    if unknown:
        raise FeatureError(str(unknown[0]), f"the body has no field {unknown[0]!r}; allowed are {', '.join(FIELDS)}")
    windows = body.get("windows")
    if not isinstance(windows, list) or not 1 <= len(windows) <= MOST_WINDOWS:
        raise FeatureError("windows", f"'windows' must be a list of 1 to {MOST_WINDOWS} windows, oldest first")
    limits = body.get("limits")
    if not isinstance(limits, Mapping):
        raise FeatureError("limits", "'limits' must be an object with 'cpus' and 'knobs'")
    return Request(
        tuple(Window.from_dict(window) for window in windows),
        KnobSpace.from_dict(limits),
        _objective(body.get("objective", {})),
    )


def _objective(values: object) -> Objective:
    try:
        return Objective.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(["objective", *(str(part) for part in first["loc"])])
        raise SettingError(f"{place}: {first['msg']}") from error
