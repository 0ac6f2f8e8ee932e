"""Options of scripts are those of their Lua files, and others are refused with what there is."""

import re
from pathlib import Path
from typing import get_args

import pytest

from poolpilot.errors import SettingError
from poolpilot.lab.datasets import LUA, check_tables
from poolpilot.lab.script_options import (
    OF_EVERY_SCRIPT,
    OF_OURS,
    OF_SYSBENCH,
    OptionValue,
    ScriptOption,
    check_options,
)
from poolpilot.lab.side.side_job import SideJob
from poolpilot.lab.sql_workload import Script, SqlClass, SqlWorkload

OF_THE_DATA = {"tables", "table_size"}
"""What the data set says."""

OPTION = re.compile(r"^ +(\w+) =\s*\{(?:\"[^\"]*\"(?: \.\.\s*)?)+, ([^}]+)\}", re.MULTILINE)


def in_lua(file: Path) -> dict[str, str]:
    """Defaults of the options that a Lua file declares, as it has them."""
    return {name: default.strip().strip('"') for name, default in OPTION.findall(file.read_text(encoding="utf-8"))}


def defaults(options: dict[str, ScriptOption]) -> dict[str, str]:
    return {name: str(one.default) for name, one in options.items()}


@pytest.mark.parametrize("script", OF_OURS)
def test_options_of_ours_are_those_of_lua(script: str) -> None:
    declared = {name: default for name, default in in_lua(LUA / f"{script}.lua").items() if name not in OF_THE_DATA}
    assert declared == defaults(dict(OF_OURS[script]))


def test_options_of_every_script_are_those_of_the_client() -> None:
    declared = in_lua(LUA / "client.lua")
    fields = {"ledger", "think_ms", "rate_per_s", "burst_period_s", "burst_share", "burst_offset"}
    assert {name: declared[name] for name in declared.keys() - fields} == defaults(dict(OF_EVERY_SCRIPT))


def test_options_of_sysbench_are_those_of_its_own_scripts() -> None:
    declared = in_lua(Path("/usr/share/sysbench/oltp_common.lua"))
    words = {"off": "false", "on": "true"}
    told = {name: words.get(default, default) for name, default in defaults(dict(OF_SYSBENCH)).items()}
    assert {name: declared[name] for name in told} == told


def test_every_script_is_ours_or_of_sysbench() -> None:
    assert {one for one in get_args(Script) if not one.startswith("oltp_")} == OF_OURS.keys()


@pytest.mark.parametrize(
    ("script", "options", "sentence"),
    [
        ("ranges", {"row": 20}, "sets the option 'row', which ranges does not have; there are rows, patience_ms"),
        ("ranges", {"rows": 0}, r"has the rows 0; allowed is a whole number in 1\.\.1,000,000,000"),
        ("ranges", {"rows": 2.5}, "a whole number"),
        ("ranges", {"rows": "20"}, "has the rows '20'"),
        ("hot_rows", {"rows": 1001}, r"1\.\.1,000"),
        ("hot_rows", {"round_trip_ms": float("nan")}, "round_trip_ms nan"),
        ("analytic", {"query": "skan"}, "has the query 'skan'; allowed is scan, sort, group, join, digest"),
        ("tpcc", {"transaction": "payments"}, "'payments'"),
        ("oltp_read_only", {"rows": 20}, "which oltp_read_only does not have; there are range_size"),
        ("oltp_read_only", {"skip_trx": "yes"}, "allowed is off, on"),
        ("reconnect", {"rows": 20}, "there are patience_ms"),
    ],
)
def test_what_a_script_does_not_take_is_refused(script: str, options: dict[str, OptionValue], sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        check_options("reads", script, options)


def test_what_a_script_takes_is_taken() -> None:
    check_options("reads", "ranges", {"rows": 20.0, "patience_ms": 50.5})
    check_options("reads", "oltp_read_only", {"point_selects": 0, "skip_trx": "on"})


@pytest.mark.parametrize(
    ("script", "options", "data", "sentence"),
    [
        ("tpcc", {"warehouses": 20}, "small", "wants 20 warehouses, but the data set 'small' has 4; 'orders' has 20"),
        ("ranges", {}, "empty", "sends ranges, but the data set 'empty' has no tables"),
        ("remote_call", {}, "empty", "has no tables"),
    ],
)
def test_class_whose_tables_there_are_not_is_refused(
    script: Script, options: dict[str, OptionValue], data: str, sentence: str
) -> None:
    only = SqlClass("only", script, 1, options=options)
    with pytest.raises(SettingError, match=sentence):
        check_tables(SqlWorkload("w", "f", (only,), dataset=data))  # type: ignore[arg-type]


def test_side_job_whose_table_there_is_not_is_refused() -> None:
    waiting = (SqlClass("only", "waiting", 1),)
    check_tables(SqlWorkload("w", "f", waiting, dataset="empty", side=SideJob("backup_stage")))
    with pytest.raises(SettingError, match="the side job table_lock needs a table, but the data set 'empty' has none"):
        check_tables(SqlWorkload("w", "f", waiting, dataset="empty", side=SideJob("table_lock")))


def test_class_that_needs_no_table_goes_with_any_data_set() -> None:
    check_tables(SqlWorkload("w", "f", (SqlClass("only", "waiting", 1),), dataset="empty"))
