"""`poolpilot bench climbers` that is ended by a signal leaves no process, and keeps the runs that are done."""

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

SETTINGS = (
    *("--set=controllers=spectral,dotnet", "--set=shapes=arch", "--set=scales=8", "--set=shift_scales=32"),
    *("--set=noises=0.05", "--set=starts=one", "--seeds", "2000", "--set=samples=32", "--set=processes=2"),
)
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
def comparison(kept: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A comparison on two processes that would take minutes, once it has kept runs."""
    script = "from poolpilot.serve.commands.main import main; main()"
    command = [sys.executable, "-c", script, "bench", "climbers", *SETTINGS, "--runs", str(kept)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            assert eventually(lambda: kept.exists() and kept.stat().st_size > 0)
            yield process
        finally:
            for pid in (*children(process.pid), process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_workers_and_keeps_the_runs(tmp_path: Path, how: signal.Signals) -> None:
    kept = tmp_path / "runs.jsonl"
    with comparison(kept) as process:
        pids = children(process.pid)
        assert len(pids) >= 2
        os.kill(process.pid, how)
        assert process.wait(30.0) == INTERRUPTED
    assert eventually(lambda: not any(is_running(pid) for pid in pids), 5.0)
    assert all(json.loads(line) for line in kept.read_text().splitlines())
