"""A generator that was the bottleneck says so, and one that was not is silent."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from poolpilot.native_pool import LivePool, LoadGenerator
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.load_report import LoadReport, LoopTimes
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.load_warning import warning_of
from poolpilot.native_pool.workload import RequestClass, Workload

OPEN = Workload("open", "test", (RequestClass("all", ()),), connections=8, rate_per_s=2000.0)
RESTED = LoopTimes(wall_s=10.0, cpu_s=2.0, waited_s=1.0)


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[LivePool]:
    serving = LivePool(address=f"unix:{tmp_path / 'pool.socket'}", class_names=["all"])
    serving.start()
    yield serving
    serving.close()


def report_of(delays_us: dict[int, int], *loops: LoopTimes) -> LoadReport:
    counts = np.zeros(LoadGenerator.BUCKETS, dtype=np.int64)
    for delay_us, count in delays_us.items():
        counts[LoadGenerator.bucket_of(delay_us)] += count
    total_us = float(sum(delay_us * count for delay_us, count in delays_us.items()))
    return LoadReport(10.0, 0, 0, 0, 0, 8, 3.0, {}, {}, counts, total_us, loops)


def test_requests_in_time_from_loops_that_rest_warn_of_nothing() -> None:
    assert warning_of(report_of({20: 990, 5000: 10}, RESTED, RESTED), LoadSettings()) is None
    assert warning_of(report_of({}, RESTED), LoadSettings()) is None
    assert warning_of(report_of({}, LoopTimes(0.0, 0.0, 0.0)), LoadSettings()) is None


def test_late_requests_are_told_with_their_share_and_the_limit() -> None:
    late = report_of({20: 900, 5000: 100}, RESTED)
    assert late.share_later_than(1.0) == 0.1
    expected = (
        "The load generator was a bottleneck: 10.0% of the scheduled requests left more than 1 ms late; "
        "give it more processes or processors."
    )
    assert warning_of(late, LoadSettings()) == expected
    assert warning_of(late, LoadSettings(late_share=0.1)) is None
    assert warning_of(late, LoadSettings(late_after_ms=6.0)) is None
    assert warning_of(report_of({5000: 99}, RESTED), LoadSettings()) is None


def test_a_loop_without_rest_is_told_by_its_number() -> None:
    busy = report_of({20: 1}, RESTED, LoopTimes(wall_s=10.0, cpu_s=6.0, waited_s=3.5))
    warning = warning_of(busy, LoadSettings())
    assert warning is not None
    assert "process 2 of 2 was busy 95% of its time, 35% of it waiting for a processor" in warning
    assert warning_of(busy, LoadSettings(busy_share=0.96)) is None


@pytest.mark.parametrize("name", ["late_share", "busy_share"])
def test_a_share_beyond_the_whole_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValidationError, match=name):
        LoadSettings.model_validate({name: 1.5})


def test_a_process_that_was_held_up_counts_the_time_and_warns(pool: LivePool) -> None:
    with Load(pool.address, OPEN, settings=LoadSettings(late_after_ms=50.0)) as load:
        load.run_for(0.2)
        os.kill(load.pids[0], signal.SIGSTOP)
        time.sleep(0.4)
        os.kill(load.pids[0], signal.SIGCONT)
        load.run_for(0.2)
        report = load.stop()
    late = report.share_later_than(50.0) * report.send_delay_counts.sum()
    assert late > 300  # of some 700 due in the first 350 ms
    waited = report.classes["all"].latency_counts[LoadGenerator.bucket_of(50_000) :].sum()
    assert waited >= late  # a latency begins when the request was due
    assert report.warning is not None
    assert "of the scheduled requests left more than 50 ms late" in report.warning


def test_the_loops_of_all_processes_are_reported(pool: LivePool) -> None:
    wide = LoadSettings(processes=2, busy_share=1.0, late_share=1.0)
    with Load(pool.address, replace(OPEN, rate_per_s=100.0), settings=wide) as load:
        load.run_for(0.3)
        report = load.stop()
    assert len(report.loops) == 2
    assert all(0.0 < loop.cpu_s < loop.wall_s for loop in report.loops)
    assert report.send_delay_counts.sum() == report.sent + report.unsent
    assert report.warning is None
