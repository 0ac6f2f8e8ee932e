"""Fixtures of the featurizer's tests: two snapshots of a server that gives everything."""

from dataclasses import replace

import numpy as np
import pytest

from poolpilot.featurizer.histogram import BUCKETS, Histogram, bucket_of
from poolpilot.featurizer.measures import COUNTERS, HISTOGRAMS
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import LATENCY_PREFIX, Snapshot
from poolpilot.featurizer.window import Window


def histogram_of(*values: float) -> Histogram:
    """The histogram that a server would keep of these observations."""
    counts = np.zeros(BUCKETS, dtype=np.int64)
    for value in values:
        counts[bucket_of(value)] += 1
    return Histogram(counts, float(sum(values)), float(sum(value**2 for value in values)))


@pytest.fixture
def before() -> Snapshot:
    """A snapshot after some work."""
    histograms = {name: histogram_of(7.0, 900.0) for name in HISTOGRAMS}
    histograms[f"{LATENCY_PREFIX}read"] = histogram_of(50_000.0)
    gauges = {"connections": 64.0, "cpus": 2.0, "threads": 9.0, "active_threads": 3.0, "queue_length": 5.0}
    return Snapshot(10.0, 4, PoolTuple(8, 3, 10), dict.fromkeys(COUNTERS, 100.0), gauges, histograms, "native")


@pytest.fixture
def after(before: Snapshot) -> Snapshot:
    """A snapshot of the same server two seconds and 1,000 requests later."""
    counters = {name: value + 1000.0 for name, value in before.counters.items()}
    counters["process_cpu_us"] = before.counters["process_cpu_us"] + 2_000_000.0
    histograms = {name: value + histogram_of(100.0, 300.0) for name, value in before.histograms.items()}
    histograms["round_cpu_us"] = before.histograms["round_cpu_us"] + histogram_of(40.0, 60.0)
    histograms["run_delay_us"] = before.histograms["run_delay_us"] + histogram_of(10.0)
    histograms[f"{LATENCY_PREFIX}write"] = histogram_of(8_000.0, 9_000.0)
    gauges = {**before.gauges, "threads": 12.0}
    return replace(before, time_s=12.0, counters=counters, gauges=gauges, histograms=histograms)


@pytest.fixture
def window(before: Snapshot, after: Snapshot) -> Window:
    """The window between the two."""
    return Window.between(before, after)
