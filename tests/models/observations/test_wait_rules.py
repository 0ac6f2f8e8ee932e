"""What the waits of one look call for: more threads where they wait untold, fewer groups where rows are fought for.

Where requests queue and neither is seen, a first step.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from poolpilot.env.knobs import Knob, KnobSpace
from poolpilot.featurizer.catalogue import THROTTLED_SHARE
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.mariadb.host.quota_periods import USED_UP
from poolpilot.models.observations.disturbances import disturbances_of
from poolpilot.models.observations.wait_rules import (
    RULES,
    STEP_GAIN,
    STEP_LOSS,
    STEP_WORKLOADS,
    TRIALS,
    Ruled,
    fewer_to_try,
    rule_for,
    wait_ratios,
)
from poolpilot.pipelines.store.dataset import read_dataset

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
FIRST_STEP = (4, 3, 10)

SLOW_FLUSHES = {
    "connections": 128.0,
    "utilisation": 0.3,
    "active_threads_mean": 1.9,
    "queue_length_mean": 40.0,
    "completed_per_s": 9000.0,
    "waits_row_lock_per_request": 0.0,
}
HOT_ROWS = {
    "connections": 256.0,
    "utilisation": 0.66,
    "active_threads_mean": 5.0,
    "queue_length_mean": 70.0,
    "completed_per_s": 15_000.0,
    "waits_row_lock_per_request": 0.2,
}
IDLE = {"machine_idle_share": 0.6}

WindowOf = Callable[..., Window]


def ruled(
    window_of: WindowOf,
    features: dict[str, float],
    limits: KnobSpace,
    indicators: dict[str, float] | None = None,
    in_force: PoolTuple | None = None,
) -> Ruled | None:
    window = window_of(1, in_force or PoolTuple(2, 3, 500), **features)
    return rule_for(replace(window, indicators=indicators or {}), limits)


def test_threads_that_wait_unreported_while_requests_queue_call_for_more(
    window_of: WindowOf, limits: KnobSpace
) -> None:
    found = ruled(window_of, SLOW_FLUSHES, limits, IDLE)
    assert found is not None
    # 1.9 active threads keep at most 0.8 of 2 processors busy, so 4.8 would keep both: the next power of two.
    assert found.pool_tuple.core == (8, 3, 10)
    assert "40 requests queue while 60 % of the processors idle" in found.reason
    assert "of 1.9 active threads at least 1.1 wait unreported" in found.reason


@pytest.mark.parametrize(
    ("changed", "indicators", "named"),
    [
        ({}, {}, FIRST_STEP),  # nobody knows whether the processors idle
        ({}, {"machine_idle_share": 0.1}, FIRST_STEP),
        ({"active_threads_mean": 1.0}, IDLE, FIRST_STEP),  # nearly all of them are on the processors
        ({"queue_length_mean": 5.0}, IDLE, None),
        ({"waits_row_lock_per_request": 0.1}, IDLE, None),  # rows explain it
    ],
)
def test_elsewhere_no_more_than_a_first_step_is_called_for(
    window_of: WindowOf,
    limits: KnobSpace,
    changed: dict[str, float],
    indicators: dict[str, float],
    named: tuple[int, int, int] | None,
) -> None:
    found = ruled(window_of, {**SLOW_FLUSHES, **changed}, limits, indicators)
    assert (None if found is None else found.pool_tuple.core) == named


@pytest.mark.parametrize(
    ("changed", "cpus", "in_force"),
    [
        ({"waits_row_lock_per_request": 0.03}, 2, PoolTuple(2, 3, 500)),  # rows may be fought for
        ({"connections": 8.0, "queue_length_mean": 3.0}, 2, PoolTuple(2, 3, 500)),
        ({}, 4, PoolTuple(4, 3, 500)),  # nobody measured it there
        ({}, 2, PoolTuple(4, 3, 500)),  # there already
    ],
)
def test_a_first_step_is_called_for_only_where_it_was_measured(
    window_of: WindowOf, changed: dict[str, float], cpus: int, in_force: PoolTuple
) -> None:
    queueing = {**SLOW_FLUSHES, **changed}
    assert ruled(window_of, queueing, KnobSpace.stock(cpus), in_force=in_force) is None


@pytest.mark.parametrize(
    ("throttled", "idle", "named"),
    [
        (0.0, IDLE, (8, 3, 10)),
        (USED_UP / 2, IDLE, (8, 3, 10)),
        (USED_UP, IDLE, None),
        (1.0, IDLE, None),
        (0.0, {}, FIRST_STEP),
        (1.0, {}, None),
    ],
)
def test_quota_that_is_used_up_is_no_idle_processor(
    window_of: WindowOf,
    limits: KnobSpace,
    throttled: float,
    idle: dict[str, float],
    named: tuple[int, int, int] | None,
) -> None:
    found = ruled(window_of, SLOW_FLUSHES, limits, {**idle, THROTTLED_SHARE: throttled})
    assert (None if found is None else found.pool_tuple.core) == named


def test_busy_processors_are_those_that_a_quota_leaves(window_of: WindowOf, limits: KnobSpace) -> None:
    """The run-queue delay of threads was held against whole processors."""
    indicators = {"threads_run_delay_us_per_request": 30.0, "commit_share": 0.2, "row_lock_waits_per_request": 0.2}
    half = {**HOT_ROWS, "utilisation": 0.1}
    assert ruled(window_of, {**half, "cpus": 2.0}, limits, indicators) is None
    found = ruled(window_of, {**half, "cpus": 1.05}, limits, indicators)
    assert found is not None
    assert found.pool_tuple.core == (1, 3, 500)


READS_BESIDE_HOT_ROWS = {
    "row_lock_waits_per_request": 0.019,
    "row_lock_wait_us_per_request": 4200.0,  # 38 of 128 connections wait at a time
    "select_share": 0.85,
    "update_share": 0.06,
    "commit_share": 0.09,
}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({}, None),
        ({"update_share": 0.96, "select_share": 0.0}, FIRST_STEP),  # they write a lot, and seldom wait
        ({"row_lock_wait_us_per_request": 100.0}, FIRST_STEP),  # nobody waits for long
        ({"update_share": 0.0, "insert_share": 0.06}, None),
        ({"update_share": 0.0, "delete_share": 0.06}, None),
        ({"update_share": 0.0}, FIRST_STEP),  # nobody writes
    ],
)
def test_waits_for_rows_are_not_hidden_by_statements_that_read(
    window_of: WindowOf, limits: KnobSpace, changed: dict[str, float], named: tuple[int, int, int] | None
) -> None:
    found = ruled(window_of, SLOW_FLUSHES, limits, {**READS_BESIDE_HOT_ROWS, **changed})
    assert (None if found is None else found.pool_tuple.core) == named


def test_a_first_step_keeps_a_shorter_stall_limit(window_of: WindowOf, limits: KnobSpace) -> None:
    found = ruled(window_of, SLOW_FLUSHES, limits, in_force=PoolTuple(2, 1, 6))
    assert found is not None
    assert found.pool_tuple.core == (4, 1, 6)
    assert "40 requests queue, and hardly a row is waited for" in found.reason


def test_the_worth_of_a_first_step_is_what_the_suite_measured() -> None:
    sweeps = read_dataset(BENCHMARKS / "records" / "suite", "train", "validation", "test").sweeps
    report = json.loads((BENCHMARKS / "reports" / "mariadb_suite.json").read_text(encoding="utf-8"))
    first = [row for row in report["cells"] if row["read"] == "first"]
    measured = {row["workload"]: row["methods"]["constant_4_3_10"]["difference"]["loss"] for row in first}
    losses = []
    for sweep in sweeps:
        seen = sweep.entries[sweep.limits.default_tuple().core].windows[0].without_classes()
        found = None if disturbances_of([seen]) else rule_for(seen, sweep.limits)
        if found is not None and found.pool_tuple.core == FIRST_STEP:
            losses.append(measured[sweep.workload_id])
    assert len(losses) == STEP_WORKLOADS
    assert round(-median(losses), 2) == STEP_GAIN
    assert round(max(losses), 2) == STEP_LOSS


def test_a_pool_that_is_large_enough_is_left(window_of: WindowOf, limits: KnobSpace) -> None:
    assert ruled(window_of, SLOW_FLUSHES, limits, IDLE, PoolTuple(16, 3, 10)) is None


def test_no_more_groups_than_connections_or_than_the_server_takes(window_of: WindowOf, limits: KnobSpace) -> None:
    remote, idle = {**SLOW_FLUSHES, "connections": 48.0}, {"machine_idle_share": 0.99}
    found = ruled(window_of, remote, limits, idle)
    assert found is not None
    assert found.pool_tuple.core == (64, 3, 10)
    few = KnobSpace.stock(2, max_pool_size=16)
    found = ruled(window_of, remote, few, idle)
    assert found is not None
    assert found.pool_tuple.pool_size == 16


def test_rows_that_many_statements_want_call_for_fewer_groups(window_of: WindowOf, limits: KnobSpace) -> None:
    found = ruled(window_of, HOT_ROWS, limits)
    assert found is not None
    assert found.pool_tuple.core == (1, 3, 500)
    assert "a statement waits 0.20 times for rows" in found.reason


@pytest.mark.parametrize(
    "changed",
    [
        {"waits_row_lock_per_request": 0.03},  # order entry wanted more threads, not fewer
        {"utilisation": 0.2},  # processors idle: the rows are held by clients that think
        {"connections": 64.0},
    ],
)
def test_elsewhere_fewer_groups_are_not_called_for(
    window_of: WindowOf, limits: KnobSpace, changed: dict[str, float]
) -> None:
    assert ruled(window_of, {**HOT_ROWS, **changed}, limits) is None


def test_single_updates_of_hot_rows_call_for_nothing(window_of: WindowOf, limits: KnobSpace) -> None:
    assert ruled(window_of, HOT_ROWS, limits, {"commit_share": 0.0}) is None
    assert ruled(window_of, HOT_ROWS, limits, {"commit_share": 0.3}) is not None


def test_fewer_groups_are_called_for_only_where_that_was_measured(window_of: WindowOf, limits: KnobSpace) -> None:
    assert ruled(window_of, {**HOT_ROWS, "connections": 2000.0}, KnobSpace.stock(8)) is None
    assert ruled(window_of, HOT_ROWS, limits, in_force=PoolTuple(1, 3, 500)) is None


def test_what_is_not_seen_or_not_allowed_is_not_advised(window_of: WindowOf, limits: KnobSpace) -> None:
    unseen = {name: value for name, value in HOT_ROWS.items() if name != "utilisation"}
    assert ruled(window_of, {**unseen, "utilisation": None}, limits) is None  # type: ignore[dict-item]
    assert ruled(window_of, HOT_ROWS, KnobSpace(None, limits.knobs)) is None
    narrow = KnobSpace(2, {**limits.knobs, "pool_size": Knob("pool_size", 2, 128, 2, "thread groups")})
    assert ruled(window_of, HOT_ROWS, narrow) is None


def to_try(window: Window, limits: KnobSpace, indicators: dict[str, float]) -> tuple[int, int, int] | None:
    found = fewer_to_try(replace(window, server_kind="mariadb", indicators=indicators), limits)
    return None if found is None else found.pool_tuple.core


MANY_IN_LINE = {"row_lock_waits_per_request": 0.03, "row_lock_wait_us_per_request": 2000.0}  # 30 of 256 connections


@pytest.mark.parametrize(
    ("indicators", "named"),
    [
        ({"row_lock_waits_per_request": 0.2}, (1, 3, 500)),
        (MANY_IN_LINE, (1, 3, 500)),
        ({**MANY_IN_LINE, "commit_share": 0.0}, (1, 3, 500)),  # one look leaves single updates alone
        ({**MANY_IN_LINE, "row_lock_wait_us_per_request": 1000.0}, None),
        (
            {"row_lock_waits_per_request": 0.001, "row_lock_wait_us_per_request": 3400.0},
            None,
        ),  # one that has waited 51 s
    ],
)
def test_fewer_groups_are_tried_where_many_wait_for_rows(
    window_of: WindowOf, limits: KnobSpace, indicators: dict[str, float], named: tuple[int, int, int] | None
) -> None:
    assert to_try(window_of(1, PoolTuple(2, 3, 500), **HOT_ROWS), limits, indicators) == named


def test_fewer_groups_are_tried_on_any_number_of_processors(window_of: WindowOf) -> None:
    window = window_of(1, PoolTuple(64, 3, 10), **HOT_ROWS)
    assert to_try(window, KnobSpace.stock(16), MANY_IN_LINE) == (8, 3, 10)
    assert to_try(replace(window, pool_tuple=PoolTuple(8, 3, 10)), KnobSpace.stock(16), MANY_IN_LINE) is None


def test_fewer_groups_are_tried_on_mariadb_alone(window_of: WindowOf, limits: KnobSpace) -> None:
    window = replace(window_of(1, PoolTuple(2, 3, 500), **HOT_ROWS), indicators=MANY_IN_LINE)
    assert fewer_to_try(window, limits) is None


def test_fewer_groups_are_not_tried_where_connections_are_not_seen(window_of: WindowOf, limits: KnobSpace) -> None:
    unseen = {**HOT_ROWS, "connections": None}
    assert to_try(window_of(1, PoolTuple(2, 3, 500), **unseen), limits, MANY_IN_LINE) is None


def test_every_row_of_the_rules_is_stated_in_ratios_that_there_are(window_of: WindowOf, limits: KnobSpace) -> None:
    ratios = wait_ratios(window_of(1, **SLOW_FLUSHES), limits)
    for rule in (*RULES, *TRIALS):
        assert {bound.ratio for bound in rule.symptom} <= ratios.keys()
        assert rule.measured
        assert "{" not in rule.sentence.format(**ratios, at_once_in_words="")
