"""Reading a request: whatever the bytes, it is a request or a refusal that names the place."""

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poolpilot.models.body import REQUEST, Request, as_body
from poolpilot.models.prediction_request import RequestError, finite_json, parse

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every path within a JSON value, the value itself excluded."""
    if isinstance(value, dict):
        inner = [(key, one) for key, one in value.items()]
    else:
        inner = list(enumerate(value)) if isinstance(value, list) else []
    return [found for key, one in inner for found in ((*path, key), *places(one, (*path, key)))]


def replaced(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    changed = copy.deepcopy(value)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    return changed


def read_or_refusal(raw: bytes) -> Request | RequestError:
    try:
        return parse(raw)
    except RequestError as error:
        return error


def test_reads_back_what_was_sent(request_values: dict[str, Any]) -> None:
    sent = parse(json.dumps(request_values).encode())
    assert parse(json.dumps(as_body(*sent)).encode()) == sent


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    """What lies at a path within a JSON value."""
    for key in path:
        value = value[key]
    return value


def objects_in(value: Any) -> list[tuple[str | int, ...]]:
    """The paths of all JSON objects within a value, its own included."""
    return [path for path in [(), *places(value)] if isinstance(at(value, path), dict)]


def test_long_names_are_refused_without_repeating_them(request_values: dict[str, Any]) -> None:
    for path in objects_in(request_values):
        body = copy.deepcopy(request_values)
        at(body, path)["n" * 100_000] = 1
        with pytest.raises(RequestError, match="goes on for 100000 characters") as refused:
            parse(json.dumps(body).encode())
        assert len(str(refused.value)) < 300


def test_long_numbers_are_refused_without_repeating_them(request_values: dict[str, Any]) -> None:
    text = json.dumps({**request_values, "objective": "here"}).replace('"here"', f"{'1' * 100_000}e999")
    with pytest.raises(RequestError, match="is not a finite number") as refused:
        parse(text.encode())
    assert len(str(refused.value)) < 300


def test_names_given_twice_are_refused_by_name(request_values: dict[str, Any]) -> None:
    text = json.dumps(request_values)
    for path in objects_in(request_values):
        inner = json.dumps(at(request_values, path))
        for name in json.loads(inner):
            twice = f"{inner[:-1]}, {json.dumps(name)}: null}}"
            with pytest.raises(RequestError, match=f"the field '{name}' is there twice") as refused:
                parse(text.replace(inner, twice, 1).encode())
            assert refused.value.location == ("body", name)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_change_anywhere_is_read_or_refused_by_location(request_values: dict[str, Any], data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(places(request_values)))
    body = replaced(request_values, path, data.draw(JSON))
    found = read_or_refusal(json.dumps(body).encode())
    assert isinstance(found, Request) or (found.location[0] == "body" and found.message)


@settings(deadline=None)
@given(raw=st.binary(max_size=64) | JSON.map(lambda value: json.dumps(value).encode()))
def test_bytes_that_are_no_request_are_refused(raw: bytes) -> None:
    with pytest.raises(RequestError, match=r"^body"):
        parse(raw)


@settings(deadline=None)
@given(value=JSON, encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32-be"]))
def test_json_is_read_as_json_loads_reads_it(value: Any, encoding: str) -> None:
    raw = json.dumps(value).encode(encoding)
    assert finite_json(raw) == json.loads(raw)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_not_finite_are_refused_wherever_they_stand(
    request_values: dict[str, Any], number: str
) -> None:
    for values in (request_values, {REQUEST: request_values, "gain": 1.0}):
        for path in [path for path in places(values) if isinstance(at(values, path), float)]:
            text = json.dumps(replaced(values, path, "here")).replace('"here"', number)
            with pytest.raises(RequestError, match=f"'{number}' is not a finite number") as refused:
                parse(text.encode())
            assert refused.value.location == ("body",)


def test_file_of_a_command_is_read_as_the_request_in_it(request_values: dict[str, Any]) -> None:
    told = {"outcome": [{"when": "before"}], REQUEST: request_values, "windows": 3}
    assert parse(json.dumps(told).encode()) == parse(json.dumps(request_values).encode())


@pytest.mark.parametrize(
    ("path", "new", "location"),
    [
        ((), None, (REQUEST,)),
        ((), [], (REQUEST,)),
        (("windows",), [], (REQUEST, "windows")),
        (("windows", 0, "duration_s"), -1, (REQUEST, "windows.0.duration_s")),
        (("windows", 0, "server_kind"), "postgres", (REQUEST, "windows.0.server_kind")),
        (("limits", "cpus"), 0, (REQUEST, "limits", "cpus")),
        (("objective",), {"price": 1.0}, (REQUEST, "objective.price")),
    ],
)
def test_refusal_of_a_request_in_a_file_names_the_place_in_it(
    request_values: dict[str, Any], path: tuple[str | int, ...], new: Any, location: tuple[str, ...]
) -> None:
    told = replaced({REQUEST: request_values}, (REQUEST, *path), new)
    with pytest.raises(RequestError) as refused:
        parse(json.dumps(told).encode())
    assert ".".join(map(str, refused.value.location)) == ".".join(("body", *location))


def test_windows_of_two_kinds_of_servers_are_refused(request_values: dict[str, Any]) -> None:
    other = {**request_values["windows"][0], "server_kind": "mariadb"}
    with pytest.raises(RequestError, match="different kinds") as refused:
        parse(json.dumps({**request_values, "windows": [*request_values["windows"], other]}).encode())
    assert refused.value.location == ("body", "windows.1.server_kind")


def test_knob_that_is_named_twice_is_refused(request_values: dict[str, Any]) -> None:
    """Before, the last one won."""
    knobs = request_values["limits"]["knobs"]
    limits = {**request_values["limits"], "knobs": [*knobs[:3], {**knobs[0], "high": knobs[0]["high"] + 1}]}
    with pytest.raises(RequestError, match=f"{knobs[0]['name']} is named 2 times: name each knob once") as refused:
        parse(json.dumps({**request_values, "limits": limits}).encode())
    assert refused.value.location == ("body", "limits", "knobs")
