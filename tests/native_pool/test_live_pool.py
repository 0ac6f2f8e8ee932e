"""The live pool through Python, under the load generator: nothing lost, nothing left, every decision replayed."""

import random
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from poolpilot.native_pool import LivePool
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.workload import RequestClass, Step, Workload

MIXED = (
    RequestClass(
        "mixed",
        (
            Step("cpu", us=20),
            Step("wait", us=1500, reported=True),
            Step("acquire", latch=1, spread=4, spin_us=20, reported=True),
            Step("cpu", us=10),
            Step("release", latch=1, spread=4),
        ),
        share=0.7,
    ),
    RequestClass("transaction", (Step("begin"), Step("wait", us=500), Step("commit")), share=0.3),
)


def change_at_random(pool: LivePool, changes: int, pause_s: float) -> None:
    rng = random.Random(1)
    for _ in range(changes):
        pool.set_tuple(
            pool_size=rng.randint(1, 128),
            oversubscribe=rng.choice([1, 3, 10]),
            timer_interval_ms=rng.choice([1, 10, 500]),
            create_thread_on_wait=rng.random() < 0.8,
            idle_timeout_s=rng.choice([0.05, 1.0, 60.0]),
        )
        time.sleep(pause_s)


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_1024_connections_survive_a_thousand_changes_of_the_tuple(
    kind: str, tmp_path: Path, left_open: Callable[[], set[str]]
) -> None:
    address = "tcp:127.0.0.1:0" if kind == "tcp" else f"unix:{tmp_path / 'pool.sock'}"
    pool = LivePool(address=address, pool_size=2, class_names=["mixed", "transaction"], record_events=True)
    pool.start()
    with Load(pool.address, Workload("changes", "test", MIXED, connections=1024)) as load:
        change_at_random(pool, 1000, pause_s=0.003)
        pool.set_tuple(pool_size=16, oversubscribe=3, timer_interval_ms=10)
        report = load.stop()
    completed = pool.snapshot()["counters"]["completed"]
    pool.close()
    assert report.sent == report.completed == completed > 1000
    assert (report.unexpected, report.lost, report.failed) == (0, 0, 0)
    recorded, same = pool.replayed_events()
    assert recorded == same > 10_000
    assert left_open() == set()


def test_waiting_for_the_pool_leaves_python_free() -> None:
    pool = LivePool(pool_size=1)
    pool.start()
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1

    counter = threading.Thread(target=count)
    counter.start()
    try:
        for size in range(1, 100):
            pool.set_tuple(pool_size=size, oversubscribe=3, timer_interval_ms=500)
            pool.snapshot()
    finally:
        stop.set()
        counter.join()
        pool.close()
    assert counted > 0


CALLS: dict[str, Callable[[LivePool], object]] = {
    "address": lambda pool: pool.address,
    "pool_tuple": lambda pool: pool.pool_tuple,
    "set_tuple": lambda pool: pool.set_tuple(pool_size=2, oversubscribe=3, timer_interval_ms=500),
    "knobs": lambda pool: pool.knobs,
    "set_knobs": lambda pool: pool.set_knobs(admission_limit=4),
    "snapshot": lambda pool: pool.snapshot(),
}


@pytest.mark.parametrize("name", CALLS)
def test_pool_that_does_not_serve_says_so_in_a_sentence(name: str) -> None:
    pool = LivePool()
    with pytest.raises(RuntimeError, match=r"^the pool does not serve yet: start it first$"):
        CALLS[name](pool)
    pool.start()
    CALLS[name](pool)
    pool.close()
    with pytest.raises(RuntimeError, match=r"^the pool is closed: make a new one$"):
        CALLS[name](pool)


@pytest.mark.parametrize("name", CALLS)
def test_call_lets_go_of_the_interpreter(name: str) -> None:
    """Each may have to wait for a start, a close or a change of the tuple, which other threads must outlive."""
    pool = LivePool()
    pool.start()
    gate = threading.Lock()
    ran = threading.Event()

    def run() -> None:
        with gate:
            ran.set()

    interval_s = sys.getswitchinterval()
    try:
        with gate:
            other = threading.Thread(target=run)
            other.start()
            sys.setswitchinterval(1000.0)  # from now on a thread runs only once another lets it
        calls = 0
        while not ran.is_set() and calls < 100_000:
            CALLS[name](pool)
            calls += 1
        assert ran.is_set()
    finally:
        sys.setswitchinterval(interval_s)
        other.join()
        pool.close()


@pytest.mark.parametrize("name", CALLS)
def test_call_beside_a_close_is_answered_or_refused(name: str) -> None:
    def call_until_closed(pool: LivePool, refusals: list[str]) -> None:
        try:
            while True:
                CALLS[name](pool)
        except RuntimeError as refusal:
            refusals.append(str(refusal))

    for _ in range(10):
        pool = LivePool(pool_size=4)
        pool.start()
        refusals: list[str] = []
        caller = threading.Thread(target=call_until_closed, args=(pool, refusals))
        caller.start()
        closers = [threading.Thread(target=pool.close) for _ in range(2)]
        for closer in closers:
            closer.start()
        for thread in (caller, *closers):
            thread.join()
        assert refusals == ["the pool is closed: make a new one"]


