"""Why windows say nothing of the usual workload: what went on beside it and will not last."""

from collections.abc import Iterator, Sequence

from poolpilot.featurizer.window import Window

LOCKS_OF_DEFINITIONS = ("reported_meta_data_lock_per_request", "reported_global_lock_per_request")
"""Indicators that count waits for locks of definitions or of everything; every account sees them."""

LEAST_WAITS = 2.0
LEAST_SHARE = 0.05
"""Waits of a window, absolute and for each connection, from which on somebody holds such a lock."""

MOST_OF_OTHERS = 0.6
"""Share of the processors' time that other programs use, from which on requests wait for processors. A load generator
on the server's host has used up to 0.45."""

MOST_PER_S = 2.0
"""Waits a second of each connection beyond which they belong to the workload: user locks (GET_LOCK) are counted among
them, and nobody alters tables or backs up so often."""


def disturbances_of(windows: Sequence[Window]) -> tuple[str, ...]:
    """Why nothing can be advised after these windows, as sentences; none where nothing disturbed them.

    What was seen going on comes first (`Window.disturbances`, which needs PROCESS for other accounts' sessions); where
    nothing was, waits for locks of definitions tell that something did.
    """
    seen = dict.fromkeys(str(each) for window in windows for each in window.disturbances)
    if seen:
        return tuple(f"what is seen does not last: {sentence}" for sentence in seen)
    return tuple(dict.fromkeys(sentence for window in windows for sentence in _lock_waits(window)))


def other_programs(window: Window) -> str | None:
    """That other programs have most of the processors, as a sentence; None where they have not, or nobody can tell.

    Requests then wait for processors, which looks like waiting for the pool.
    """
    idle, used = window.indicators.get("machine_idle_share"), window.profile.features.get("utilisation")
    if idle is None or used is None or 1.0 - idle - used < MOST_OF_OTHERS:
        return None
    return (
        f"other programs use {100.0 * (1.0 - idle - used):.0f} % of the processors, and the server "
        f"{100.0 * used:.0f} %: requests wait for processors, so observe again once those are free"
    )


def _lock_waits(window: Window) -> Iterator[str]:
    """Whether statements waited for locks that hardly any statement of a workload waits for."""
    each = sum(window.indicators.get(name, 0.0) for name in LOCKS_OF_DEFINITIONS)
    statements = (window.profile.features.get("completed_per_s") or 0.0) * window.duration_s
    connections = window.profile.features.get("connections") or 0.0
    waits = each * statements
    if max(LEAST_WAITS, LEAST_SHARE * connections) <= waits <= MOST_PER_S * connections * window.duration_s:
        yield (
            f"what is seen may not last: {waits:.0f} statements waited for metadata locks, as while a table is "
            "changed, a backup runs or somebody locks tables; poolpilot check says who, given PROCESS"
        )
