"""A load sends what its workload says, sees what sysbench sees, and always ends."""

import re
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.histogram import Histogram
from poolpilot.lab.datasets import dataset
from poolpilot.lab.host.programs import program
from poolpilot.lab.instance import Lab
from poolpilot.lab.sql_workload import Script, SqlClass, SqlWorkload
from poolpilot.lab.sysbench_load import SCRIPTS, Ledger, SqlLoad
from poolpilot.mariadb.session import Session

SMALL = dataset("small")


def workload(*classes: SqlClass) -> SqlWorkload:
    return SqlWorkload("test", "test", classes)


def until(load: SqlLoad, requests: int) -> dict[str, Histogram]:
    while min(latency.count for latency in load.histograms().values()) < requests:
        time.sleep(0.02)
    return dict(load.histograms())


def test_ledger_holds_what_sysbench_counts(loaded_lab: Lab, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger", 4)
    done = subprocess.run(
        [
            program("sysbench"),
            f"--config-file={loaded_lab.load_file}",
            "ranges.lua",
            "--tables=4",
            "--table_size=100000",
            "--threads=4",
            "--events=4000",
            "--time=0",
            f"--ledger={ledger.path}",
            "run",
        ],
        cwd=SCRIPTS,
        capture_output=True,
        text=True,
        check=True,
    )
    seen = ledger.histogram()
    average = re.search(r"avg:\s+([0-9.]+)", done.stdout)
    assert average is not None
    assert seen.count == 4000
    assert seen.mean / 1e3 == pytest.approx(float(average[1]), abs=0.02)
    by_buckets = Histogram.from_sparse(seen.to_sparse())
    assert by_buckets.mean == pytest.approx(seen.mean, rel=0.04)


SCRIPT_OPTIONS: dict[Script, dict[str, float | str]] = {
    "oltp_point_select": {},
    "oltp_read_only": {},
    "oltp_read_write": {},
    "oltp_write_only": {},
    "oltp_update_index": {},
    "analytic": {"query": "group", "rows": 2000},
    "dump": {"rows": 2000},
    "hot_rows": {"rows": 5},
    "ranges": {},
    "reconnect": {},
    "remote_call": {"wait_ms": 2.0},
    "slow_reader": {"rows": 1000, "rows_per_s": 20_000},
    "tpcc": {},
    "user_lock": {"locks": 2, "hold_ms": 1.0},
    "waiting": {"sleep_ms": 1.0},
}


def test_every_script_is_tried() -> None:
    assert SCRIPT_OPTIONS.keys() == set(get_args(Script))


@pytest.mark.parametrize("script", SCRIPT_OPTIONS)
def test_every_script_runs(loaded_lab: Lab, script: Script) -> None:
    sql_class = SqlClass("only", script, 4, options=SCRIPT_OPTIONS[script])
    with SqlLoad(workload(sql_class), loaded_lab.load_file, SMALL) as load:
        seen = until(load, 20)["only"]
    assert 0.0 < seen.quantile(0.5) < 1e7


@pytest.mark.parametrize("query", ["scan", "sort", "group", "join", "digest"])
def test_every_long_query_runs(loaded_lab: Lab, query: str) -> None:
    sql_class = SqlClass("long", "analytic", 2, options={"query": query, "rows": 500, "passes": 2})
    with SqlLoad(workload(sql_class), loaded_lab.load_file, SMALL) as load:
        until(load, 10)


@pytest.mark.parametrize("transaction", ["new_order", "payment", "order_status", "delivery", "stock_level"])
def test_every_transaction_of_order_entry_runs(loaded_lab: Lab, transaction: str) -> None:
    sql_class = SqlClass("only", "tpcc", 2, options={"transaction": transaction})
    with SqlLoad(workload(sql_class), loaded_lab.load_file, SMALL) as load:
        until(load, 5)


def test_sleeping_requests_take_at_least_their_sleep(loaded_lab: Lab) -> None:
    sql_class = SqlClass("only", "waiting", 4, options={"sleep_ms": 20.0})
    with SqlLoad(workload(sql_class), loaded_lab.load_file, SMALL) as load:
        seen = until(load, 20)["only"]
    assert seen.count_below(18_000.0) == 0.0


def told_waits(lab: Lab) -> int:
    with Session(lab.root) as session:
        return int(session.row("SELECT SUM(COUNT) FROM information_schema.THREAD_POOL_WAITS")[0])


def test_remote_calls_wait_and_tell_nobody(loaded_lab: Lab) -> None:
    sql_class = SqlClass("calls", "remote_call", 8, options={"wait_ms": 20.0})
    with SqlLoad(workload(sql_class), loaded_lab.load_file, SMALL) as load:
        until(load, 8)
        before, first = told_waits(loaded_lab), until(load, 0)["calls"].count
        seen = until(load, first + 50)["calls"]
        assert told_waits(loaded_lab) - before < 10
    assert seen.count_below(18_000.0) == 0.0


def test_slow_readers_take_a_result_no_faster_than_they_should(loaded_lab: Lab) -> None:
    sql_class = SqlClass("exports", "slow_reader", 2, options={"rows": 5000, "rows_per_s": 20_000})
    with SqlLoad(workload(sql_class), loaded_lab.load_file, SMALL) as load:
        seen = until(load, 4)["exports"]
    assert seen.count_below(240_000.0) == 0.0


def test_round_trips_keep_rows_locked(loaded_lab: Lab) -> None:
    options: dict[str, float | str] = {"rows": 8, "updates": 2, "round_trip_ms": 10.0}
    with SqlLoad(workload(SqlClass("hot", "hot_rows", 4, options=options)), loaded_lab.load_file, SMALL) as load:
        seen = until(load, 8)["hot"]
    assert seen.count_below(29_000.0) == 0.0


def test_classes_whose_bursts_lie_apart_take_turns(loaded_lab: Lab) -> None:
    turns = [
        SqlClass(f"turn_{n}", "ranges", 2, burst_period_s=1.0, burst_share=0.3, burst_offset=n / 2) for n in (0, 1)
    ]
    with SqlLoad(workload(*turns), loaded_lab.load_file, SMALL) as load:
        until(load, 100)
        counts = {name: latency.count for name, latency in load.histograms().items()}
        both = 0
        for _ in range(40):
            time.sleep(0.05)
            now = {name: latency.count for name, latency in load.histograms().items()}
            both += all(now[name] > counts[name] for name in now)
            counts = now
    assert both <= 10


def test_pauses_and_offered_rates_send_less_than_a_closed_loop(loaded_lab: Lab) -> None:
    closed = SqlClass("closed", "ranges", 4)
    pausing = SqlClass("pausing", "ranges", 4, think_ms=50.0)
    offered = SqlClass("offered", "ranges", 4, rate_per_s=50.0)
    with SqlLoad(workload(closed, pausing, offered), loaded_lab.load_file, SMALL) as load:
        until(load, 10)
        seen = {name: latency.count for name, latency in load.histograms().items()}
    assert seen["closed"] > 5 * max(seen["pausing"], seen["offered"])


def test_what_an_overloaded_rate_cannot_send_in_time_is_given_up(loaded_lab: Lab) -> None:
    sql_class = SqlClass("only", "waiting", 1, rate_per_s=400.0, options={"sleep_ms": 20.0, "patience_ms": 50.0})
    with SqlLoad(workload(sql_class), loaded_lab.load_file, SMALL) as load:
        seen = until(load, 30)["only"]
        assert load.senders[0].ledger.given_up > 0
    assert seen.quantile(1.0) < 1e6


def test_sysbench_that_dies_in_mid_run_is_named(loaded_lab: Lab) -> None:
    sql_class = SqlClass("doomed", "ranges", 2)
    with SqlLoad(workload(sql_class), loaded_lab.load_file, SMALL) as load:
        until(load, 10)
        load.senders[0].process.kill()
        load.senders[0].process.wait()
        with pytest.raises(ServerError, match=r"sysbench of class 'doomed' has stopped in mid-run"):
            load.histograms()


def test_reason_of_sysbench_is_quoted(loaded_lab: Lab) -> None:
    sql_class, unlike = SqlClass("wrong", "analytic", 1), replace(SMALL, tables=99)
    with SqlLoad(workload(sql_class), loaded_lab.load_file, unlike) as load:
        load.senders[0].process.wait(30)
        with pytest.raises(ServerError, match=r"FATAL.*doesn't exist"):
            load.histograms()


def test_password_is_in_no_command_line_and_no_environment(loaded_lab: Lab) -> None:
    with SqlLoad(workload(SqlClass("a", "ranges", 1)), loaded_lab.load_file, SMALL) as load:
        until(load, 5)
        options = dict(line.split("=", 1) for line in loaded_lab.load_file.read_text().splitlines())
        process = Path(f"/proc/{load.senders[0].process.pid}")
        shown = (process / "cmdline").read_text() + (process / "environ").read_text()
    assert options["mysql-password"]
    assert options["mysql-password"] not in shown
    assert options["mysql-user"] == "poolpilot_load"


def test_stop_ends_every_process_and_every_connection(loaded_lab: Lab) -> None:
    load = SqlLoad(workload(SqlClass("a", "ranges", 3), SqlClass("b", "waiting", 3)), loaded_lab.load_file, SMALL)
    until(load, 5)
    processes = [sender.process for sender in load.senders]
    load.stop()
    load.stop()
    assert all(process.poll() is not None for process in processes)
    with Session(loaded_lab.root) as session:
        for _ in range(100):
            if int(session.row("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = 'sbtest'")[0]) == 0:
                return
            time.sleep(0.05)
    pytest.fail("connections of the load are still open")


@pytest.mark.parametrize(
    "wrong", [{"connections": 0}, {"connections": 1025}, {"think_ms": -1.0}, {"burst_share": 0.0}, {"rate_per_s": -1.0}]
)
def test_classes_that_no_load_has_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        SqlClass("wrong", "ranges", **{"connections": 1, **wrong})  # type: ignore[arg-type]
