"""Fields that a person wrote become a workload, or a sentence that names the wrong one and what it may be."""

import json
from typing import Any, get_args

import pytest

from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.env.workloads.workload_fields import FIELDS_OF, from_fields, unused, workload_from_fields
from poolpilot.errors import SettingError
from poolpilot.lab.side.side_job import SideJob
from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.native_pool.workload import Op, Step, Workload

NAMED = {"name": "mine", "family": "mine"}
STEP = {"op": "cpu", "us": 300}
CLASS = {"name": "all", "steps": [STEP]}
POOL: dict[str, Any] = {**NAMED, "classes": [CLASS], "connections": 32}
READS = {"name": "reads", "script": "ranges", "connections": 8}
SQL: dict[str, Any] = {**NAMED, "classes": [READS]}


def test_what_is_not_named_has_its_default() -> None:
    workload = from_fields(Workload, POOL)
    assert (workload.connections, workload.cpus, workload.rate_per_s) == (32, 2, None)
    assert workload.classes[0].steps == (Step("cpu", 300.0),)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_workload_of_a_family_survives(family: str) -> None:
    workload = draw_workload(FAMILIES[family], 3)
    assert from_fields(Workload, json.loads(json.dumps(workload.as_dict()))) == workload


def test_lists_become_what_the_workload_has_and_whole_numbers_stay_whole() -> None:
    options = {"rows": 20, "patience_ms": 5.5}
    side = {"kind": "table_lock", "hold_s": 2}
    workload = from_fields(SqlWorkload, {**SQL, "classes": [{**READS, "options": options}], "side": side})
    assert from_fields(SqlWorkload, {**SQL, "slow_disk_us": [1, 2, 3]}).slow_disk_us == (1, 2, 3)
    assert workload.side == SideJob("table_lock", 2.0)
    assert {name: type(value) for name, value in workload.classes[0].options.items()} == {
        "rows": int,
        "patience_ms": float,
    }


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (3, "the field 'workload' is 3"),
        ({**POOL, "connections": "32"}, "the field 'connections' is \"32\": it must be a valid integer"),
        ({**POOL, "connections": 2.5}, r"the field 'connections' is 2\.5: it must be a valid integer"),
        ({**POOL, "connections": True}, "the field 'connections' is true"),
        ({**POOL, "rate_per_s": float("nan")}, "the field 'rate_per_s' is NaN: it must be a finite number"),
        ({**POOL, "rate": 3}, "there is no field 'rate'; allowed are name, family, classes, connections, rate_per_s"),
        ({**NAMED, "classes": [CLASS]}, "the field 'connections' is missing"),
        ({**POOL, "classes": {}}, "the field 'classes' is {}: it must be a valid array"),
        ({**POOL, "classes": [3]}, r"the field 'classes\.0' is 3: it must be an object"),
        ({**POOL, "classes": [{"name": "all"}]}, r"the field 'classes\.0\.steps' is missing"),
        (
            {**POOL, "classes": [{**CLASS, "weigth": 2}]},
            r"no field 'classes\.0\.weigth'; allowed are name, steps, share",
        ),
        (
            {**POOL, "classes": [{**CLASS, "steps": [{**STEP, "ms": 1}]}]},
            r"'classes\.0\.steps\.0\.ms'; allowed are op, us",
        ),
        (99_999_999_999, "'workload' is 99999999999: it must be at most"),
        ({**POOL, "classes": [{**CLASS, "steps": [{"op": "sleep"}]}]}, r"steps\.0\.op' is \"sleep\": it must be 'cpu'"),
    ],
)
def test_wrong_field_of_a_pool_is_named(values: object, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        from_fields(Workload, values)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({**SQL, "classes": [{**READS, "script": "range"}]}, r"'classes\.0\.script' is \"range\": it must be 'oltp"),
        (
            {**SQL, "classes": [{**READS, "options": {"rows": True}}]},
            r"the field 'classes\.0\.options\.rows' is true: it must be a number or a text",
        ),
        ({**SQL, "classes": [{**READS, "options": {"row": 1}}]}, "there are rows, patience_ms"),
        ({**SQL, "classes": [{**READS, "min_share": 50}]}, "min_share 50; allowed is a share of 0..1"),
        ({**SQL, "side": {"kind": "table_lock", "holds_s": 1}}, r"'side\.holds_s'; allowed are kind, hold_s, rest_s"),
        ({**SQL, "slow_disk_us": [1, 2]}, r"the field 'slow_disk_us\.2' is missing"),
        ({**SQL, "slow_disk_us": [1, 2, 3, 4]}, "at most 3 items"),
    ],
)
def test_wrong_field_of_mariadb_is_named(values: object, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        from_fields(SqlWorkload, values)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {**POOL, "rate_per_s": 10.0, "classes": [{**CLASS, "think_ms": 5}]},
            "class all has think_ms, but with rate_per_s nobody pauses",
        ),
        (
            {**POOL, "classes": [{**CLASS, "steps": [STEP, {"op": "acquire", "us": 9}]}]},
            "step 1 of class all: acquire has no us; its fields: latch, spread, spin_us, waiter_cost_us",
        ),
        ({**POOL, "classes": [{**CLASS, "steps": [{"op": "begin", "kind": "net"}]}]}, "its fields: none"),
        (
            {**POOL, "classes": [{**CLASS, "steps": [{**STEP, "reported": True}]}]},
            "step 0 of class all: cpu has no reported",
        ),
    ],
)
def test_what_nothing_goes_by_is_told(values: dict[str, Any], sentence: str) -> None:
    (told,) = unused(from_fields(Workload, values))
    assert sentence in told


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_families_say_nothing_in_vain(family: str) -> None:
    assert unused(draw_workload(FAMILIES[family], 3)) == []


def test_fields_are_known_of_every_operation() -> None:
    assert set(get_args(Op)) == FIELDS_OF.keys()


A, B = {"op": "acquire", "latch": 3}, {"op": "acquire", "latch": 1, "spread": 8}
FREE = {"op": "release"}


@pytest.mark.parametrize(
    ("steps", "latches"),
    [
        ([A, FREE], [(3, 1)]),
        ([A, B, FREE, FREE], [(1, 8), (3, 1)]),
        ([A, B, {**FREE, "latch": 3}, FREE], [(3, 1), (1, 8)]),
        ([B, {**FREE, "latch": 1}], [(1, 8)]),
        ([B, {**FREE, "latch": 1, "spread": 2}], [(1, 2)]),
        ([FREE, A, {**FREE, "latch": 5}], [(0, 1), (5, 1)]),
    ],
    ids=["one", "nested", "hand over hand", "spread", "as named", "none taken"],
)
def test_release_frees_what_was_taken_last_or_what_it_names(
    steps: list[dict[str, Any]], latches: list[tuple[int, int]]
) -> None:
    """Before, a release that named no latch freed number 0, taken or not."""
    made = workload_from_fields({**POOL, "classes": [{"name": "reads", "steps": steps}]})
    assert [(one.latch, one.spread) for one in made.classes[0].steps if one.op == "release"] == latches
    assert not unused(made)
