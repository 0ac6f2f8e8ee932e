"""What one look at a MariaDB shows by itself, beside all known curves: where its requests wait, and what helps there.

A rule is a row: a symptom (bounds on named ratios of a window), a direction, where that was measured, and a sentence.
`RULES` are for who looks once, `TRIALS` for who measures what follows, and goes back. Each is of physics:

* **Unreported waits.** No more active threads can be on the processors than the machine uses of them, clients and other
  programs included. What is left of the active threads waits for something the pool is not told of: a flush, a disk, a
  remote call. Their groups stand meanwhile. Where requests queue and the processors idle, more threads are what is
  missing, N(1 + W/S) of them: as many as keep the processors busy at the share that those of today use.
* **Row locks.** Where many statements of transactions wait for rows that others hold and the processors are used up,
  the waiting costs them: fewer groups let fewer transactions begin, and those inside end sooner. Single updates of hot
  rows are another matter: there fewer groups lost a third (`hot_counter` in pipelines/mariadb).
* **A first step.** Where requests queue, hardly a row is waited for and neither of the two applies, a few more groups
  and a shorter stall limit let more of them in, and cost little where that is not what they wait for. Waits for rows
  count by the statements that write, too: beside many reads few statements wait, however hard the others fight.

A CPU quota that is used up silences the first and the third: its processors do not idle, they are withheld.

Curves say less there: few of the ratios that tell known workloads apart are seen on a MariaDB. Where the rules were
measured stands in docs/results-suite.md.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.mariadb.host.quota_periods import USED_UP
from poolpilot.models.observations.used_up_quota import throttled_share

Direction = Literal["more groups", "fewer groups", "first step"]
"""As many groups as keep the processors busy; half as many as processors; twice as many. The stall limit of more groups
is short."""

STALL_LIMIT_MS = 10
"""Stall limit that goes with more threads."""

MANY_ROW_WAITS, FEW_ROW_WAITS = 0.17, 0.02
"""Waits for rows a statement that are many, and up to which the first step was measured."""

FEW_WAITING = 0.01
"""Share of the connections that wait for rows at a time and cost nothing."""

STEP_WORKLOADS, STEP_GAIN, STEP_LOSS = 11, 0.09, 0.03
"""Workloads of the MariaDB suite's first draw whose look the third rule applies to, the median gain of its step in the
short classes over the default, and the largest loss; a test compares them with the suite's records and report."""

NEEDED = ("connections", "utilisation", "active_threads_mean", "queue_length_mean")
"""Features without which no rule is for who looks once."""

WRITING = ("insert_share", "update_share", "delete_share")
"""Indicators of the statements that write; what a procedure does inside is among them."""


class Bound(NamedTuple):
    """What a ratio must be: at least or at most a number, both included."""

    ratio: str
    side: Literal["at least", "at most"]
    number: float

    def holds(self, ratios: Mapping[str, float]) -> bool:
        """Whether it is; not where the ratio is not seen."""
        if self.ratio not in ratios:
            return False
        seen = ratios[self.ratio]
        return seen >= self.number if self.side == "at least" else seen <= self.number


class Rule(NamedTuple):
    """One row.

    Attributes:
        symptom: Bounds, all of which must hold.
        direction: What helps.
        measured: Where that was measured, in words.
        sentence: Why, to be filled in with what was seen.
    """

    symptom: tuple[Bound, ...]
    direction: Direction
    measured: str
    sentence: str


class Ruled(NamedTuple):
    """What a rule advises.

    Attributes:
        pool_tuple: The tuple.
        reason: Why, as a sentence.
    """

    pool_tuple: PoolTuple
    reason: str


NOT_WITHHELD = Bound("withheld", "at most", 0.0)
QUEUEING = Bound("queueing", "at least", 0.1)
SMALL = Bound("processors", "at most", 2.0)
FEWER = "fewer groups let fewer transactions begin, and those inside end sooner"

RULES = (
    Rule(
        (
            NOT_WITHHELD,
            Bound("idle", "at least", 0.25),
            Bound("unreported", "at least", 0.25),
            QUEUEING,
            Bound("told_row_waits", "at most", 0.05),
        ),
        "more groups",
        "`slow_flushes` of the suite, on two processors; any machine that shows its idle time may have it",
        "{queued:.0f} requests queue while {idle_percent:.0f} % of the processors idle: of {active:.1f} active threads "
        "at least {waiting_unreported:.1f} wait unreported, such as for a flush, a disk or a remote call, and hold "
        "their groups meanwhile; more groups let others run",
    ),
    Rule(
        (
            SMALL,
            Bound("row_waits", "at least", MANY_ROW_WAITS),
            Bound("commits", "at least", 0.05),
            Bound("busy", "at least", 0.5),
            Bound("crowd", "at least", 64.0),
        ),
        "fewer groups",
        "`hot_rows_256` of the suite, on two processors; the largest loss of the advice is on hot rows, too",
        "a statement waits {row_waits:.2f} times for rows that others hold, on {connections:.0f} connections to busy "
        f"processors: {FEWER}",
    ),
    Rule(
        (
            NOT_WITHHELD,
            SMALL,
            QUEUEING,
            Bound("crowd", "at least", 8.0),
            Bound("row_waits", "at most", FEW_ROW_WAITS),
            Bound("row_waits_of_writes", "at most", FEW_ROW_WAITS),
        ),
        "first step",
        f"{STEP_WORKLOADS} workloads of the suite, on two processors",
        "{queued:.0f} requests queue, and hardly a row is waited for: on two processors (4, 3, 10) over (2, 3, 500) "
        f"gained {100.0 * STEP_GAIN:.0f} % in the median of {STEP_WORKLOADS} such workloads, many times as much beside "
        f"long statements, and lost {100.0 * STEP_LOSS:.0f} % at most",
    ),
)
"""For who looks once; the first that applies is followed."""

