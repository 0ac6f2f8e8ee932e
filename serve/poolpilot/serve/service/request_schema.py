"""What requests hold, as JSON schemas made of what checks them: the ranges of windows and the models of the rest."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter

from poolpilot.env.objective import Objective
from poolpilot.featurizer import untrusted
from poolpilot.featurizer.feature import Feature
from poolpilot.featurizer.histogram import BUCKETS
from poolpilot.featurizer.schema import FEATURES, INDICATORS, SCHEMA_VERSION, feature_names
from poolpilot.featurizer.snapshot import SERVER_KINDS
from poolpilot.featurizer.window import (
    LONGEST_CLASS_NAME,
    LONGEST_DURATION_S,
    MOST_CLASSES,
    MOST_IN_SYSTEM,
    MOST_PER_S,
    REQUIRED_FIELDS,
    SHORTEST_DURATION_S,
)
from poolpilot.models.body import MOST_WINDOWS, REQUEST
from poolpilot.models.prediction_request import StatedLimits
from poolpilot.serve.service.outcomes.reported_outcome import OutcomeHead

REFERENCE = "#/components/schemas/{model}"

Schema = dict[str, Any]


def holding(properties: Mapping[str, Schema], required: Collection[str] | None = None) -> Schema:
    """An object of these names; all of them are required unless some are named."""
    return {
        "type": "object",
        "required": list(properties if required is None else required),
        "properties": dict(properties),
    }


def closed(properties: Mapping[str, Schema], required: Collection[str] | None = None) -> Schema:
    """An object of these names and no others, as what is sent must be; an answer may come to have more."""
    return {**holding(properties, required), "additionalProperties": False}


def between(low: float, high: float, *kinds: str) -> Schema:
    """A number within a range, or what else may stand in its place."""
    return {"type": list(kinds) or "number", "minimum": low, "maximum": high}


def _by_name(features: Iterable[Feature], *kinds: str) -> dict[str, Schema]:
    return {
        feature.name: between(feature.low, feature.high, *kinds) | {"description": feature.unit} for feature in features
    }


POOL_TUPLE = closed(
    {
        **{name: between(low, high, "integer") for name, (low, high) in untrusted.CORE_RANGES.items()},
        "create_thread_on_wait": {"type": "boolean"},
        "idle_timeout_s": between(*untrusted.IDLE_TIMEOUT_RANGE_S),
    },
    tuple(untrusted.CORE_RANGES),
)

PAIR: Schema = {
    "type": "array",
    "minItems": 2,
    "maxItems": 2,
    "prefixItems": [between(0, BUCKETS - 1, "integer"), between(1, untrusted.MOST_IN_BUCKET, "integer")],
    "description": "Bucket and count, in rising order of bucket.",
}

CLASS_WINDOW = closed(
    {
        "throughput_per_s": between(0.0, MOST_PER_S),
        "latency": {"type": "array", "maxItems": BUCKETS, "items": PAIR},
    }
)

WINDOW = closed(
    {
        "schema_version": {"const": SCHEMA_VERSION},
        "server_kind": {"enum": list(SERVER_KINDS)},
        "pool_tuple": POOL_TUPLE,
        "duration_s": between(SHORTEST_DURATION_S, LONGEST_DURATION_S),
        "features": closed(_by_name(FEATURES, "number", "null"), feature_names()),
        "classes": {
            "type": "object",
            "maxProperties": MOST_CLASSES,
            "propertyNames": {"minLength": 1, "maxLength": LONGEST_CLASS_NAME},
            "additionalProperties": CLASS_WINDOW,
        },
        "in_system": between(0.0, MOST_IN_SYSTEM, "number", "null"),
        "indicators": closed(_by_name(INDICATORS), ()),
    },
    REQUIRED_FIELDS,
)


def referring(name: str) -> Schema:
    """Stands for a schema that is described once, by its name."""
    return {"$ref": REFERENCE.format(model=name)}


def _body() -> Schema:
    windows = {"type": "array", "minItems": 1, "maxItems": MOST_WINDOWS, "items": referring("Window")}
    parts = {"windows": windows, "limits": referring("StatedLimits"), "objective": referring("Objective")}
    return closed(parts, ("windows", "limits"))


def _outcome(head: Schema) -> Schema:
    return closed({**head["properties"], REQUEST: referring("Body")})


def request_schemas() -> dict[str, Schema]:
    """The schemas of what is sent, by name; `Request` and `Outcome` are whole bodies."""
    known: list[tuple[str, Any, TypeAdapter[Any]]] = [
        (kind.__name__, "validation", TypeAdapter(kind)) for kind in (StatedLimits, Objective, OutcomeHead)
    ]
    made = TypeAdapter.json_schemas(known, ref_template=REFERENCE)[1]["$defs"]
    within = {"type": "object", "required": [REQUEST], "properties": {REQUEST: referring("Body")}}
    return {
        **{name: schema for name, schema in made.items() if name != OutcomeHead.__name__},
        "Window": WINDOW,
        "Body": _body(),
        "Request": {"anyOf": [referring("Body"), within]},
        "Outcome": _outcome(made[OutcomeHead.__name__]),
    }
