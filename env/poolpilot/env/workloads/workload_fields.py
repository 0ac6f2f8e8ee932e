"""A workload from fields that a person wrote: each is checked, and a wrong one is named with what it may be."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import ConfigDict, ValidationError, create_model

from poolpilot.errors import SettingError
from poolpilot.native_pool.workload import Op, Step, Workload

Kind = TypeVar("Kind")

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""No unknown field, no text for a number, no fraction for a whole one; pydantic applies it to what lies within, too."""


MOST_WHOLE = 2**31 - 1
"""Largest whole number of a workload, but for its seed: the pools count in as many bits."""

LATCH = ("latch", "spread")
"""Fields of a step that tell a latch."""

MOST_SHOWN = 60
"""Letters of a wrong value that are shown."""


def from_fields(kind: type[Kind], values: object) -> Kind:
    """A workload from the fields of a file.

    Args:
        kind: The dataclass that it becomes.
        values: Its fields, as JSON has them.

    Raises:
        SettingError: One is missing, unknown, of another type or outside its range; the sentence names its place.
    """
    for place, value in _whole_numbers(values):
        if abs(value) > MOST_WHOLE and place[-1:] != ("seed",):
            raise SettingError(f"the field {_named(place)} is {value}: it must be at most {MOST_WHOLE:,}")
    checked = create_model("checked", __config__=STRICT, workload=(kind, ...))
    try:
        # By way of JSON, in which a list may become a tuple and a text no number.
        made: Kind = checked.model_validate_json(json.dumps({"workload": values})).workload  # type: ignore[attr-defined]
    except ValidationError as error:
        raise SettingError(_sentence(kind, values, error.errors()[0])) from error
    return made


def workload_from_fields(values: object) -> Workload:
    """A workload of a pool from the fields of a file; a release that names no latch frees the one taken last.

    Raises:
        SettingError: As `from_fields`.
    """
    return from_fields(Workload, _with_latches(values))


def _with_latches(values: object) -> object:
    """The fields with the latches of all releases; of what is no workload nothing is changed."""
    if not isinstance(values, Mapping) or not isinstance(values.get("classes"), list):
        return values
    return {**values, "classes": [_class_with_latches(one) for one in values["classes"]]}


def _class_with_latches(one: object) -> object:
    if not isinstance(one, Mapping) or not isinstance(one.get("steps"), list):
        return one
    taken: list[Mapping[str, Any]] = []
    steps = []
    for step in one["steps"]:
        op = step.get("op") if isinstance(step, Mapping) else None
        if op == "acquire":
            taken.append(step)
        elif op == "release" and (freed := _freed(step, taken)) is not None:
            taken.remove(freed)
            step = {**{name: freed[name] for name in LATCH if name in freed}, **step}
        steps.append(step)
    return {**one, "steps": steps}


def _freed(release: Mapping[str, Any], taken: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The acquire of what is released: the latest one, of the latch that is named where one is."""
    named = any(name in release for name in LATCH)
    fitting = (each for each in reversed(taken) if not named or each.get("latch", 0) == release.get("latch", 0))
    return next(fitting, None)


def _sentence(kind: type, values: object, error: Mapping[str, Any]) -> str:
    where = error["loc"][1:]
    if error["type"] == "unexpected_keyword_argument":
        return f"there is no field {_named(where)}; allowed are {', '.join(_fields_at(kind, where[:-1]))}"
    if error["type"] == "missing":
        return f"the field {_named(where)} is missing"
    if error["type"] == "json_invalid":
        return f"a text in it is no Unicode: {error['msg']}"
    place = _place(values, where)
    of_several_types = len(place) < len(where)
    reason = (
        "it must be a number or a text" if of_several_types else error["msg"].replace("Input should be", "it must be")
    )
    return f"the field {_named(place)} is {_shown(error['input'])}: {reason}"


def _named(place: Sequence[int | str]) -> str:
    return repr(".".join(map(str, place)) or "workload")


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def _place(values: object, where: Sequence[int | str]) -> list[int | str]:
    """A place as far as the file has it: of a field of several types pydantic adds which it has tried."""
    place: list[int | str] = []
    for part in where:
        within = range(len(values)) if isinstance(values, list) else values if isinstance(values, Mapping) else ()
        if part not in within:
            break
        place.append(part)
        values = values[part]  # type: ignore[index]
    return place


def _whole_numbers(values: object, place: tuple[int | str, ...] = ()) -> Iterator[tuple[tuple[int | str, ...], int]]:
    """All whole numbers of a file, each with its place."""
    if isinstance(values, Mapping | list):
        for part, value in values.items() if isinstance(values, Mapping) else enumerate(values):
            yield from _whole_numbers(value, (*place, part))
    elif isinstance(values, int):
        yield place, values


def _fields_at(kind: type, place: Sequence[int | str]) -> list[str]:
    """The fields of what lies at a place of a workload: of itself, a class, a step."""
    for name in place:
        if isinstance(name, str):
            hint = get_type_hints(kind)[name]
            kind = next(one for one in (hint, *get_args(hint)) if isinstance(one, type) and is_dataclass(one))
    assert is_dataclass(kind)
    return [field.name for field in fields(kind)]


FIELDS_OF: Mapping[Op, tuple[str, ...]] = {
    "cpu": ("us", "variation"),
    "wait": ("us", "variation", "kind", "reported"),
    "acquire": ("latch", "spread", "spin_us", "waiter_cost_us", "reported"),
    "release": ("latch", "spread"),
    "begin": (),
    "commit": (),
    "declare": ("priority",),
}
"""Fields of a step that its operation goes by; a release may repeat the latch of its acquire."""


def unused(workload: Workload) -> list[str]:
    """What a workload says and nothing goes by, in sentences: a field of another operation, a pause in an open loop."""
    found = []
    for one in workload.classes:
        if workload.rate_per_s is not None and one.think_ms:
            found.append(f"class {one.name} has think_ms, but with rate_per_s nobody pauses")
        for number, step in enumerate(one.steps):
            named = [field.name for field in fields(Step) if getattr(step, field.name) != field.default]
            idle = [name for name in named if name not in ("op", *FIELDS_OF[step.op])]
            if idle:
                allowed = ", ".join(FIELDS_OF[step.op]) or "none"
                found.append(f"step {number} of class {one.name}: {step.op} has no {idle[0]}; its fields: {allowed}")
    return found
