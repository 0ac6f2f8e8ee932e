"""A limit on how often one client asks: a bucket of tokens for each, refilled at a steady rate."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

MOST_CLIENTS = 4096
"""Clients that are remembered; the one that was silent longest is forgotten first."""


@dataclass(slots=True)
class _Bucket:
    left: float
    filled_s: float


class TokenBuckets:
    """Lets each client ask `burst` times at once and `rate_per_s` times a second from then on.

    Args:
        rate_per_s: Requests a second.
        burst: Requests at once after a silence.
        clock: Gives the time in seconds.
    """

    def __init__(self, rate_per_s: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate_per_s = rate_per_s
        self._burst = float(burst)
        self._clock = clock
        self._buckets: OrderedDict[Hashable, _Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def wait_s(self, client: Hashable) -> float:
        """Takes one request from the client's bucket: 0, or the time in seconds after which it may ask again."""
        bucket = self._filled(client)
        if bucket.left >= 1.0:
            bucket.left -= 1.0
            return 0.0
        return (1.0 - bucket.left) / self._rate_per_s

    def _filled(self, client: Hashable) -> _Bucket:
        now_s = self._clock()
        bucket = self._buckets.get(client)
        if bucket is None:
            if len(self._buckets) >= MOST_CLIENTS:
                self._buckets.popitem(last=False)
            bucket = self._buckets[client] = _Bucket(self._burst, now_s)
            return bucket
        self._buckets.move_to_end(client)
        bucket.left = min(bucket.left + (now_s - bucket.filled_s) * self._rate_per_s, self._burst)
        bucket.filled_s = now_s
        return bucket
