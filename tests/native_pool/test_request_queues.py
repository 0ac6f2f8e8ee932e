"""The queues of one group alone, from Python."""

import pytest

from poolpilot.native_pool import QueueRule, QueueSpec, RequestQueues

RULES = [QueueRule(class_id=0, queue=0), QueueRule(class_id=1, queue=1)]


def test_requests_come_out_in_the_order_of_the_discipline() -> None:
    queues = RequestQueues(discipline="priority", queues=[QueueSpec(), QueueSpec()], rules=RULES)
    for item, class_id in ((7, 1), (8, 0), (9, 1)):
        queues.put(item, class_id=class_id, now_us=0)
    assert len(queues) == 3
    assert [queues.take(now_us=0) for _ in range(3)] == [8, 7, 9]


def test_impatient_requests_go_up_once_their_time_is_over() -> None:
    queues = RequestQueues(discipline="impatient", queues=[QueueSpec(), QueueSpec(deadline_ms=5.0)], rules=RULES)
    queues.put(1, class_id=1, now_us=0)
    queues.put(2, class_id=0, now_us=5_001)
    assert queues.take(now_us=5_001) == 2
    queues.put(3, class_id=0, now_us=5_002)
    assert [queues.take(now_us=5_002) for _ in range(2)] == [1, 3]


def test_a_transaction_goes_first_in_mariadb() -> None:
    queues = RequestQueues()
    queues.put(1, class_id=-1, now_us=0)
    queues.put(2, class_id=-1, now_us=0, in_transaction=True)
    assert [queues.take(now_us=0) for _ in range(2)] == [2, 1]


def test_nothing_can_be_taken_from_empty_queues() -> None:
    with pytest.raises(IndexError, match=r"^the queues are empty: put something first$"):
        RequestQueues().take(now_us=0)


def test_what_cannot_be_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"^class_id is 8, but must be in -1\.\.7$"):
        RequestQueues().put(1, class_id=8, now_us=0)
    with pytest.raises(ValueError, match=r"^number of queues is 0, but must be in 1\.\.16$"):
        RequestQueues(discipline="priority")
