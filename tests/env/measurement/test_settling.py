"""A server has settled once a timer interval has passed in which it made no thread, or its time is over."""

import pytest

from poolpilot.env.measurement.settling import SettleSettings, Settling, interval_s, settle, thread_changes
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.workload import RequestClass, Step, Workload

SLOW = PoolTuple(4, 3, 500)
INTERVAL_S = 0.505


def served(settings: SettleSettings, changes: list[int], pool_tuple: PoolTuple = SLOW) -> list[float]:
    """The times a server is let serve whose count of threads goes through `changes`."""
    settling = Settling(pool_tuple, settings)
    times = []
    for count in changes:
        times.append(settling.next_s(count))
        if times[-1] == 0.0:
            break
    assert settling.spent_s == pytest.approx(sum(times))
    return times


def test_a_quiet_server_settles_within_an_interval() -> None:
    assert served(SettleSettings(settle_s=0.1), [3, 3, 3, 3]) == pytest.approx([0.1, INTERVAL_S, 0.0])


def test_what_happens_in_the_least_time_says_nothing() -> None:
    assert served(SettleSettings(settle_s=0.1), [3, 9, 9, 9]) == pytest.approx([0.1, INTERVAL_S, 0.0])


def test_an_interval_with_a_new_thread_is_followed_by_another() -> None:
    settings = SettleSettings(settle_s=0.1, settle_intervals=10.0, max_settle_s=10.0)
    assert served(settings, [3, 3, 4, 5, 5]) == pytest.approx([0.1, INTERVAL_S, INTERVAL_S, INTERVAL_S, 0.0])


@pytest.mark.parametrize(
    ("settings", "limit_s"),
    [
        (SettleSettings(settle_s=0.1, settle_intervals=2.0), 2 * INTERVAL_S),
        (SettleSettings(settle_s=0.1, max_settle_s=0.7), 0.7),
        (SettleSettings(settle_s=0.1, settle_intervals=0.0), 0.1),
        (SettleSettings(max_settle_s=0.0), 0.0),
    ],
)
def test_a_restless_server_settles_at_the_limit(settings: SettleSettings, limit_s: float) -> None:
    times = served(settings, list(range(100)))
    assert sum(times) == pytest.approx(limit_s)
    assert times[-1] == 0.0


def silent_waits(connections: int = 8) -> SimulatedServer:
    """Only stalls let a second request of its group run."""
    classes = (RequestClass("all", (Step("wait", us=300_000.0),)),)
    return SimulatedServer(Workload("silent", "test", classes, connections=connections, cpus=1))


def test_a_simulated_pool_does_not_settle_while_stalls_make_threads() -> None:
    settings = SettleSettings(settle_s=0.45, settle_intervals=50.0, max_settle_s=60.0)
    pool_tuple = PoolTuple(1, 3, 100)
    with silent_waits() as server:
        server.apply(pool_tuple)
        assert settle(server, pool_tuple, settings) > settings.settle_s + 1.5 * interval_s(pool_tuple)
        assert thread_changes(server) > 1
        server.run_for(5.0)
        assert settle(server, pool_tuple, settings) == pytest.approx(settings.settle_s + interval_s(pool_tuple))


def test_thread_changes_are_those_of_the_counters() -> None:
    with silent_waits() as server:
        server.run_for(2.0)
        counters = server.snapshot().counters
        assert thread_changes(server) == counters["thread_creations"] + counters["wakes_stall"] > 0


def test_a_curve_has_no_threads_to_make() -> None:
    server = CurveServer(((1, 100.0), (64, 100.0)))
    assert settle(server, SLOW, SettleSettings(settle_s=0.1)) == pytest.approx(0.1 + INTERVAL_S)
