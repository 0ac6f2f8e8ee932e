"""The slow disk delays reads, writes and flushes of a program by what its file says, and changes while it runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from poolpilot.errors import SettingError
from poolpilot.lab.host.slow_disk import LAYOUT, SlowDisk

PROGRAM = """
import os, sys, time
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
def timed(what):
    began = time.monotonic()
    what()
    return time.monotonic() - began
def measure():
    print(timed(lambda: os.pwrite(descriptor, b"x", 0)), timed(lambda: os.pread(descriptor, 1, 0)),
          timed(lambda: os.fsync(descriptor)), flush=True)
measure()
sys.stdin.readline()
measure()
"""


def test_delays_hold_from_the_next_operation_on(tmp_path: Path) -> None:
    disk = SlowDisk(tmp_path / "control")
    disk.set(1, 2, 3)
    environment = {**os.environ, **disk.environment()}
    assert disk.control.read_bytes() == LAYOUT.pack(0, 0, 0), "every server starts alike"
    disk.set(300_000, 100_000, 200_000)
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "file")],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        write_s, read_s, flush_s = map(float, process.stdout.readline().split())
        assert write_s >= 0.1
        assert read_s >= 0.3
        assert flush_s >= 0.2
        disk.set(0, 0, 0)
        process.stdin.write("\n")
        process.stdin.flush()
        _, read_s, _ = map(float, process.stdout.readline().split())
        assert read_s < 0.3


def test_without_its_file_the_library_delays_nothing_and_does_no_harm(tmp_path: Path) -> None:
    environment = {**os.environ, **SlowDisk(tmp_path / "control").environment()}
    del environment["POOLPILOT_SLOW_DISK"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "file")],
        env=environment,
        input="\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.parametrize("delays", [(-1, 0, 0), (0, 10_000_001, 0)])
def test_delays_out_of_range_are_refused_and_nothing_is_written(tmp_path: Path, delays: tuple[int, int, int]) -> None:
    disk = SlowDisk(tmp_path / "control")
    disk.set(1, 2, 3)
    with pytest.raises(SettingError, match=r"0\.\.10000000"):
        disk.set(*delays)
    assert disk.control.read_bytes() == LAYOUT.pack(1, 2, 3)
