"""The suite has every kind of workload that was asked for, drawn alike every time, and each of them runs."""

import json
import time
from collections import Counter
from dataclasses import replace

import pytest

from poolpilot.errors import SettingError
from poolpilot.lab.datasets import dataset
from poolpilot.lab.instance import Lab
from poolpilot.lab.sealed_sql_families import SEALED
from poolpilot.lab.side.side_session import SideSession
from poolpilot.lab.sql_workload import SqlClass, SqlWorkload
from poolpilot.lab.sysbench_families import FAMILIES
from poolpilot.lab.sysbench_load import SqlLoad
from suite.expectations import EXPECTATIONS
from suite.suite_cells import DRAWS, SUITE, named_cells, suite_cells
from suite.suite_families import OPEN

SHORT_CYCLE_S = 0.9


def test_every_family_has_three_draws_that_differ() -> None:
    cells = suite_cells()
    assert Counter(cell.workload.family for cell in cells) == dict.fromkeys(SUITE, DRAWS)
    for name in SUITE:
        drawn = [cell.workload for cell in cells if cell.workload.family == name]
        assert len({(repr(one.classes), one.seed) for one in drawn}) == DRAWS


def test_every_workload_may_stand_in_a_file() -> None:
    for cell in suite_cells():
        assert SqlWorkload.from_dict(json.loads(json.dumps(cell.workload.as_dict()))) == cell.workload


def test_draws_are_the_same_every_time() -> None:
    assert suite_cells() == suite_cells()
    assert suite_cells(seed=19) != suite_cells()


def test_every_family_has_a_direction_and_every_direction_a_family() -> None:
    assert EXPECTATIONS.keys() == {family.name for family in (*OPEN, *SEALED)}
    assert {one.verdict for one in EXPECTATIONS.values()} == {"change", "flat", "abstain", "hold"}
    assert all(one.limit and one.why and one.source for one in EXPECTATIONS.values())


def test_a_third_is_lightly_loaded_and_asks_for_no_change() -> None:
    light = [cell for cell in suite_cells(draws=1) if is_light(cell.workload)]
    assert len(light) / len(SUITE) == pytest.approx(1 / 3, abs=0.04)
    assert {cell.expectation.verdict for cell in light} == {"flat", "hold"}
    assert sum(cell.sealed for cell in light) == 3
    shares = {one.capacity_share for cell in light for one in cell.workload.classes}
    assert shares >= {0.05, 0.2, 0.5, 0.8}


def is_light(workload: SqlWorkload) -> bool:
    """Whether all of its classes pause or are offered no more than the server completes."""
    return all(one.think_ms >= 100.0 or one.capacity_share for one in workload.classes) and (
        sum(one.capacity_share for one in workload.classes) < 1.0
    )


def test_nine_families_are_sealed_and_nothing_learns_from_the_others_unasked() -> None:
    assert sum(cell.sealed for cell in suite_cells(draws=1)) == 9
    assert not {family.name for family in OPEN} & FAMILIES.keys()


def test_names_choose_families_and_workloads() -> None:
    cells = suite_cells()
    assert len(named_cells([], cells)) == len(cells)
    assert len(named_cells(["shifting"], cells)) == DRAWS
    assert [cell.workload.name for cell in named_cells(["shifting-18-1"], cells)] == ["shifting-18-1"]
    with pytest.raises(SettingError, match="no workload 'nothing' in the suite; its families are points_beside_scans"):
        named_cells(["nothing"], cells)


def in_haste(workload: SqlWorkload) -> SqlWorkload:
    """The same with short cycles, and rates in place of shares of a capacity; its shape stays."""

    def hastened(one: SqlClass) -> SqlClass:
        rate = {"capacity_share": 0.0, "share_by": "rate", "rate_per_s": 200.0} if one.capacity_share else {}
        period = {"burst_period_s": SHORT_CYCLE_S} if one.burst_period_s else {}
        return replace(one, **rate, **period)  # type: ignore[arg-type]

    return replace(workload, classes=tuple(map(hastened, workload.classes)))


@pytest.mark.parametrize("name", SUITE)
def test_every_workload_runs(loaded_lab: Lab, name: str) -> None:
    """On one server for all of them: what differs between servers is tried in `test_lab_server.py`."""
    workload = in_haste(named_cells([name], suite_cells(draws=1))[0].workload)
    with SqlLoad(workload, loaded_lab.load_file, dataset("small")) as load:
        side = SideSession(workload.side, loaded_lab.root) if workload.side else None
        try:
            while min(latency.count for latency in load.histograms().values()) < 1:
                time.sleep(0.02)
        finally:
            if side is not None:
                side.stop()
