"""Keywords of the pools and of the simulated machine: the tables, what is refused, and the stub that types them."""

import ast
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from poolpilot.native_pool import LivePool, _core
from poolpilot.native_pool._core import (
    LoadClass,
    LoadGenerator,
    LoadStep,
    SimulatedLoad,
    SimulatedMachine,
    SimulatedPool,
)

if TYPE_CHECKING:
    from poolpilot.native_pool._core import ChoiceRow, SettingRow

STUB = Path(__file__).parents[2] / "native_pool" / "python" / "poolpilot" / "native_pool" / "_core.pyi"
CLASSES = [LoadClass(name="all", steps=[LoadStep(op="cpu", us=10.0)])]
TUPLE: dict[str, Any] = {"pool_size": 2, "oversubscribe": 3, "timer_interval_ms": 500}


def simulated_pool(**options: Any) -> SimulatedPool:
    load = SimulatedLoad(classes=CLASSES, connections=1)
    return SimulatedPool(machine=SimulatedMachine(), load=load, **options)


def load_generator(**options: Any) -> LoadGenerator:
    return LoadGenerator(address="unix:/not/connected/yet", classes=CLASSES, connections=1, **options)


MADE: dict[str, Callable[..., object]] = {
    "LivePool": LivePool,
    "SimulatedPool": simulated_pool,
    "SimulatedMachine": SimulatedMachine,
    "LoadGenerator": load_generator,
}
LISTS = {"queues", "rules", "weights"}
NOT_IN_TABLES = {
    "LivePool": {"address", "cpus", "class_names", *LISTS},
    "SimulatedPool": {"machine", "load", *LISTS},
    "LoadGenerator": {"address", "classes", "connections", "rate_per_s", "seed", "part", "parts"},
}

WRONG: dict[type, tuple[str, list[Any]]] = {
    bool: ("true or false", ["yes"]),
    int: ("an integer of 32 bits", ["four", [], 1.5, 2**40]),
    float: ("a number", ["much", []]),
    str: ("a name", [3, []]),
}


def rows_of(name: str) -> "list[SettingRow | ChoiceRow]":
    rows: list[SettingRow | ChoiceRow] = getattr(_core, name).fields()
    return rows


ROWS = [pytest.param(name, row, id=f"{name}-{row['name']}") for name in MADE for row in rows_of(name)]
each_class = pytest.mark.parametrize("name", MADE)
each_row = pytest.mark.parametrize(("name", "row"), ROWS)


@each_row
def test_default_of_every_setting_is_taken_as_a_keyword(name: str, row: "SettingRow | ChoiceRow") -> None:
    MADE[name](**{row["name"]: row["default"]})


@each_row
def test_value_out_of_range_is_refused_with_name_value_and_range(name: str, row: "SettingRow | ChoiceRow") -> None:
    value: float | str
    if "names" in row:
        value, expected = "none", f"{row['name']} is 'none', but must be one of {', '.join(row['names'])}"
    elif isinstance(row["default"], bool):
        return
    else:
        below = row["low"] - 1
        value = int(below) if isinstance(row["default"], int) else below
        high = 128 if (name, row["name"]) == ("LivePool", "pool_size") else row["high"]  # max_pool_size
        expected = f"{row['name']} is {value:.10g}, but must be in {row['low']:.10g}..{high:.10g}"
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        MADE[name](**{row["name"]: value})


@each_row
def test_wrong_type_is_refused_by_name(name: str, row: "SettingRow | ChoiceRow") -> None:
    kind, wrong = WRONG[type(row["default"])]
    for value in wrong:
        with pytest.raises(TypeError, match=f"^{row['name']} must be {kind}$"):
            MADE[name](**{row["name"]: value})


@each_class
def test_unknown_keyword_is_refused_by_name(name: str) -> None:
    with pytest.raises(TypeError, match=r"^there is no setting named 'pool_sise'$"):
        MADE[name](pool_sise=4)


def test_lists_and_objects_keep_their_own_types() -> None:
    for options in ({"cpus": "all"}, {"class_names": 3}, {"address": 80}):
        with pytest.raises(TypeError, match="incompatible constructor arguments"):
            LivePool(**options)
    with pytest.raises(TypeError, match="incompatible constructor arguments"):
        SimulatedPool(machine=None, load=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("left_out", TUPLE)
def test_tuple_needs_the_knobs_that_every_server_has(left_out: str) -> None:
    pool = simulated_pool()
    with pytest.raises(TypeError, match=f"^a tuple needs {left_out}$"):
        pool.set_tuple(**{name: value for name, value in TUPLE.items() if name != left_out})
    assert pool.pool_tuple["pool_size"] == 1


def test_the_other_knobs_of_a_tuple_have_defaults_and_types() -> None:
    pool = simulated_pool(create_thread_on_wait=False, idle_timeout_s=1.0)
    assert pool.pool_tuple == {**TUPLE, "pool_size": 1, "create_thread_on_wait": False, "idle_timeout_s": 1.0}
    assert pool.set_tuple(**TUPLE) == {**TUPLE, "create_thread_on_wait": True, "idle_timeout_s": 60.0}
    with pytest.raises(TypeError, match=r"^oversubscribe must be an integer"):
        pool.set_tuple(**{**TUPLE, "oversubscribe": "three"})
    with pytest.raises(TypeError, match=r"^there is no setting named 'max_pool_size'$"):
        pool.set_tuple(**TUPLE, max_pool_size=4)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"^idle_timeout_s is nan, but must be in 0\.01\.\.1000000$"):
        pool.set_tuple(**TUPLE, idle_timeout_s=math.nan)


def test_shared_settings_are_the_same_rows_but_for_the_ceiling_and_the_endless_latch() -> None:
    live, simulated = ({row["name"]: row for row in rows_of(name)} for name in ("LivePool", "SimulatedPool"))
    differing = {name for name in live.keys() & simulated.keys() if live[name] != simulated[name]}
    assert differing == {"max_pool_size", "latch_timeout_s"}
    assert simulated.keys() <= live.keys()


def keywords_of(class_name: str, method: str) -> dict[str, tuple[str, bool]]:
    """Annotation of every keyword in the stub, and whether it has a default."""
    classes = {node.name: node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ClassDef)}
    methods = {node.name: node for node in classes[class_name].body if isinstance(node, ast.FunctionDef)}
    arguments = methods[method].args
    return {
        argument.arg: (ast.unparse(argument.annotation) if argument.annotation else "", default is not None)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    }


@each_class
def test_stub_types_every_keyword_and_no_other(name: str) -> None:
    keywords = keywords_of(name, "__init__")
    for explicit in NOT_IN_TABLES.get(name, set()):
        del keywords[explicit]
    assert keywords == {row["name"]: (type(row["default"]).__name__, True) for row in rows_of(name)}


@pytest.mark.parametrize("name", ["LivePool", "SimulatedPool"])
def test_stub_types_every_knob_of_a_tuple(name: str) -> None:
    known = {row["name"]: type(row["default"]).__name__ for row in rows_of(name)}
    in_force = simulated_pool().pool_tuple
    expected = {knob: (known[knob], knob not in TUPLE) for knob in in_force}
    assert keywords_of(name, "set_tuple") == expected
