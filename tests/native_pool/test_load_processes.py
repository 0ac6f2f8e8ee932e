"""One load in several processes: parts that add up, and no process left behind whatever happens."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from poolpilot.errors import LoadError
from poolpilot.native_pool import LivePool
from poolpilot.native_pool.load import CONNECTIONS_A_PROCESS, Load, number_of_processes
from poolpilot.native_pool.load_report import LoadReport
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.workload import RequestClass, Step, Workload

CLASSES = (RequestClass("short", (), share=1.0), RequestClass("long", (Step("cpu", us=20.0),), share=3.0))
CLOSED = Workload("closed", "test", CLASSES, connections=11)
THREE = LoadSettings(processes=3)

SCRIPT = """
import sys, time
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.workload import RequestClass, Workload

workload = Workload("closed", "test", (RequestClass("all", ()),), connections=4)
with Load(sys.argv[1], workload, settings=LoadSettings(processes=2)) as load:
    print(*load.pids, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[LivePool]:
    serving = LivePool(address=f"unix:{tmp_path / 'pool.socket'}", class_names=["short", "long"])
    serving.start()
    yield serving
    serving.close()


def completed_by(pool: LivePool) -> int:
    return int(pool.snapshot()["counters"]["completed"])


def wait_until_completed(pool: LivePool, requests: int) -> None:
    deadline_s = time.monotonic() + 60.0
    while completed_by(pool) < requests:
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    """Whether a process has ended, be it that nobody has asked how."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def assert_end(pids: Sequence[int]) -> None:
    deadline_s = time.monotonic() + 30.0
    while not all(is_gone(pid) for pid in pids):
        assert time.monotonic() < deadline_s, pids
        time.sleep(0.01)


def assert_all_answered(report: LoadReport) -> None:
    assert report.sent == report.completed > 0
    assert (report.failed, report.lost, report.unexpected, report.backlog, report.dropped) == (0, 0, 0, 0, 0)
    assert report.errors == {}
    for one in report.classes.values():
        assert one.latency_counts.sum() == one.completed


def test_the_parts_add_up_to_the_whole(pool: LivePool) -> None:
    with Load(pool.address, CLOSED, settings=THREE) as load:
        while min(one.sent for one in load.report().classes.values()) == 0:
            time.sleep(0.01)
        assert load.report().connections == pool.snapshot()["gauges"]["connections"] == 11
        final = load.stop()
    assert_all_answered(final)
    assert final.completed == completed_by(pool)
    assert final.connections == 0
    assert_end(load.pids)


def test_one_report_holds_what_all_processes_counted(pool: LivePool) -> None:
    with Load(pool.address, CLOSED) as first, Load(pool.address, CLOSED) as second:
        wait_until_completed(pool, 500)
        reports = [first.stop(), second.stop()]
    whole = LoadReport.merged(reports)
    assert whole.completed == reports[0].completed + reports[1].completed == completed_by(pool)
    assert reports[0].time_s < whole.time_s < reports[1].time_s
    for name, one in whole.classes.items():
        parts = [report.classes[name] for report in reports]
        assert (one.latency_counts == parts[0].latency_counts + parts[1].latency_counts).all()
        assert one.latency_total_us == parts[0].latency_total_us + parts[1].latency_total_us
    broken = [replace(reports[0], errors={"connection_reset": 2}), replace(reports[1], errors={"connection_reset": 3})]
    assert LoadReport.merged(broken).errors == {"connection_reset": 5}


def test_a_new_rate_reaches_every_process(pool: LivePool) -> None:
    with Load(pool.address, replace(CLOSED, rate_per_s=0.001), settings=THREE) as load:
        load.set_rate(6000.0)
        before = load.report()
        load.run_for(0.5)
        after = load.report()
        assert_all_answered(load.stop())
    arrivals = after.sent + after.backlog - before.sent - before.backlog
    assert arrivals / (after.time_s - before.time_s) == pytest.approx(6000.0, rel=0.25)  # two of three: 4,000


def test_a_process_that_dies_is_named_and_the_others_are_ended(pool: LivePool) -> None:
    with Load(pool.address, CLOSED, settings=THREE) as load:
        os.kill(load.pids[1], signal.SIGKILL)
        with pytest.raises(LoadError, match=r"^The load process 2 of 3 (ended unexpectedly|has ended)"):
            load.run_for(60.0)
        assert_end(load.pids)


def test_a_death_is_noticed_while_the_load_runs(pool: LivePool) -> None:
    with Load(pool.address, CLOSED, settings=THREE) as load:
        death = threading.Timer(0.2, os.kill, (load.pids[2], signal.SIGKILL))
        death.start()
        begin_s = time.monotonic()
        with pytest.raises(LoadError, match=r"^The load process 3 of 3 "):
            load.run_for(120.0)
        assert time.monotonic() - begin_s < 60.0
        death.join()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_process_outlives_its_parent(pool: LivePool, how: signal.Signals) -> None:
    command = [sys.executable, "-c", SCRIPT, pool.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        wait_until_completed(pool, 100)
        parent.send_signal(how)
        parent.wait(30.0)
    assert_end(pids)


def test_a_failed_start_leaves_no_process(pool: LivePool) -> None:
    with pytest.raises(LoadError, match=r"^Cannot connect to unix:/nonexistent: "):
        Load("unix:/nonexistent", CLOSED, settings=THREE)
    with pytest.raises(LoadError, match=r"^processes is 12, but must be in 1\.\.11, the number of connections\.$"):
        Load(pool.address, CLOSED, settings=LoadSettings(processes=12))


def test_processes_follow_the_connections_up_to_the_processors() -> None:
    cpus = [0, 1, 2]
    few, many = CONNECTIONS_A_PROCESS, CONNECTIONS_A_PROCESS + 1
    assert [number_of_processes(None, connections, cpus) for connections in (1, few, many, 65_536)] == [1, 1, 2, 3]
    assert number_of_processes(None, 65_536, None) == min(16, len(os.sched_getaffinity(0)))
    assert number_of_processes(5, 65_536, cpus) == 5
