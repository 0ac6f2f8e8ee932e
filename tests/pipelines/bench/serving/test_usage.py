"""What a process has used, as the kernel tells it."""

import os
import resource
import subprocess
import sys
import time

import pytest

from poolpilot.pipelines.bench.serving.usage import ProcessUsage

KEPT_BYTES = 50 << 20


def test_time_and_switches_grow_with_the_work_done() -> None:
    before = ProcessUsage.of(os.getpid())
    until_s = time.process_time() + 0.1
    while time.process_time() < until_s:
        pass
    time.sleep(0.001)
    after = ProcessUsage.of(os.getpid())
    own = resource.getrusage(resource.RUSAGE_SELF)
    assert 0.05 < after.cpu_s - before.cpu_s <= own.ru_utime + own.ru_stime
    assert after.switches > before.switches
    assert after.threads >= 1


def test_memory_grows_by_what_a_process_keeps() -> None:
    # A child, because the memory of the process that runs the tests also shrinks: other threads give theirs back.
    keeps = f"print(); input(); kept = bytearray({KEPT_BYTES}); print(); input()"
    used = []
    with subprocess.Popen([sys.executable, "-uc", keeps], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(2):
            child.stdout.readline()
            used.append(ProcessUsage.of(child.pid).resident_bytes)
            child.stdin.write(b"\n")
            child.stdin.flush()
    assert used[1] - used[0] > 0.9 * KEPT_BYTES


def test_a_process_that_is_gone_has_none() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(FileNotFoundError):
        ProcessUsage.of(child)
