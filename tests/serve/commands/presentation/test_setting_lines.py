"""The lines that a DBA copies: only what differs is set, capacity first; my.cnf has the whole configuration."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.commands.presentation.setting_lines import SettingLines, lines_to_keep

STOCK = PoolTuple(2, 3, 500)


def target_of(backend: str) -> Target:
    """A curve that says it is something else."""
    curve = CurveServer([(1, 100.0), (16, 1600.0)])
    return Target(curve, Objective(), "db1", origin={"backend": backend})


def test_what_differs_is_set_and_all_of_it_is_kept() -> None:
    lines = SettingLines.between(STOCK, PoolTuple(16, 3, 10))
    assert lines.statements == ("SET GLOBAL thread_pool_size = 16;", "SET GLOBAL thread_pool_stall_limit = 10;")
    assert lines.fragment == (
        "[mariadb]",
        "thread_pool_size = 16",
        "thread_pool_oversubscribe = 3",
        "thread_pool_stall_limit = 10",
    )


def test_capacity_is_added_before_it_is_taken_away() -> None:
    first, *_, last = SettingLines.between(PoolTuple(32, 3, 500), PoolTuple(4, 8, 10)).statements
    assert (first, last) == ("SET GLOBAL thread_pool_oversubscribe = 8;", "SET GLOBAL thread_pool_size = 4;")


def test_a_timeout_that_was_searched_too_is_kept_and_no_knob_that_a_server_lacks() -> None:
    found = replace(STOCK, idle_timeout_s=5.0, create_thread_on_wait=False)
    lines = SettingLines.between(STOCK, found)
    assert lines.statements == ("SET GLOBAL thread_pool_idle_timeout = 5;",)
    assert lines.fragment[-1] == "thread_pool_idle_timeout = 5"


def test_nothing_is_said_where_nothing_changes() -> None:
    out = io.StringIO()
    SettingLines.between(STOCK, STOCK).print(Console(file=out))
    assert out.getvalue() == ""
    assert SettingLines.between(STOCK, STOCK).as_dict() == {"statements": [], "fragment": []}


def test_lines_are_printed_whole_on_a_narrow_terminal() -> None:
    out = io.StringIO()
    SettingLines.between(STOCK, PoolTuple(16, 3, 10)).print(Console(file=out, width=20, markup=False))
    said = out.getvalue().splitlines()
    assert {"SET GLOBAL thread_pool_stall_limit = 10;", "[mariadb]", "thread_pool_stall_limit = 10"} <= set(said)


@pytest.mark.parametrize("backend", ["native", "simulated", "curve", "own"])
def test_only_a_mariadb_is_set_by_sql(backend: str) -> None:
    assert lines_to_keep(target_of(backend), STOCK, PoolTuple(16, 3, 10)) == SettingLines()


def test_what_stays_in_force_needs_my_cnf_alone() -> None:
    lines = lines_to_keep(target_of("mariadb"), STOCK, PoolTuple(16, 3, 10), kept=True)
    assert lines.statements == ()
    assert lines.fragment == SettingLines.between(STOCK, PoolTuple(16, 3, 10)).fragment
