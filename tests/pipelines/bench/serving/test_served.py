"""Servers in processes of their own: they answer, tell what they count, refuse in a sentence, and end."""

import os

import pytest

from poolpilot.errors import ServerError
from poolpilot.native_pool.load import Load
from poolpilot.pipelines.bench.serving.served import PoolProcess, Served
from poolpilot.pipelines.bench.serving.works import closed_loop

CPUS = tuple(os.sched_getaffinity(0))


def test_pool_serves_and_tells_what_it_counts() -> None:
    served = Served("pool", CPUS, options={"handler": "hybrid", "class_names": ["null"]})
    with PoolProcess(served) as server:
        with Load(server.address, closed_loop("null", 4)) as load:
            load.run_for(0.1)
            report = load.stop()
        assert server.call("snapshot")["counters"]["completed"] == report.completed > 0
        with pytest.raises(ServerError, match="max_threads is 0, but must be in"):
            server.call("set_knobs", max_threads=0)
        assert server.call("set_knobs", max_threads=50)["max_threads"] == 50


def test_echo_loop_answers() -> None:
    with PoolProcess(Served("echo", CPUS)) as server, Load(server.address, closed_loop("null", 4)) as load:
        load.run_for(0.1)
        report = load.stop()
        assert report.completed == report.sent > 0


def test_what_cannot_be_opened_is_refused_in_a_sentence() -> None:
    with pytest.raises(ServerError, match="handler is 'oracle', but must be one of"):
        PoolProcess(Served("pool", CPUS, options={"handler": "oracle"}))


def test_process_ends_with_its_server() -> None:
    server = PoolProcess(Served("echo", CPUS))
    pid = server.pid
    server.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_process_that_has_died_is_told() -> None:
    server = PoolProcess(Served("echo", CPUS))
    os.kill(server.pid, 9)
    with pytest.raises(ServerError, match="has ended"):
        server.call("snapshot")
    server.close()
