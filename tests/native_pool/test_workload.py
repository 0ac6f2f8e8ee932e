"""A workload survives JSON and refuses what it does not know."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolpilot.native_pool.workload import RequestClass, Step, Workload

TIMES = st.floats(0.0, 1e7)
STEPS = st.builds(
    Step,
    op=st.sampled_from(["cpu", "wait", "acquire", "release", "begin", "commit"]),
    us=TIMES,
    variation=st.floats(0.0, 10.0),
    kind=st.sampled_from(["sleep", "disk_io", "row_lock", "net"]),
    reported=st.booleans(),
    latch=st.integers(0, 63),
    spread=st.integers(1, 8),
    spin_us=st.integers(0, 4095),
    waiter_cost_us=TIMES,
)
CLASSES = st.builds(
    RequestClass,
    name=st.text(min_size=1),
    steps=st.lists(STEPS, max_size=4).map(tuple),
    share=st.floats(0.0, 100.0),
    target_ms=st.none() | TIMES,
    weight=st.floats(0.0, 10.0),
    think_ms=TIMES,
)
WORKLOADS = st.builds(
    Workload,
    name=st.text(),
    family=st.text(),
    classes=st.lists(CLASSES, min_size=1, max_size=3).map(tuple),
    connections=st.integers(1, 65_536),
    rate_per_s=st.none() | st.floats(0.001, 1e6),
    cpus=st.integers(1, 64),
    seed=st.integers(0, 2**63),
    parameters=st.dictionaries(st.text(), TIMES, max_size=3),
)


@settings(max_examples=25, deadline=None)
@given(WORKLOADS)
def test_json_keeps_every_field(workload: Workload) -> None:
    assert Workload.from_dict(json.loads(json.dumps(workload.as_dict()))) == workload


def test_unknown_field_is_refused_at_every_level() -> None:
    workload = Workload("w", "f", (RequestClass("c", (Step("cpu", us=10.0),)),), connections=1)
    for place in ("workload", "class", "step"):
        values = workload.as_dict()
        one = values["classes"][0]
        {"workload": values, "class": one, "step": one["steps"][0]}[place]["typo"] = 1
        with pytest.raises(TypeError, match="typo"):
            Workload.from_dict(values)
