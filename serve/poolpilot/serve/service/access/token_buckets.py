"""A limit on how often one client asks: a bucket of tokens for each, refilled at a steady rate."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

MOST_CLIENTS = 4096
"""Clients that are remembered; the one that was silent longest is forgotten first."""


class TokenBuckets:
    """Lets each client ask `burst` times at once and `rate_per_s` times a second from then on.

    Args:
        rate_per_s: Requests a second.
        burst: Requests at once after a silence.
        clock: Gives the time in seconds.
    """

    def __init__(self, rate_per_s: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate_per_s, self._burst, self._clock = rate_per_s, float(burst), clock
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()  # what was left, and when

    def __len__(self) -> int:
        return len(self._buckets)

    def wait_s(self, client: Hashable) -> float:
        """Takes one request from the client's bucket: 0, or the time in seconds after which it may ask again."""
        now_s = self._clock()
        left, filled_s = self._buckets.pop(client, (self._burst, now_s))
        left = min(left + (now_s - filled_s) * self._rate_per_s, self._burst)
        taken = left >= 1.0
        self._buckets[client] = left - taken, now_s
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1.0 - left) / self._rate_per_s
