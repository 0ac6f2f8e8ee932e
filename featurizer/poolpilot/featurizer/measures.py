"""Measures: the raw, flat columns that the difference of two snapshots gives."""

from collections.abc import Mapping
from typing import Literal

from poolpilot.errors import CountersResetError
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.snapshot import Snapshot

Tier = Literal["core", "rich"]
Measures = Mapping[str, float | None]
"""Measure by name; None where the server cannot give it or nothing was observed."""

CORE_COUNTERS = (
    "completed",
    "thread_creations",
    "thread_creations_stall",
    "wakes",
    "wakes_stall",
    "throttles",
    "stalls",
    "dequeues_listener",
    "dequeues_worker",
    "polls_listener",
    "polls_worker",
    "waits_sleep",
    "waits_disk_io",
    "waits_row_lock",
    "waits_net",
    "process_cpu_us",
)
"""Counters that every server gives, MariaDB included; a measure is their rise within the window."""

RICH_COUNTERS = (
    "failed",
    "thread_us",
    "active_thread_us",
    "queue_length_us",
    "sampled_requests",
    "voluntary_switches",
    "involuntary_switches",
    "latch_waits",
)
"""Counters of servers that can give more; the `_us` ones integrate a number over time."""

WAIT_REASONS = (
    "unknown",
    "sleep",
    "diskio",
    "row_lock",
    "global_lock",
    "meta_data_lock",
    "table_lock",
    "user_lock",
    "binlog",
    "group_commit",
    "sync",
    "net",
)
"""Why a thread of MariaDB's pool says that it waits: the reasons of information_schema.THREAD_POOL_WAITS."""

STATEMENTS = ("select", "insert", "update", "delete", "call", "commit")
"""Kinds of statements that are counted apart."""

WAIT_EVENTS = ("file", "lock", "synch")
"""Kinds of wait events of performance_schema."""

STATUS_COUNTERS = (
    "row_lock_waits",
    "row_lock_wait_us",
    "rows_read",
    *(f"statements_{kind}" for kind in STATEMENTS),
    *(f"reported_{reason}" for reason in WAIT_REASONS),
    "threads_scheduled",
    "threads_run_delay_us",
    "machine_idle_us",
    "unlistened_connection_us",
    "standing_connection_us",
    "quota_periods",
    "quota_periods_throttled",
    "quota_throttled_us",
    *(name for kind in WAIT_EVENTS for name in (f"events_{kind}", f"events_{kind}_us")),
)
"""What a MariaDB server shows beside its pool, some of it with a privilege or on this host only. No feature is made of
these; one that fell was reset by somebody and is missing. Records older than them lack their columns."""

COUNTERS = CORE_COUNTERS + RICH_COUNTERS + STATUS_COUNTERS

GAUGES = ("connections", "cpus", "threads", "active_threads", "queue_length")
"""Values at the end of the window, all of the core tier."""

ADMISSION_COUNTERS = (
    "admission_admitted",
    "admission_parked",
    "admission_refused",
    "admission_escaped",
    "admission_inside_us",
)
"""What our pools count of transactions that enter while there is a limit; `admission_inside_us` integrates over time
the number of those inside. In the snapshot only, as the next two: records have no columns for them."""

ADMISSION_GAUGES = ("admission_limit", "admission_inside", "admission_waiting")
"""The limit in force, transactions inside (those that have escaped among them) and those that wait."""

ADMISSION_HISTOGRAM = "admission_wait_us"
"""How long those waited that had to, in microseconds."""

HISTOGRAMS = (
    "queue_wait_us",
    "active_round_us",
    "wait_round_us",
    "think_us",
    "thread_create_us",
    "latch_wait_us",
    "round_cpu_us",
    "run_delay_us",
    "active_rounds",
)
"""Histograms of the rich tier, in microseconds but `active_rounds`, which counts rounds per request."""

STATISTICS = ("count", "mean", "p50", "p95", "cv")
"""What a histogram is reduced to: column `<histogram>_<statistic>`; cv is standard deviation over mean."""

MEASURE_NAMES = (
    "duration_s",
    *COUNTERS,
    *GAUGES,
    *(f"{name}_{statistic}" for name in HISTOGRAMS for statistic in STATISTICS),
)
"""All measures, in the order of a record's columns."""


def measure_tier(name: str) -> Tier:
    """Tells whether every server gives the measure (`core`) or only some (`rich`)."""
    return "core" if name == "duration_s" or name in CORE_COUNTERS or name in GAUGES else "rich"


def measures_between(before: Snapshot, after: Snapshot) -> dict[str, float | None]:
    """Takes the difference of two snapshots of one server.

    Args:
        before: The snapshot at the window's start.
        after: The snapshot at its end.

    Returns:
        Every name of `MEASURE_NAMES`, in that order; None where a snapshot lacks the name, and for the mean,
        quantiles and variation of a histogram without observations in the window.

    Raises:
        CountersResetError: A counter of a pool fell, so the server started anew between the snapshots.
    """
    measures: dict[str, float | None] = {"duration_s": float(after.time_s - before.time_s)}
    for name in COUNTERS:
        measures[name] = _rise(name, before.counters.get(name), after.counters.get(name))
    for name in GAUGES:
        gauge = after.gauges.get(name)
        measures[name] = None if gauge is None else float(gauge)
    for name in HISTOGRAMS:
        known = name in before.histograms and name in after.histograms
        histogram = histogram_rise(name, before.histograms[name], after.histograms[name]) if known else None
        measures.update(_statistics(name, histogram))
    return measures


def histogram_rise(name: str, before: Histogram, after: Histogram) -> Histogram:
    """Takes the difference of two cumulative histograms.

    Raises:
        CountersResetError: A bucket fell, so the server started anew between the two.
    """
    rise = after - before
    if bool((rise.counts < 0).any()):
        raise _fell(f"histogram {name!r}")
    return rise


def _rise(name: str, before: float | None, after: float | None) -> float | None:
    if before is None or after is None:
        return None
    if after < before:
        if name in STATUS_COUNTERS:
            return None
        raise _fell(f"counter {name!r} ({before:g} to {after:g})")
    return float(after - before)


def _fell(what: str) -> CountersResetError:
    return CountersResetError(
        f"{what} fell between two snapshots, so the server was restarted, or its counters were reset: take both again"
    )


def _statistics(name: str, histogram: Histogram | None) -> dict[str, float | None]:
    values: tuple[float | None, ...] = (None,) * len(STATISTICS)
    if histogram is not None and not histogram.count:
        values = (0.0, None, None, None, None)
    elif histogram is not None:
        values = (
            float(histogram.count),
            float(histogram.mean),
            histogram.quantile(0.5),
            histogram.quantile(0.95),
            histogram.coefficient_of_variation,
        )
    return {f"{name}_{statistic}": value for statistic, value in zip(STATISTICS, values, strict=True)}
