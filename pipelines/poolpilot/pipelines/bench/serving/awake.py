"""Processors that stay awake while a benchmark runs.

A request that finds its processor idle pays for waking it. In a virtual machine that is the host's matter: with one
connection it is ten times the request's own cost, and as unsteady as the host is busy. Linux keeps processors out of
idle states for as long as a file is open that asks for no latency (its "PM Quality of Service" interface).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LATENCY_REQUEST = Path("/dev/cpu_dma_latency")
NO_LATENCY = (0).to_bytes(4, "little")


@contextmanager
def processors_awake(request: Path = LATENCY_REQUEST) -> Iterator[bool]:
    """Keeps all processors awake during a block; false where the system does not let us."""
    try:
        file = request.open("wb", buffering=0)
    except OSError:
        yield False
        return
    with file:
        file.write(NO_LATENCY)
        yield True
