"""Queueing networks from Python: multi-class routes, preemptive stations, what is counted and what is refused."""

import signal
import threading
from typing import Any

import pytest

from poolpilot.native_pool._core import SimulatedNetwork, SimulatedStation


def criss_cross(**changes: Any) -> SimulatedNetwork:
    """Classes 0 and 2 share a server; class 0 goes on as class 1 at another."""
    options: dict[str, Any] = {
        "stations": [
            SimulatedStation(service="preemptive", mean_s=[0.5, 0.0, 0.5], weights=[2.0, 0.0, 1.0]),
            SimulatedStation(mean_s=[0.0, 0.7, 0.0]),
        ],
        "rate_per_s": [0.6, 0.0, 0.6],
        "places": [0, 1, 0],
        "becomes": [[0.0, 1.0], [], []],
    }
    return SimulatedNetwork(**{**options, **changes})


def test_customers_present_are_counted_by_class() -> None:
    network = criss_cross()
    network.run(20_000)
    counted = network.run(300_000)
    first, second = counted["stations"]
    present = [first["class_present_s"][0], second["class_present_s"][1], first["class_present_s"][2]]
    # Priority over the other class: an M/M/1 queue at a load of 0.3; both together one at 0.6.
    assert present[0] / counted["seconds"] == pytest.approx(0.3 / 0.7, rel=0.05)
    assert (present[0] + present[2]) / counted["seconds"] == pytest.approx(0.6 / 0.4, rel=0.05)
    assert present[1] / counted["seconds"] == pytest.approx(0.42 / 0.58, rel=0.05)


def test_same_seed_gives_the_same_run() -> None:
    assert criss_cross(seed=3).run(events=5_000) == criss_cross(seed=3).run(events=5_000)
    assert criss_cross(seed=3).run(events=5_000) != criss_cross(seed=4).run(events=5_000)


def test_channel_is_busy_while_it_serves_and_not_before() -> None:
    stations = [
        SimulatedStation(mean_s=[1.0], variation=0.0, next=[0.0, 1.0]),
        SimulatedStation(mean_s=[1000.0], variation=0.0),
    ]
    network = SimulatedNetwork(stations=stations, population=[1])
    assert [station["busy_s"] for station in network.run(1)["stations"]] == [1.0, 0.0]
    assert [station["busy_s"] for station in network.run(1)["stations"]] == [0.0, 1000.0]


def test_network_is_run_by_one_thread_at_a_time() -> None:
    network, told, begin = criss_cross(), [], threading.Barrier(2)

    def run() -> None:
        begin.wait()
        try:
            told.append(str(network.run(events=5_000_000)["events"]))
        except RuntimeError as error:
            told.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == ["5000000", "a network is run by one thread at a time"]


def test_run_ends_after_events_or_services() -> None:
    assert criss_cross().run(events=5_000)["events"] == 5_000
    assert sum(station["visits"] for station in criss_cross().run(1_000)["stations"]) == 1_000
    with pytest.raises(TypeError, match=r"^run needs services or events$"):
        criss_cross().run()
    with pytest.raises(ValueError, match=r"^events is -1, but must be in 1\.\.1e\+15$"):
        criss_cross().run(events=-1)


def test_run_without_end_is_interrupted() -> None:
    signalled = threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,))
    signalled.start()
    with pytest.raises(KeyboardInterrupt):
        criss_cross().run(events=10**15)
    signalled.join()


@pytest.mark.parametrize("rate_per_s", [1e-300, 1e-10])
def test_clock_that_has_come_to_its_end_is_told(rate_per_s: float) -> None:
    network = SimulatedNetwork(stations=[SimulatedStation(mean_s=[1e-9])], rate_per_s=[rate_per_s])
    with pytest.raises(OverflowError, match="the clock ends after 146 years"):
        network.run(events=10_000)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"places": [0, 1, 7]}, "place is 7, but must be in 0..1"),
        ({"places": []}, "becomes needs the places of all classes"),
        ({"becomes": [[0.0, 1.1], [], []]}, "becomes is 1.1, but must be in 0..1"),
        ({"rate_per_s": [], "population": [1, 0, 0]}, "classes have places in an open network only"),
    ],
)
def test_routes_that_lead_nowhere_are_refused_by_name(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        criss_cross(**changes)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"service": "interrupting"}, "service is 'interrupting', but must be one of delay, queued, sharing, preempt"),
        ({"service": "preemptive"}, "number of weights is 0, but must be 1, one for each class"),
        ({"service": "preemptive", "weights": [-1.0]}, "weight is -1, but must be in 0..1000000000"),
        ({"queue_power": 1.0}, "queue_power is 1, but must be 0 where the service is not preemptive"),
        ({"service": "sharing", "container": "lifo"}, "a discipline and queues have a meaning only where the service"),
        ({"spread": 0.5, "variation": 2.0}, "variation is 2, but must be 1 where there is a spread"),
    ],
)
def test_stations_that_cannot_be_are_refused_by_name(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        SimulatedNetwork(stations=[SimulatedStation(mean_s=[1.0], **options)], rate_per_s=[0.5])
