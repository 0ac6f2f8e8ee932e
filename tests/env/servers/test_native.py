"""The live pool behind the server protocol: it serves, obeys tuples, and gives everything back."""

import os
import random
import resource
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.protocol import MeasurementSettings, observe
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.workload import RequestClass, Step, Workload

pytest.importorskip(
    "poolpilot.native_pool._core", reason="THE NATIVE EXTENSION IS NOT BUILT: the live pool is not tested"
)

from poolpilot.env.environments.live_pool import LivePoolEnv
from poolpilot.env.servers.native import MAX_CONNECTIONS, NativeServer, Pinning, reserve_descriptors
from poolpilot.native_pool.handling import ConnectionHandling

WORKLOAD = Workload(
    name="pauses",
    family="tests",
    classes=(
        RequestClass("quick", (Step("cpu", us=50.0),), share=0.5, target_ms=50.0),
        RequestClass("slow", (Step("wait", us=2000.0, kind="disk_io", reported=True),), share=0.5),
    ),
    connections=8,
    cpus=1,
)
WAITING = replace(
    WORKLOAD,
    classes=(RequestClass("both", (Step("wait", us=20e3), Step("wait", us=20e3, reported=True)), think_ms=30.0),),
)
LOAD_KILLS = int(os.environ.get("POOLPILOT_LOAD_KILLS", "3"))
"""How often a load is killed in mid-flight before its pool is closed."""
SHORT = MeasurementSettings(settle_s=0.05, window_s=0.2, window_ticks=0.0)


@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_pool_serves_every_class_over_both_kinds_of_socket(kind: Literal["unix", "tcp"]) -> None:
    with NativeServer(WORKLOAD, address_kind=kind) as server:
        window = observe(server, 0.3).window
    assert set(window.classes) == {"quick", "slow"}
    assert all(of_class.throughput_per_s > 0.0 for of_class in window.classes.values())
    assert window.profile.features["connections"] == 8.0


def test_load_that_offers_a_rate_begins_anew_under_what_is_in_force() -> None:
    with NativeServer(replace(WORKLOAD, rate_per_s=400.0)) as server:
        in_force = server.apply(PoolTuple(3, 2, 20))
        server.run_for(2.0)
        before = server.load_report()
        server.begin_load_anew()
        assert server.load_report().sent < before.sent
        assert observe(server, 0.3).window.throughput_per_s > 0.0
        assert server.tuple_in_force() == in_force


def test_closed_loop_is_not_begun_anew() -> None:
    with NativeServer(WORKLOAD) as server:
        server.run_for(0.2)
        before = server.load_report()
        server.begin_load_anew()
        assert server.load_report().sent >= before.sent > 0


def test_tuple_is_read_back_and_raises_the_epoch() -> None:
    wanted = PoolTuple(7, 2, 20, create_thread_on_wait=False, idle_timeout_s=5.0)
    with NativeServer(WORKLOAD, initial=PoolTuple(2, 1, 10)) as server:
        assert server.tuple_in_force() == PoolTuple(2, 1, 10)
        before = server.snapshot().tuple_epoch
        assert server.apply(wanted) == server.tuple_in_force() == wanted
        assert server.snapshot().tuple_epoch > before


def test_default_tuple_is_a_group_per_pinned_processor() -> None:
    with NativeServer(WORKLOAD) as server:
        assert server.tuple_in_force() == server.knobs.default_tuple() == PoolTuple(1, 3, 500)


def test_tuple_out_of_range_is_refused_and_the_old_one_stays() -> None:
    with NativeServer(WORKLOAD, max_pool_size=16) as server:
        with pytest.raises(SettingError, match=r"pool_size is 17, outside the allowed range 1\.\.16"):
            server.apply(PoolTuple(17, 3, 500))
        assert server.tuple_in_force() == PoolTuple(1, 3, 500)


def test_nothing_sent_is_lost_and_close_gives_everything_back(left_open: Callable[[], set[str]]) -> None:
    python_threads_before = threading.active_count()
    server = NativeServer(WORKLOAD)
    server.run_for(0.2)
    server.close()
    server.close()
    classes = server.load_report().classes
    assert (
        sum(account.sent for account in classes.values()) == sum(account.completed for account in classes.values()) > 0
    )
    assert left_open() == set()
    assert threading.active_count() <= python_threads_before


def kill_load(server: NativeServer) -> None:
    os.kill(server._load.pids[0], signal.SIGKILL)


