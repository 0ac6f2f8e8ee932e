"""Steal is a share of the ticks that passed, and idle time a number of them."""

import os
from pathlib import Path

from poolpilot.env.measurement.steal import StealMeter, idle_us_so_far


def test_share_is_steal_over_all_ticks_passed(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 100 800 0 0 0 10 0 0\ncpu0 1 2\n")
    meter = StealMeter(stat)
    assert meter.share() == 0.0
    stat.write_text("cpu  150 0 110 820 0 0 0 30 0 0\n")
    assert meter.share() == 0.2


def test_unreadable_or_short_counters_are_unknown(tmp_path: Path) -> None:
    assert StealMeter(tmp_path / "absent").share() is None
    (tmp_path / "old").write_text("cpu  1 2 3 4\n")
    assert StealMeter(tmp_path / "old").share() is None


def test_idle_time_is_what_nobody_used_waiting_for_disks_included(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 100 800 50 0 0 10 0 0\ncpu0 1 2\n")
    assert idle_us_so_far(stat) == 850 * 1e6 / os.sysconf("SC_CLK_TCK")
    assert idle_us_so_far(tmp_path / "absent") is None
