"""What tests of several folders share: a valid prediction request, and a look at what a test left open."""

import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.catalogue import FEATURES
from poolpilot.featurizer.schema import SCHEMA_VERSION


@pytest.fixture(scope="session", autouse=True)
def _interrupts_reach_python() -> Iterator[None]:
    """A shell that starts the tests in the background makes them ignore Ctrl-C; tests of interrupts need it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def left_open() -> Callable[[], set[str]]:
    """Gives the descriptors and threads of this process that were not there when the test began.

    Counting would not do: threads of libraries that other tests used may end at any time.
    """
    before = _open_now()
    return lambda: _open_now() - before


def _open_now() -> set[str]:
    opened = {f"thread {path.name}" for path in Path("/proc/self/task").iterdir()}
    for path in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the descriptor that lists the folder is gone by now
            opened.add(f"descriptor {path.name}: {path.readlink()}")
    return opened


@pytest.fixture
def window_values() -> dict[str, Any]:
    """A valid window as the JSON of a request; every feature lies a tenth into its range."""
    return {
        "schema_version": SCHEMA_VERSION,
        "pool_tuple": {
            "pool_size": 2,
            "oversubscribe": 3,
            "timer_interval_ms": 500,
            "create_thread_on_wait": True,
            "idle_timeout_s": 60.0,
        },
        "duration_s": 1.5,
        "features": {feature.name: feature.low + 0.1 * (feature.high - feature.low) for feature in FEATURES},
        "classes": {"read": {"throughput_per_s": 120.0, "latency": [[40, 100], [44, 80]]}},
    }


@pytest.fixture
def request_values(window_values: dict[str, Any]) -> dict[str, Any]:
    """A valid body of POST /v1/predict."""
    return {
        "windows": [window_values],
        "limits": KnobSpace.stock(cpus=2).as_dict(),
        "objective": {"targets_ms": {"read": 50.0}},
    }
