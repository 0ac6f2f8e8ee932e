"""What is done to a server whose unsafe windows are counted: nothing, what the tuner does, or whatever is predicted."""

import pytest

from experiments.unsafe import HELD_OUT, workload_of
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from unsafe_windows.guarded_or_not import ARMS, ASK_EVERY_WINDOWS, MEASUREMENT, shipped, untouched

WAITS = (RequestClass("query", (Step("cpu", us=100.0), Step("wait", us=4000.0))),)
SECONDS = 120.0


@pytest.fixture
def waiting() -> SimulatedServer:
    """Many wait for few threads: more groups gain much, and harm nobody."""
    return SimulatedServer(Workload("waits", "mine", WAITS, connections=32, cpus=2))


def test_untouched_server_keeps_its_tuple_in_every_window(waiting: SimulatedServer) -> None:
    with waiting as server:
        seen = untouched(server, SECONDS)
    assert len(seen) == int(SECONDS / MEASUREMENT.window_s)
    assert not any(changed for changed, _, _ in seen)


@pytest.mark.parametrize("name", list(ARMS))
def test_arm_changes_the_tuple_after_some_windows_and_gains(name: str, waiting: SimulatedServer) -> None:
    with waiting as server:
        seen = ARMS[name](server, shipped(0), SECONDS)
    rates = [rate for _, rate, _ in seen]
    assert not seen[0][0]
    assert seen[-1][0]
    assert rates[-1] > 2 * rates[0]


def test_what_is_named_is_set_at_once_after_so_many_windows(waiting: SimulatedServer) -> None:
    with waiting as server:
        seen = ARMS["unguarded"](server, shipped(0), SECONDS)
    assert [changed for changed, _, _ in seen[: ASK_EVERY_WINDOWS + 1]] == [False] * ASK_EVERY_WINDOWS + [True]


def test_live_workloads_are_on_one_and_two_processors_in_turns_and_the_next_draw_is_on_the_other_number() -> None:
    cpus = [[workload_of(family, draw).cpus for family in HELD_OUT] for draw in (31, 32)]
    assert set(cpus[0]) == {1, 2}
    assert all(one + other == 3 for one, other in zip(*cpus, strict=True))