_COUNTED = Bound("counted_row_waits", "at least", 30.0)
_TO_MEASURE = (
    "a statement waits {row_waits:.2f} times for rows that others hold{at_once_in_words}: "
    f"{FEWER}, which is to be measured"
)
_TRIED = "decision 47: on any number of processors; some of these workloads lose by it, which a trial shows"

TRIALS = (
    Rule((_COUNTED, Bound("row_waits", "at least", MANY_ROW_WAITS)), "fewer groups", _TRIED, _TO_MEASURE),
    Rule((_COUNTED, Bound("waiting_for_rows", "at least", 0.1)), "fewer groups", _TRIED, _TO_MEASURE),
)
"""For who measures what follows, however busy the processors are and whatever holds the rows; not by a few waits that
last."""

DIGEST = hashlib.sha256(repr((RULES, TRIALS)).encode()).hexdigest()
"""Digest of the rules."""


def rule_for(window: Window, limits: KnobSpace) -> Ruled | None:
    """What the rules make of a window; None where none applies, or what they need is not seen.

    Args:
        window: What was seen; the tuple in force is that of the window.
        limits: The knobs of the server and their ranges.
    """
    if limits.processors is None or any(window.profile.features.get(name) is None for name in NEEDED):
        return None
    return _ruled(RULES, window, limits)


def fewer_to_try(window: Window, limits: KnobSpace) -> Ruled | None:
    """Fewer groups for somebody who measures what they bring, where many statements of a MariaDB wait for rows.

    Args:
        window: What was seen; the tuple is that of the window.
        limits: The knobs of the server and their ranges, its processors known.
    """
    seen = window.server_kind == "mariadb" and window.profile.features.get("connections") is not None
    return _ruled(TRIALS, window, limits) if seen else None


def _ruled(rules: Iterable[Rule], window: Window, limits: KnobSpace) -> Ruled | None:
    ratios = wait_ratios(window, limits)
    for rule in rules:
        if all(bound.holds(ratios) for bound in rule.symptom):
            named = _named(rule.direction, ratios, window.pool_tuple, limits)
            change = named.pool_size - window.pool_tuple.pool_size
            if change < 0 if rule.direction == "fewer groups" else change > 0:
                reason = rule.sentence.format(**ratios, at_once_in_words=_at_once_in_words(ratios["at_once"]))
                return Ruled(named, reason) if limits.allows(named) else None
    return None


def wait_ratios(window: Window, limits: KnobSpace) -> dict[str, float]:
    """What symptoms are stated in, by name; what the server does not show counts as none.

    Waits for rows a statement are InnoDB's own count, or what the pool is told, which has user locks among them.
    """
    shown = {name: value for name, value in window.profile.features.items() if value is not None}
    indicators, cpus = window.indicators, limits.cpus
    active, queued = shown.get("active_threads_mean", 0.0), shown.get("queue_length_mean", 0.0)
    connections, per_s = shown.get("connections", 0.0), shown.get("completed_per_s", 0.0)
    idle, told = indicators.get("machine_idle_share", 0.0), shown.get("waits_row_lock_per_request", 0.0)
    on_cpu = (1.0 - idle) * cpus
    delayed = indicators.get("threads_run_delay_us_per_request", 0.0) * per_s / 1e6
    row_waits = indicators.get("row_lock_waits_per_request", told)
    at_once = indicators.get("row_lock_wait_us_per_request", 0.0) * per_s / 1e6
    writes = sum(indicators.get(kind, 0.0) for kind in WRITING)
    waiting = at_once / connections if connections > 0.0 else math.inf
    return {
        "processors": float(cpus),
        "connections": connections,
        "crowd": connections / cpus,
        "queued": queued,
        "queueing": queued / connections if connections > 0.0 else 0.0,
        "withheld": float(throttled_share(window) >= USED_UP),
        "idle": idle,
        "idle_percent": 100.0 * idle,
        "busy": shown.get("utilisation", 0.0) + delayed / (shown.get("cpus") or cpus),
        "active": active,
        "waiting_unreported": active - on_cpu,
        "unreported": (active - on_cpu) / active if active > 0.0 else 0.0,
        "enough": active * cpus / max(on_cpu, 1e-3),
        "told_row_waits": told,
        "row_waits": row_waits,
        "counted_row_waits": row_waits * per_s * window.duration_s,
        "row_waits_of_writes": row_waits / writes if writes > 0.0 and waiting > FEW_WAITING else 0.0,
        "at_once": at_once,
        "waiting_for_rows": waiting,
        "commits": indicators.get("commit_share", 1.0),
    }


def _named(direction: Direction, ratios: Mapping[str, float], in_force: PoolTuple, limits: KnobSpace) -> PoolTuple:
    """Where a direction leads."""
    if direction == "fewer groups":
        return in_force.with_core((max(limits.cpus // 2, 1), *in_force.core[1:]))
    size = 2 * limits.cpus if direction == "first step" else _enough(ratios["enough"], ratios["connections"], limits)
    return in_force.with_core((size, in_force.oversubscribe, min(STALL_LIMIT_MS, int(in_force.timer_interval_ms))))


def _enough(threads: float, connections: float, limits: KnobSpace) -> int:
    """The next power of two from a number of threads on, within the connections and what the server takes."""
    size = 1
    while size < min(threads, connections):
        size *= 2
    return int(min(size, limits.knobs["pool_size"].high))


def _at_once_in_words(at_once: float) -> str:
    return f", {at_once:.0f} connections at a time" if at_once >= 1.0 else ""
