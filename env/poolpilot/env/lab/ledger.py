"""The ledger of a load: latencies that the threads of a sysbench write into a shared file while they run."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poolpilot.featurizer.histogram import BUCKETS, Histogram

RESTARTED, GIVEN_UP, TOTAL, SQUARES, HEAD_WORDS = 0, 1, 2, 3, 4
"""First words of a slot, as `lua/client.lua` writes them; the sums are in microseconds."""


class Ledger:
    """One slot of doubles a thread, each written by that thread alone; an aligned double is never torn.

    Args:
        path: File to make.
        threads: Threads of the load.
    """

    def __init__(self, path: Path, threads: int) -> None:
        self.path = path
        self._slots: NDArray[np.float64] = np.memmap(
            path, dtype=np.float64, mode="w+", shape=(threads, HEAD_WORDS + BUCKETS)
        )

    def histogram(self) -> Histogram:
        """Latencies of all threads so far, in microseconds."""
        words = self._slots.sum(axis=0)
        return Histogram(words[HEAD_WORDS:].astype(np.int64), float(words[TOTAL]), float(words[SQUARES]))

    @property
    def restarts(self) -> int:
        """Requests that were tried again: deadlocks and lock waits that timed out."""
        return int(self._slots[:, RESTARTED].sum())

    @property
    def given_up(self) -> int:
        """Requests of an offered rate that could not be sent in time."""
        return int(self._slots[:, GIVEN_UP].sum())