def test_a_silent_client_is_closed_and_counted() -> None:
    pool = LivePool(timer_interval_ms=10, wait_timeout_s=0.05)
    pool.start()
    try:
        _, host, port = pool.address.split(":")
        with socket.create_connection((host, int(port)), timeout=20) as client:
            assert client.recv(1) == b""
        assert pool.snapshot()["counters"]["timed_out_connections"] == 1
    finally:
        pool.close()


def test_transactions_over_the_limit_wait_are_counted_and_all_are_answered() -> None:
    pool = LivePool(class_names=["mixed", "transaction"], admission_limit=2, admission_queue_limit=4)
    pool.start()
    try:
        with Load(pool.address, Workload("limited", "test", MIXED, connections=24)) as load:
            time.sleep(0.5)
            pool.set_knobs(admission_limit=1)
            report = load.stop()
        snapshot = pool.snapshot()
    finally:
        pool.close()
    assert report.completed > 0
    assert (report.failed, report.lost, report.unexpected) == (0, 0, 0)
    assert report.sent == report.completed + report.refused
    assert report.refused == snapshot["counters"]["admission_refused"] > 0
    assert report.completed == snapshot["counters"]["admission_admitted"]
    assert snapshot["counters"]["admission_parked"] == snapshot["histograms"]["admission_wait_us"][0].sum() > 0
    assert (snapshot["gauges"]["admission_inside"], snapshot["gauges"]["admission_waiting"]) == (0, 0)
    assert snapshot["gauges"]["admission_limit"] == 1


def test_an_admission_limit_outside_its_range_is_refused_by_name() -> None:
    pool = LivePool()
    pool.start()
    try:
        for limit in (-1, 65_537):
            with pytest.raises(ValueError, match=rf"^admission_limit is {limit}, but must be in 0\.\.65536$"):
                pool.set_knobs(admission_limit=limit)
        assert pool.snapshot()["gauges"]["admission_limit"] == 0
    finally:
        pool.close()


def test_an_exempt_class_outside_its_range_is_refused_by_name() -> None:
    for number in (-2, 8):
        with pytest.raises(ValueError, match=rf"^admission_exempt_class is {number}, but must be in -1\.\.7$"):
            LivePool(admission_exempt_class=number)


def test_events_are_replayed_once_the_pool_is_closed() -> None:
    pool = LivePool(record_events=True)
    pool.start()
    with pytest.raises(RuntimeError, match=r"^the pool still records its events: close it first$"):
        pool.replayed_events()
    pool.close()
    assert pool.replayed_events() == (0, 0)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("pool_size", 129, r"^pool_size is 129, but must be in 1\.\.128$"),
        ("oversubscribe", 0, r"^oversubscribe is 0, but must be in 1\.\.1000$"),
        ("timer_interval_ms", 0, r"^timer_interval_ms is 0, but must be in 1\.\.3600000$"),
        ("idle_timeout_s", float("nan"), r"^idle_timeout_s is nan, but must be in 0\.01\.\.1000000$"),
    ],
)
def test_refused_tuple_names_its_range_and_changes_nothing(field: str, value: float, expected: str) -> None:
    pool = LivePool(pool_size=2)
    pool.start()
    try:
        before = pool.pool_tuple
        tuple_: dict[str, float] = {"pool_size": 2, "oversubscribe": 3, "timer_interval_ms": 500, field: value}
        with pytest.raises(ValueError, match=expected):
            pool.set_tuple(**tuple_)  # type: ignore[arg-type]
        assert pool.pool_tuple == before
    finally:
        pool.close()


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^throttle is 'oracle', but must be one of mariadb, percona$"):
        LivePool(throttle="oracle")
    with pytest.raises(ValueError, match=r"^wait_timeout_s is 0, but must be in 0\.01\.\.31536000$"):
        LivePool(wait_timeout_s=0)
    with pytest.raises(ValueError, match=r"is neither tcp:127\.0\.0\.1:PORT nor unix:PATH"):
        LivePool(address="tcp:192.0.2.1:80").start()


def test_port_in_use_is_one_sentence() -> None:
    first = LivePool()
    first.start()
    try:
        with pytest.raises(RuntimeError, match=f"cannot listen on {first.address}: Address already in use"):
            LivePool(address=first.address).start()
    finally:
        first.close()


def test_histograms_hold_what_the_clients_sent() -> None:
    pool = LivePool(class_names=["mixed", "transaction"])
    pool.start()
    with Load(pool.address, Workload("short", "test", MIXED, connections=8)) as load:
        time.sleep(0.2)
        report = load.stop()
    snapshot = pool.snapshot()
    pool.close()
    for name, one in report.classes.items():
        counts, total_us, _ = snapshot["histograms"][f"latency_us/{name}"]
        assert counts.sum() == one.completed
        # The client's latency holds the way back as well.
        assert 0 < total_us <= one.latency_total_us
