"""Queues of the pools from Python: how they are told, what is refused, and weights that change while serving."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from poolpilot.native_pool import LivePool, QueueRule, QueueSpec
from poolpilot.native_pool._core import (
    LoadClass,
    LoadStep,
    SimulatedLoad,
    SimulatedMachine,
    SimulatedNetwork,
    SimulatedPool,
    SimulatedStation,
)

HALVES: dict[str, Any] = {
    "discipline": "weighted",
    "queues": [QueueSpec(weight=0.5), QueueSpec(weight=0.5)],
    "rules": [QueueRule(class_id=0, queue=0), QueueRule(class_id=1, queue=1)],
}


def simulated_pool(**options: Any) -> SimulatedPool:
    classes = [LoadClass(name=name, steps=[LoadStep(op="cpu", us=100.0)]) for name in ("first", "second")]
    load = SimulatedLoad(classes=classes, connections=100)
    return SimulatedPool(machine=SimulatedMachine(), load=load, **options)


def station(**options: Any) -> SimulatedNetwork:
    return SimulatedNetwork(stations=[SimulatedStation(mean_s=[1.0], **options)], rate_per_s=[0.5])


each_maker = pytest.mark.parametrize("make", [LivePool, simulated_pool, station])


@each_maker
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"discipline": "first_come"}, "discipline is 'first_come', but must be one of mariadb, fifo, priority"),
        ({"discipline": "weighted"}, "number of queues is 0, but must be in 1..16"),
        ({**HALVES, "queues": [QueueSpec(weight=0.5)] * 3}, "sum of the weights is 1.5, but must be 1"),
        ({**HALVES, "rules": [QueueRule(class_id=9)]}, "class_id is 9, but must be in -1..7"),
        ({**HALVES, "rules": [QueueRule(queue=2)]}, "queue is 2, but must be in 0..1"),
        ({**HALVES, "default_queue": 5}, "default_queue is 5, but must be in -1..1"),
        ({"class_known": "guessed"}, "class_known is 'guessed', but must be one of declared, last, peeked"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make: Callable[..., object], options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        make(**options)


@each_maker
def test_wrong_lists_are_refused_by_name(make: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match=r"^queues must be a list"):
        make(discipline="weighted", queues=[0.5, 0.5])


def test_specifications_say_what_they_hold() -> None:
    assert QueueSpec(weight=0.25, deadline_ms=3.0).as_dict() == {
        "weight": 0.25,
        "deadline_ms": 3.0,
        "urgency_ms": 0.0,
    }
    assert QueueRule(transaction="inside").as_dict() == {"class_id": -1, "transaction": "inside", "queue": 0}
    with pytest.raises(TypeError, match="there is no setting named 'share'"):
        QueueSpec(share=0.5)  # type: ignore[call-arg]


def answers(pool: SimulatedPool, seconds: float) -> tuple[int, int]:
    def counted() -> tuple[int, int]:
        histograms = pool.snapshot()["histograms"]
        return int(histograms["latency_us/first"][0].sum()), int(histograms["latency_us/second"][0].sum())

    pool.run(0.2)
    before = counted()
    pool.run(seconds)
    after = counted()
    return after[0] - before[0], after[1] - before[1]


def test_weights_set_while_serving_share_the_answers_anew() -> None:
    pool = simulated_pool(pool_size=1, class_known="peeked", dedicated_listener=True, **HALVES)
    first, second = answers(pool, 2.0)
    assert first == pytest.approx(second, rel=0.05)
    assert pool.set_knobs(weights=[0.9, 0.1])["weights"] == [0.9, 0.1]
    first, second = answers(pool, 2.0)
    assert first == pytest.approx(9 * second, rel=0.1)
    assert pool.set_knobs(weights=[])["weights"] == []
    first, second = answers(pool, 2.0)
    assert first == pytest.approx(second, rel=0.05)


def test_knobs_that_are_not_named_stay() -> None:
    pool = LivePool(**HALVES)
    pool.start()
    try:
        pool.set_knobs(max_threads=12, weights=[0.2, 0.8], admission_limit=9)
        knobs = pool.set_knobs(prio_kickup_ms=7)
        assert (knobs["max_threads"], knobs["weights"], knobs["prio_kickup_ms"]) == (12, [0.2, 0.8], 7)
        assert pool.snapshot()["gauges"]["admission_limit"] == knobs["admission_limit"] == 9
        assert pool.knobs == knobs
        with pytest.raises(ValueError, match=r"^sum of the weights is 0.2, but must be 1$"):
            pool.set_knobs(weights=[0.1, 0.1])
        with pytest.raises(TypeError, match=r"^there is no setting named 'pool_size'$"):
            pool.set_knobs(pool_size=3)  # type: ignore[call-arg]
        assert pool.knobs == knobs
    finally:
        pool.close()


def test_changes_of_two_threads_do_not_undo_one_another() -> None:
    pool = LivePool()
    pool.start()
    undone: list[str] = []

    def change(name: str) -> None:
        for value in range(100, 1100):
            knob: dict[str, Any] = {name: value}
            pool.set_knobs(**knob)
            if pool.knobs[name] != value:
                undone.append(name)

    try:
        threads = [threading.Thread(target=change, args=(name,)) for name in ("max_threads", "prio_kickup_ms")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert undone == []
    finally:
        pool.close()


def test_change_of_a_knob_begins_a_new_epoch() -> None:
    pool = simulated_pool()
    before = pool.snapshot()["tuple_epoch"]
    pool.set_knobs(max_threads=12)
    assert pool.snapshot()["tuple_epoch"] == before + 1
