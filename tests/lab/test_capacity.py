"""A share of the capacity becomes a rate once, by the class alone in a closed loop."""

from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import pytest

from poolpilot.env.servers.curve import CurveServer
from poolpilot.errors import SettingError
from poolpilot.lab.capacity import at_capacity
from poolpilot.lab.datasets import dataset
from poolpilot.lab.side.side_job import SideJob
from poolpilot.lab.sql_workload import MOST_CONNECTIONS, SqlClass, SqlWorkload
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.mariadb.server.mariadb_server import MariadbServer

STEADY = SqlClass("steady", "ranges", 16, capacity_share=0.4)
SURGE = SqlClass("surge", "ranges", 48, capacity_share=1.1, burst_period_s=1.0)
OTHER = SqlClass("other", "tpcc", 8)


class Opened:
    """Stands for test servers: each completes 1,000 requests a second."""

    def __init__(self) -> None:
        self.workloads: list[SqlWorkload] = []
        self.closed = 0

    def __call__(self, workload: SqlWorkload) -> MariadbServer:
        self.workloads.append(workload)
        return cast(MariadbServer, Closing(self))


class Closing(CurveServer):
    def __init__(self, opened: Opened) -> None:
        super().__init__([(1, 1000.0), (128, 1000.0)], connections=64)
        self.opened = opened

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.opened.closed += 1


def test_classes_of_one_script_share_a_measurement() -> None:
    opened = Opened()
    workload = SqlWorkload("w", "f", (STEADY, SURGE, OTHER), side=SideJob("table_lock"))
    found = at_capacity(workload, opened, 1.0)
    assert [one.rate_per_s for one in found.classes] == pytest.approx([400.0, 1100.0, 0.0])
    assert all(one.capacity_share == 0.0 for one in found.classes)
    assert found.classes[1].burst_period_s == 1.0
    assert found.side == workload.side
    (alone,) = opened.workloads
    assert (alone.connections, alone.side, alone.classes[0].capacity_share) == (64, None, 0.0)
    assert opened.closed == 1


def test_classes_of_one_script_may_have_more_connections_than_one_class() -> None:
    """Before, the workload was left out of an evaluation: one class of all these is refused."""
    opened = Opened()
    crowds = tuple(SqlClass(name, "ranges", 1000, capacity_share=0.4) for name in ("first", "second"))
    found = at_capacity(SqlWorkload("w", "f", crowds), opened, 1.0)
    assert [one.rate_per_s for one in found.classes] == pytest.approx([400.0, 400.0])
    assert opened.workloads[0].connections == MOST_CONNECTIONS


def test_a_share_by_pauses_becomes_a_pause() -> None:
    opened = Opened()
    pausing = SqlClass("pausing", "ranges", 50, capacity_share=0.05, share_by="pauses")
    (found,) = at_capacity(SqlWorkload("w", "f", (pausing,)), opened, 1.0).classes
    assert (found.capacity_share, found.rate_per_s, found.share_by) == (0.0, 0.0, "rate")
    assert found.think_ms == pytest.approx(1000.0), "50 connections, 50 requests a second"


@pytest.mark.parametrize("given", [{"share_by": "pauses"}, {"share_by": "hopes", "capacity_share": 0.5}])
def test_pauses_without_a_share_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=r"class c has the share_by '.*'; it is rate, or pauses with"):
        SqlClass("c", "ranges", 5, **given)


def test_workload_without_shares_opens_nothing() -> None:
    opened = Opened()
    workload = SqlWorkload("w", "f", (OTHER,))
    assert at_capacity(workload, opened) is workload
    assert opened.workloads == []


def test_load_with_an_unmeasured_share_is_refused() -> None:
    workload = SqlWorkload("w", "f", (replace(STEADY, connections=1),))
    with pytest.raises(SettingError, match="class steady of w offers a share of a capacity that was not measured"):
        SqlLoad(workload, Path("nowhere"), dataset("small"))
