"""A workload of the test server refuses what no server runs, in a sentence, and knows when it repeats itself."""

from typing import Any

import pytest

from poolpilot.errors import SettingError
from poolpilot.lab.side.side_job import SideJob
from poolpilot.lab.sql_workload import SqlClass, SqlWorkload

POINTS = {"name": "points", "script": "oltp_point_select", "connections": 4}


def values(**changed: Any) -> dict[str, Any]:
    return {"name": "w", "family": "f", "classes": [POINTS], **changed}


def test_plain_workload_asks_for_nothing_unusual() -> None:
    workload = SqlWorkload.from_dict(values())
    assert workload.server_options == ()
    assert workload.cycle_s == 0.0
    assert workload.held_connections == 4


def test_what_is_unusual_becomes_options_of_the_server() -> None:
    workload = SqlWorkload.from_dict(values(log_bin=True, buffer_pool_mb=64))
    assert "--log-bin=binlog" in workload.server_options
    assert "--innodb-buffer-pool-size=64M" in workload.server_options


def test_cycle_is_that_of_bursts_or_of_the_side_job() -> None:
    bursting = {**POINTS, "burst_period_s": 3.0}
    assert SqlWorkload.from_dict(values(classes=[bursting])).cycle_s == 3.0
    locked = values(side={"kind": "table_lock", "hold_s": 2.0, "rest_s": 2.5})
    assert SqlWorkload.from_dict(locked).cycle_s == 4.5


@pytest.mark.parametrize(
    ("periods_s", "cycle_s", "common"),
    [
        ((2.0, 3.0), 6.0, True),
        ((0.4, 1.0, 0.0), 2.0, True),
        ((1.5, 1.5), 1.5, True),
        ((0.12345,), 0.12345, True),
        ((70.0, 35.0), 70.0, True),
        ((0.97, 1.03), 1.03, False),  # 99.91 s
        ((), 0.0, True),
    ],
)
def test_periods_that_differ_are_one_cycle_where_that_is_short(
    periods_s: tuple[float, ...], cycle_s: float, common: bool
) -> None:
    classes = [{**POINTS, "name": f"class{n}", "burst_period_s": one} for n, one in enumerate(periods_s)]
    workload = SqlWorkload.from_dict(values(classes=classes or [POINTS]))
    assert (workload.cycle_s, workload.has_cycle) == (cycle_s, common)


def test_bursts_and_a_side_job_are_one_cycle_together() -> None:
    side = {"kind": "table_lock", "hold_s": 2.0, "rest_s": 2.5}
    workload = SqlWorkload.from_dict(values(classes=[{**POINTS, "burst_period_s": 3.0}], side=side))
    assert (workload.cycle_s, workload.has_cycle) == (9.0, True)


def test_connections_that_come_and_go_are_not_held() -> None:
    storm = {"name": "logins", "script": "reconnect", "connections": 32}
    workload = SqlWorkload.from_dict(values(classes=[POINTS, storm]))
    assert (workload.connections, workload.held_connections, workload.most_connections) == (36, 4, 68)


def test_side_job_survives_the_store() -> None:
    workload = SqlWorkload("w", "f", (SqlClass(**POINTS),), side=SideJob("backup_stage", 0.5, 1.0))  # type: ignore[arg-type]
    assert SqlWorkload.from_dict(workload.as_dict()) == workload


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"buffer_pool_mb": 1}, r"buffer_pool_mb of 1; allowed are 8\.\.65536"),
        ({"dataset": "huge"}, "dataset 'huge'; there are small, large, orders, empty"),
        ({"classes": []}, "has 0 classes; it needs at least one and may have 64"),
        ({"classes": [{**POINTS, "name": f"class{n}"} for n in range(65)]}, "has 65 classes; .* may have 64"),
        ({"side": {"kind": "drop_table"}}, "no side job 'drop_table'; there are alter_table"),
        ({"side": {"kind": "table_lock", "hold_s": 90.0}}, r"holds for 90 s .* allowed are 0\.\.60"),
        ({"side": {"kind": "table_lock", "rest_s": 0.0}}, r"rests for 0 s; allowed are 0\.\.60 and 0\.1\.\.60"),
        ({"classes": [{**POINTS, "script": "nothing"}]}, "script 'nothing'; there are oltp_point_select"),
        ({"classes": [{**POINTS, "burst_offset": 1.0}]}, "burst_offset 1; allowed is 0 to under 1"),
        ({"cpus": 0}, "has 0 processors; it needs at least one"),
        ({"classes": [{**POINTS, "min_share": 1.5}]}, "min_share 1.5; allowed is a share of 0..1"),
        ({"classes": [{**POINTS, "capacity_share": 5.0}]}, r"share of 0\.\.4"),
        ({"classes": [{**POINTS, "capacity_share": 0.5, "rate_per_s": 9.0}]}, "allowed is one of them"),
    ],
)
def test_what_no_server_runs_is_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        SqlWorkload.from_dict(values(**wrong))
