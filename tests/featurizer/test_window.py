"""Windows: differences, JSON and the refusal of bad input."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from poolpilot.errors import FeatureError, ServerError
from poolpilot.featurizer.histogram import BUCKETS, bucket_of
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.schema import feature_names
from poolpilot.featurizer.snapshot import LATENCY_PREFIX, SERVER_KINDS, Hindrance, ServerKind, Snapshot
from poolpilot.featurizer.window import IN_SYSTEM, OPTIONAL_FIELDS, Window

Change = Callable[[dict[str, Any]], object]


def test_a_window_is_a_difference_by_class(window: Window) -> None:
    assert window.pool_tuple == PoolTuple(8, 3, 10)
    assert window.duration_s == 2.0
    assert {name: each.latency.count for name, each in window.classes.items()} == {"read": 2, "write": 2}
    assert window.classes["write"].throughput_per_s == 1.0
    assert window.throughput_per_s == 2.0


def test_p99_merges_all_classes(window: Window) -> None:
    assert window.p99_ms == pytest.approx(9.0, rel=1.0 / 16.0)


def test_threads_are_the_mean_or_else_the_last_value(before: Snapshot, after: Snapshot) -> None:
    assert Window.between(before, after).threads == pytest.approx(1000.0 / 2.0 * 1e-6)
    counters = {name: value for name, value in after.counters.items() if name != "thread_us"}
    assert Window.between(before, replace(after, counters=counters)).threads == 12.0


def test_without_classes_throughput_is_the_servers_own_and_p99_unknown(before: Snapshot, after: Snapshot) -> None:
    own = {name: each for name, each in after.histograms.items() if not name.startswith(LATENCY_PREFIX)}
    window = Window.between(before, replace(after, histograms=own))
    assert (window.throughput_per_s, window.p99_ms) == (500.0, None)


BACKUP = Hindrance("a backup runs")


def test_what_went_on_counts_for_the_window_in_which_it_was_seen(before: Snapshot, after: Snapshot) -> None:
    seen = replace(after, disturbances=(BACKUP,), disturbed_s=before.time_s + 0.5)
    assert Window.between(before, seen).disturbances == (BACKUP,)
    assert Window.between(before, replace(seen, disturbed_s=before.time_s - 0.5)).disturbances == ()
    assert BACKUP.text not in json.dumps(Window.between(before, seen).as_dict())  # it names accounts


def test_a_change_of_tuple_spoils_a_window(before: Snapshot, after: Snapshot) -> None:
    with pytest.raises(ServerError, match="somebody else has set"):
        Window.between(before, replace(after, tuple_epoch=5))


@pytest.mark.parametrize("time_s", [10.0, 9.0])
def test_time_must_advance(before: Snapshot, after: Snapshot, time_s: float) -> None:
    with pytest.raises(ServerError, match="must advance"):
        Window.between(before, replace(after, time_s=time_s))


def test_a_window_survives_json(window: Window) -> None:
    assert Window.from_dict(json.loads(json.dumps(window.as_dict()))) == window


def test_missing_values_survive_json(before: Snapshot, after: Snapshot) -> None:
    window = Window.between(before, replace(after, counters={}, gauges={}, histograms={}))
    assert None in window.profile.features.values()
    assert Window.from_dict(json.loads(json.dumps(window.as_dict()))) == window


@pytest.mark.parametrize("server_kind", SERVER_KINDS)
@pytest.mark.parametrize("in_system", [None, 0.0, 3.25])
def test_kind_of_server_and_requests_in_it_survive_json(
    window: Window, server_kind: ServerKind, in_system: float | None
) -> None:
    sent = replace(window, server_kind=server_kind, in_system=in_system)
    read = Window.from_dict(json.loads(json.dumps(sent.as_dict())))
    assert read == sent
    assert (read.server_kind, read.in_system) == (server_kind, in_system)
    assert read.time_in_system_s == sent.time_in_system_s


def test_bodies_of_older_releases_are_of_the_embedded_pool(window: Window) -> None:
    body = replace(window, server_kind="mariadb", in_system=3.0).as_dict()
    for name in OPTIONAL_FIELDS:
        del body[name]
    assert Window.from_dict(body) == replace(window, server_kind="native", in_system=None, indicators={})


def test_indicators_survive_json(window: Window) -> None:
    sent = replace(window, indicators={"select_share": 0.75, "row_lock_wait_us_per_request": 12.5})
    assert Window.from_dict(json.loads(json.dumps(sent.as_dict()))) == sent
    assert "indicators" not in replace(window, indicators={}).as_dict()


@pytest.mark.parametrize(
    ("indicators", "says"),
    [
        ({"colour": 1.0}, "indicators has an unknown field 'colour'"),
        ({"select_share": 1.5}, "select_share"),
        ({"select_share": None}, "select_share"),
        ([], "indicators"),
    ],
)
def test_indicators_from_outside_are_checked(window: Window, indicators: object, says: str) -> None:
    with pytest.raises(FeatureError, match=says):
        Window.from_dict({**window.as_dict(), "indicators": indicators})


def test_window_says_what_counted_it(before: Snapshot, after: Snapshot) -> None:
    told = Window.between(replace(before, server_kind="mariadb"), replace(after, server_kind="mariadb"))
    assert told.server_kind == "mariadb"


def test_the_body_has_the_documented_shape(window: Window) -> None:
    body = window.as_dict()
    fields = ["schema_version", "server_kind", "pool_tuple", "duration_s", "features", "classes", "in_system"]
    assert list(body) == [*fields, "indicators"]
    pairs = [[bucket_of(8_000.0), 1], [bucket_of(9_000.0), 1]]
    assert body["classes"]["write"] == {"throughput_per_s": 1.0, "latency": pairs}


def test_the_optional_knobs_of_the_tuple_may_be_left_out(window: Window) -> None:
    body = window.as_dict()
    body["pool_tuple"] = {"pool_size": 8, "oversubscribe": 3, "timer_interval_ms": 10}
    assert Window.from_dict(body).pool_tuple == PoolTuple(8, 3, 10)


def put(*path: str | int, value: object) -> Change:
    """A change that puts a value at a path of the body."""

    def change(body: dict[str, Any]) -> None:
        inner: Any = body
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value

    return change


def drop(*path: str) -> Change:
    """A change that drops what is at a path of the body."""

    def change(body: dict[str, Any]) -> None:
        inner: Any = body
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]

    return change


PAIR = ("classes", "read", "latency", 0)
BAD_INPUT: list[tuple[Change, str, str]] = [
    (put("schema_version", value=2), "schema_version", "2; allowed is an integer from 1 to 1"),
    (put("schema_version", value=True), "schema_version", "True; allowed is an integer"),
    (put("schema_version", value="1"), "schema_version", "'1'; allowed is an integer"),
    (drop("schema_version"), "schema_version", "lacks the field 'schema_version'"),
    (
        put("server_kind", value="postgres"),
        "server_kind",
        "'postgres'; allowed is one of native, simulated, mariadb",
    ),
    (put("server_kind", value=None), "server_kind", "None; allowed is one of native"),
    (put("server_kind", value=["mariadb"]), "server_kind", "a list; allowed is one of native"),
    (put("in_system", value=-0.5), "in_system", "-0.5; allowed is a number from 0 to 1e.09 requests"),
    (put("in_system", value=math.nan), "in_system", "nan; allowed"),
    (put("in_system", value="3"), "in_system", "'3'; allowed"),
    (put("extra", value=1), "extra", "unknown field 'extra'"),
    (put("x" * 5000, value=1), "x" * 64, "unknown field"),
    (put("duration_s", value=0), "duration_s", "0; allowed is a number from 1e-06 to 86400 s"),
    (put("duration_s", value=math.nan), "duration_s", "nan; allowed"),
    (put("features", value=None), "features", "None; allowed is an object"),
    (drop("features", "think_us_mean"), "features.think_us_mean", "lacks the field 'think_us_mean'"),
    (put("features", "colour", value=1), "features.colour", "unknown field 'colour'"),
    (
        put("features", "think_us_mean", value=-1),
        "features.think_us_mean",
        "-1; allowed is a number from 0 to 1e.09 us",
    ),
    (put("features", "think_us_mean", value=math.nan), "features.think_us_mean", "nan; allowed"),
    (put("features", "think_us_mean", value=math.inf), "features.think_us_mean", "inf; allowed"),
    (put("features", "think_us_mean", value="3"), "features.think_us_mean", "'3'; allowed"),
    (put("features", "think_us_mean", value=True), "features.think_us_mean", "True; allowed"),
    (put("features", "think_us_mean", value=[1]), "features.think_us_mean", "a list; allowed"),
    (put("features", "think_us_mean", value=10**5000), "features.think_us_mean", "an integer of 16610 bits; allowed"),
    (put("pool_tuple", "pool_size", value=0), "pool_tuple.pool_size", "0; allowed is an integer from 1 to 100000"),
    (put("pool_tuple", "pool_size", value=8.0), "pool_tuple.pool_size", "8.0; allowed is an integer"),
    (put("pool_tuple", "oversubscribe", value=-3), "pool_tuple.oversubscribe", "-3; allowed"),
    (put("pool_tuple", "timer_interval_ms", value=True), "pool_tuple.timer_interval_ms", "True; allowed"),
    (put("pool_tuple", "idle_timeout_s", value=math.inf), "pool_tuple.idle_timeout_s", "inf; allowed"),
    (put("pool_tuple", "create_thread_on_wait", value=1), "pool_tuple.create_thread_on_wait", "true or false"),
    (drop("pool_tuple", "pool_size"), "pool_tuple.pool_size", "pool_tuple lacks the field 'pool_size'"),
    (put("pool_tuple", "colour", value=1), "pool_tuple.colour", "pool_tuple has an unknown field 'colour'"),
    (put("classes", value=[]), "classes", "a list; allowed is an object"),
    (put("classes", value={str(i): {} for i in range(65)}), "classes", "65 entries; allowed are at most 64"),
    (put("classes", value={"": {}}), "classes", "1 to 64 printable characters"),
    (put("classes", value={"a\nb": {}}), "classes", "1 to 64 printable characters"),
    (put("classes", "read", value=3), "classes.read", "3; allowed is an object"),
    (drop("classes", "read", "latency"), "classes.read.latency", "classes.read lacks the field 'latency'"),
    (put("classes", "read", "throughput_per_s", value=-1), "classes.read.throughput_per_s", "-1; allowed"),
    (put("classes", "read", "latency", value={}), "classes.read.latency", "a dict; allowed is a list"),
    (put("classes", "read", "latency", value=[[0, 1]] * (BUCKETS + 1)), "classes.read.latency", "at most 592"),
    (put(*PAIR, value=[1]), "classes.read.latency", r"allowed are \[bucket, count\] pairs"),
    (put(*PAIR, value="ab"), "classes.read.latency", r"'ab'; allowed are \[bucket, count\] pairs"),
    (put(*PAIR, value=[BUCKETS, 1]), "classes.read.latency.bucket", "592; allowed is an integer from 0 to 591"),
    (put(*PAIR, value=[-1, 1]), "classes.read.latency.bucket", "-1; allowed"),
    (put(*PAIR, value=[BUCKETS - 1, 1]), "classes.read.latency.bucket", "allowed is an integer from 592 to 591"),
    (put(*PAIR, value=[0, 0]), "classes.read.latency.count", "0; allowed is an integer from 1"),
    (put(*PAIR, value=[0, 1.5]), "classes.read.latency.count", "1.5; allowed is an integer"),
]


@pytest.mark.parametrize(("change", "field", "sentence"), BAD_INPUT)
def test_bad_input_is_refused_by_the_fields_name(window: Window, change: Change, field: str, sentence: str) -> None:
    body = window.as_dict()
    change(body)
    with pytest.raises(FeatureError, match=sentence) as refused:
        Window.from_dict(body)
    assert refused.value.feature == field
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("body", [None, [], "window", 3.5])
def test_a_body_that_is_no_object_is_refused(body: object) -> None:
    with pytest.raises(FeatureError, match="allowed is an object"):
        Window.from_dict(body)


def test_time_in_system_is_known_where_the_server_counts_who_is_in_it(before: Snapshot, after: Snapshot) -> None:
    assert Window.between(before, after).time_in_system_s is None
    first = replace(before, counters={**before.counters, IN_SYSTEM: 0.0})
    second = replace(after, counters={**after.counters, IN_SYSTEM: 6e6})
    window = Window.between(first, second).without_classes()
    assert window.in_system == pytest.approx(3.0)
    assert window.throughput_per_s == pytest.approx(500.0)
    assert window.time_in_system_s == pytest.approx(0.006)


def test_server_whose_clients_do_not_report_sees_the_same_window_without_classes(window: Window) -> None:
    told = window.without_classes()
    assert told.classes == {}
    assert told.p99_ms is None
    assert told.profile is window.profile


def test_windows_of_one_tuple_are_pooled_by_what_was_counted(window: Window) -> None:
    short = replace(
        window,
        duration_s=window.duration_s / 2.0,
        in_system=1.0,
        classes={
            name: replace(each, throughput_per_s=2.0 * each.throughput_per_s) for name, each in window.classes.items()
        },
    )
    both = Window.pooled([replace(window, in_system=4.0), short])
    assert both.duration_s == pytest.approx(1.5 * window.duration_s)
    assert both.in_system == pytest.approx(3.0)
    for name, each in window.classes.items():
        assert both.classes[name].throughput_per_s == pytest.approx(each.throughput_per_s * 2.0 / 1.5)
        assert both.classes[name].latency.count == 2 * each.latency.count
    assert Window.pooled([window]) is window
    missing = replace(window, profile=replace(window.profile, features=dict.fromkeys(window.profile.features)))
    assert set(Window.pooled([window, missing]).profile.features.values()) == {None}


def test_class_that_one_window_lacks_counts_over_all_of_them(window: Window) -> None:
    name, each = next(iter(window.classes.items()))
    without = replace(window, classes={other: one for other, one in window.classes.items() if other != name})
    assert Window.pooled([window, without]).classes[name].throughput_per_s == pytest.approx(each.throughput_per_s / 2.0)


def test_hidden_feature_is_missing_to_models_and_known_to_whoever_judges(window: Window) -> None:
    names = feature_names()
    present = next(name for name in names if window.profile.features[name])
    seen = window.hiding([present])
    at = names.index(present)
    assert (window.profile.mask()[at], seen.profile.mask()[at], seen.profile.vector()[at]) == (1.0, 0.0, 0.0)
    assert np.delete(seen.profile.vector(), at).tolist() == np.delete(window.profile.vector(), at).tolist()
    assert np.delete(seen.profile.mask(), at).tolist() == np.delete(window.profile.mask(), at).tolist()
    assert seen.as_dict() == window.as_dict()
    assert Window.pooled([window, seen]).profile.mask()[at] == 0.0
    assert seen.hiding(names[:1]).profile.hidden == {present, names[0]}
    assert window.hiding([]) is window


def test_throughput_without_classes_is_known_though_its_feature_is_hidden(before: Snapshot, after: Snapshot) -> None:
    own = {name: each for name, each in after.histograms.items() if not name.startswith(LATENCY_PREFIX)}
    window = Window.between(before, replace(after, histograms=own))
    assert window.hiding(["completed_per_s"]).throughput_per_s == window.throughput_per_s == 500.0
