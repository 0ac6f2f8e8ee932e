"""A connection for every request, against the live pool."""

import time
from pathlib import Path
from typing import Literal

import pytest

from poolpilot.native_pool import LivePool
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.workload import RequestClass, Workload

CLOSED = Workload("reconnecting", "test", (RequestClass("all", ()),), connections=8)


@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_every_request_is_a_connection_that_the_pool_gives_back(kind: Literal["unix", "tcp"], tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 'pool.socket'}" if kind == "unix" else "tcp:127.0.0.1:0"
    pool = LivePool(address=address, class_names=["all"])
    pool.start()
    try:
        settings = LoadSettings(reconnect=True, reset_on_close=kind == "tcp", processes=2)
        with Load(pool.address, CLOSED, settings=settings) as load:
            load.run_for(0.3)
            report = load.stop()
        assert report.sent == report.completed == int(pool.snapshot()["counters"]["completed"]) > 0
        assert report.errors == {}
        deadline_s = time.monotonic() + 30.0
        while pool.snapshot()["gauges"]["connections"]:
            assert time.monotonic() < deadline_s
            time.sleep(0.01)
    finally:
        pool.close()
