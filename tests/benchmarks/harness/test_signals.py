"""An experiment that is ended by a signal leaves no process, and keeps the rows that are done."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[3] / "benchmarks" / "run.py"
KEPT = Path("build/bench/climbers.jsonl")
INTERRUPTED = 130


def eventually(found: Callable[[], bool], patience_s: float = 120.0) -> bool:
    """Whether it comes true; the bound only ends a test that has failed."""
    ends_s = time.monotonic() + patience_s
    while not found() and time.monotonic() < ends_s:
        time.sleep(0.02)
    return found()


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(one) for one in listed.read_text().split()] if listed.exists() else []


def is_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextmanager
def comparison(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A comparison on two processes that would take minutes, once it has kept runs."""
    command = [sys.executable, str(PROGRAM), "climbers", "--processes", "2"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            kept = folder / KEPT
            assert eventually(lambda: kept.exists() and kept.stat().st_size > 0)
            yield process
        finally:
            for pid in (*children(process.pid), process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_workers_and_keeps_the_runs(tmp_path: Path, how: signal.Signals) -> None:
    with comparison(tmp_path) as process:
        pids = children(process.pid)
        assert len(pids) >= 2
        os.kill(process.pid, how)
        assert process.wait(30.0) == INTERRUPTED
    assert eventually(lambda: not any(is_running(pid) for pid in pids), 5.0)
    assert all(json.loads(line) for line in (tmp_path / KEPT).read_text().splitlines())
