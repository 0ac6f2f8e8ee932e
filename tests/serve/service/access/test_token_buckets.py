"""A client may ask at once as often as its bucket holds, and then at its rate."""

import pytest

from poolpilot.serve.service.access import token_buckets
from poolpilot.serve.service.access.token_buckets import TokenBuckets


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_bucket_is_emptied_and_refilled(clock: Clock) -> None:
    buckets = TokenBuckets(rate_per_s=2.0, burst=3, clock=clock)
    assert [buckets.wait_s("a") for _ in range(3)] == [0.0, 0.0, 0.0]
    assert buckets.wait_s("a") == pytest.approx(0.5)
    assert buckets.wait_s("a") == pytest.approx(0.5), "to be refused costs nothing"
    clock.now_s += 0.5
    assert buckets.wait_s("a") == 0.0
    assert buckets.wait_s("a") > 0.0


def test_silence_fills_no_more_than_the_bucket(clock: Clock) -> None:
    buckets = TokenBuckets(rate_per_s=2.0, burst=3, clock=clock)
    buckets.wait_s("a")
    clock.now_s += 3600.0
    assert [buckets.wait_s("a") > 0.0 for _ in range(4)] == [False, False, False, True]


def test_clients_have_buckets_of_their_own(clock: Clock) -> None:
    buckets = TokenBuckets(rate_per_s=1.0, burst=1, clock=clock)
    assert [buckets.wait_s(client) for client in "ab"] == [0.0, 0.0]
    assert [buckets.wait_s(client) > 0.0 for client in "ab"] == [True, True]


def test_clients_are_forgotten_where_there_are_too_many(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_buckets, "MOST_CLIENTS", 2)
    buckets = TokenBuckets(rate_per_s=0.001, burst=1, clock=clock)
    for client in "abac":
        buckets.wait_s(client)
    assert len(buckets) == 2
    assert buckets.wait_s("a") > 0.0, "it asked after b"
    assert buckets.wait_s("b") == 0.0
