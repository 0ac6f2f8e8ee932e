"""How many threads torch may use for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Limits torch to `count` threads for the duration of the block.

    The matrices here are small: threads that spin while they wait for one another cost more than they bring, on a busy
    machine by orders of magnitude. One thread also sums in one order, so that a seed gives the same bits everywhere.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