def test_load_killed_in_mid_flight_is_told_and_everything_is_closed(left_open: Callable[[], set[str]]) -> None:
    moments = random.Random(1)
    for _ in range(LOAD_KILLS):
        server = NativeServer(WAITING, initial=PoolTuple(8, 3, 500), max_pool_size=8)
        server.run_for(0.3)
        kill_load(server)
        time.sleep(moments.uniform(0.0, 0.01))  # the pool is anywhere in the requests that are left
        with pytest.raises(ServerError, match="the live pool or its load failed: The load process"):
            server.close()
        server.close()
    assert left_open() == set()


def test_closed_server_says_so() -> None:
    with NativeServer(WORKLOAD) as server:
        pass
    for call in (server.snapshot, server.tuple_in_force, lambda: server.apply(PoolTuple(1, 3, 500))):
        with pytest.raises(ServerError, match="the pool is closed: make a new one"):
            call()


@pytest.mark.parametrize(
    ("handling", "own_sockets"),
    [
        (None, False),
        (ConnectionHandling(handler="per_connection"), False),
        (ConnectionHandling(handler="hybrid", hybrid_max_threads=64), True),
    ],
)
def test_handler_is_the_one_asked_for(handling: ConnectionHandling | None, own_sockets: bool) -> None:
    with NativeServer(WORKLOAD, initial=PoolTuple(1, 3, 500), handling=handling) as server:
        server.run_for(0.2)
        snapshot = server.snapshot()
    assert snapshot.counters["completed"] > 0
    assert (snapshot.counters["hand_overs_to_own_socket"] > 0) == own_sockets
    shared = snapshot.counters["dequeues_listener"] + snapshot.counters["dequeues_worker"]
    assert (shared == 0) == (handling is not None and handling.handler == "per_connection")


def test_first_error_is_told_though_closing_has_one_too() -> None:
    def fail_under(server: NativeServer) -> None:
        with server:
            kill_load(server)
            raise KeyError("first")

    with pytest.raises(KeyError, match="first"):
        fail_under(NativeServer(WORKLOAD))


@pytest.mark.parametrize(
    ("workload", "options", "error"),
    [
        (replace(WORKLOAD, connections=0), {}, ServerError),
        (WORKLOAD, {"throttle": "none"}, SettingError),
        (WORKLOAD, {"handler": "oracle"}, SettingError),
        (WORKLOAD, {"handling": ConnectionHandling(hybrid_max_threads=4, hybrid_min_waiting=5)}, SettingError),
        (WORKLOAD, {"initial": PoolTuple(500, 3, 500)}, SettingError),
        (WORKLOAD, {"pinning": Pinning([5000])}, SettingError),
    ],
)
def test_failed_start_leaves_nothing_behind(
    workload: Workload,
    options: dict[str, Any],
    error: type[Exception],
    left_open: Callable[[], set[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(error):
        NativeServer(workload, **options)
    assert left_open() == set()
    assert list(tmp_path.iterdir()) == []


def test_more_connections_than_the_pool_takes_are_refused_by_name() -> None:
    too_many = r"connections is 9, but must be in 1\.\.8: give the pool a larger max_connections"
    with pytest.raises(SettingError, match=too_many):
        NativeServer(replace(WORKLOAD, connections=9), max_connections=8)
    with pytest.raises(SettingError, match=rf"connections is 5000, but must be in 1\.\.{MAX_CONNECTIONS}:"):
        NativeServer(replace(WORKLOAD, connections=5000))
    with NativeServer(WORKLOAD, max_connections=8) as server:
        assert observe(server, 0.1).window.profile.features["connections"] == 8.0


def test_too_few_descriptors_is_one_sentence_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    with pytest.raises(ServerError, match="may have 4096; run `ulimit -n 4097` as root"):
        reserve_descriptors(4097)


def test_soft_limit_of_descriptors_is_raised() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        reserve_descriptors(300)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (300, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_live_environment_keeps_the_contract_and_gives_everything_back(left_open: Callable[[], set[str]]) -> None:
    env = LivePoolEnv([WORKLOAD], settings=SHORT, grid=ActionGrid((1, 8), (3,), (10,)), horizon=2)
    for seed in range(2):
        observation, info = env.reset(seed=seed)
        assert env.observation_space.contains(observation)
        assert info["action_mask"].tolist() == [1, 1]
        ends = []
        for action in (0, 1):
            observation, reward, terminated, truncated, info = env.step(np.int64(action))
            assert env.observation_space.contains(observation)
            assert np.isfinite(reward)
            ends.append((terminated, truncated))
        assert ends == [(False, False), (True, False)]
        assert info["pool_tuple"]["pool_size"] == 8
    env.close()
    assert left_open() == set()
