"""What a process has used, as the kernel tells it."""

import os
import resource
import time

import pytest

from poolpilot.pipelines.bench.serving.usage import ProcessUsage


def test_usage_grows_with_the_work_done() -> None:
    before = ProcessUsage.of(os.getpid())
    until_s = time.process_time() + 0.1
    while time.process_time() < until_s:
        pass
    time.sleep(0.001)
    kept = bytearray(50 << 20)
    after = ProcessUsage.of(os.getpid())
    own = resource.getrusage(resource.RUSAGE_SELF)
    assert 0.05 < after.cpu_s - before.cpu_s <= own.ru_utime + own.ru_stime
    assert after.switches > before.switches
    assert after.resident_bytes - before.resident_bytes > 0.9 * len(kept)
    assert after.threads >= 1


def test_a_process_that_is_gone_has_none() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(FileNotFoundError):
        ProcessUsage.of(child)
