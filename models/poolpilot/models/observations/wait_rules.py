"""What one look at a MariaDB shows by itself, beside all known curves: where its requests wait, and what helps there.

Three rules, each of physics, for who looks once:

* **Untold waits.** No more active threads can be on the processors than the machine uses of them, clients and other
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
measured stands in docs/results-suite.md; the second and the third are known on two processors only.

Who measures what follows, and goes back, may try fewer groups where the second rule does not yet advise them.
"""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.observations.used_up_quota import is_quota_used_up

MEASURED = "on two processors (4, 3, 10) over (2, 3, 500)"
STEP_WORKLOADS, STEP_GAIN, STEP_LOSS = 11, 0.09, 0.03
"""Workloads of the MariaDB suite's first draw whose look the third rule applies to, the median gain of its step in the
short classes over the default, and the largest loss; a test compares them with the suite's records and report."""

FEWER = "fewer groups let fewer transactions begin, and those inside end sooner"

WRITING = ("insert_share", "update_share", "delete_share")
"""Indicators of the statements that write; what a procedure does inside is among them."""

NEEDED = ("connections", "utilisation", "active_threads_mean", "queue_length_mean")


class WaitRuleSettings(BaseModel):
    """When a rule speaks up."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    least_idle: float = Field(default=0.25, gt=0.0, description="Share of the processors that idle.")
    least_untold: float = Field(default=0.25, gt=0.0, description="Share of the active threads that wait untold.")
    least_queued: float = Field(default=0.1, gt=0.0, description="Share of the connections whose requests queue.")
    few_row_waits: float = Field(default=0.05, ge=0.0, description="Waits for locks a statement that explain nothing.")
    stall_limit_ms: int = Field(default=10, ge=1, description="Stall limit that goes with more threads.")
    many_row_waits: float = Field(default=0.17, gt=0.0, description="Waits for rows a statement that are many.")
    many_waiting: float = Field(
        default=0.1,
        gt=0.0,
        description="Share of the connections that wait for rows at a time, from which on fewer groups are tried.",
    )
    least_waits: float = Field(
        default=30.0, ge=0.0, description="Waits for rows in a window that a trial of fewer groups asks for."
    )
    least_commits: float = Field(
        default=0.05, ge=0.0, description="Share of commits among the statements from which on transactions hold rows."
    )
    crowded: float = Field(default=64.0, gt=0.0, description="Connections a processor from which on they collide.")
    least_used: float = Field(default=0.5, gt=0.0, description="Share of the processors from which on they are busy.")
    few_row_waits_beside_step: float = Field(
        default=0.02,
        ge=0.0,
        description="Waits for rows a statement, and one that writes, up to which the first step was measured.",
    )
    few_waiting: float = Field(
        default=0.01, ge=0.0, description="Share of the connections that wait for rows at a time and cost nothing."
    )
    step_connections: float = Field(
        default=8.0, gt=0.0, description="Connections a processor from which on the first step was measured."
    )
    most_cpus: int = Field(
        default=2, ge=1, description="Processors up to which fewer groups, and the first step, were measured."
    )


class RowWaits(NamedTuple):
    """How much the statements of a window wait for rows that others hold.

    Attributes:
        per_statement: Waits for each statement: InnoDB's own count, or what the pool is told, which has user locks
            among them.
        per_write: Waits for each statement that writes; None where none was counted.
        at_once: Connections that wait at a time.
    """

    per_statement: float
    per_write: float | None
    at_once: float

    @classmethod
    def of(cls, window: Window) -> Self:
        """Those of a window; what the server does not show counts as none."""
        indicators, features = window.indicators, window.profile.features
        told = features.get("waits_row_lock_per_request") or 0.0
        waits = indicators.get("row_lock_waits_per_request", told)
        writes = sum(indicators.get(kind, 0.0) for kind in WRITING)
        wait_us = indicators.get("row_lock_wait_us_per_request", 0.0)
        waiting = wait_us * (features.get("completed_per_s") or 0.0) / 1e6
        return cls(waits, waits / writes if writes > 0.0 else None, waiting)


class Ruled(NamedTuple):
    """What a rule advises.

    Attributes:
        pool_tuple: The tuple.
        reason: Why, as a sentence.
    """

    pool_tuple: PoolTuple
    reason: str


class WaitRules:
    """Says what the waits of a look call for, where they tell; nothing where what they need is not seen.

    Args:
        settings: When a rule speaks up.
    """

    def __init__(self, settings: WaitRuleSettings | None = None) -> None:
        self.settings = settings or WaitRuleSettings()

    @cached_property
    def digest(self) -> str:
        """Digest of the rules, by their settings."""
        return hashlib.sha256(f"wait_rules {self.settings.model_dump_json()}".encode()).hexdigest()

    def advise(self, window: Window, limits: KnobSpace) -> Ruled | None:
        """What the rules make of a window; None where none applies.

        Args:
            window: What was seen; the tuple in force is that of the window.
            limits: The knobs of the server and their ranges.
        """
        features = {name: value for name, value in window.profile.features.items() if value is not None}
        if limits.processors is None or any(name not in features for name in NEEDED):
            return None
        found = (
            self._more(window, limits, features)
            or self._fewer(window, limits, features)
            or self._first_step(window, limits, features)
        )
        return found if found is not None and limits.allows(found.pool_tuple) else None

    def fewer_to_try(self, window: Window, limits: KnobSpace) -> Ruled | None:
        """Fewer groups for somebody who measures what they bring, where many statements of a MariaDB wait for rows.

        On any number of processors, however busy they are and whatever holds the rows: some of these workloads lose by
        it, which a trial shows (docs/decisions.md, 47).

        Args:
            window: What was seen; the tuple is that of the window.
            limits: The knobs of the server and their ranges, its processors known.
        """
        waits, named = RowWaits.of(window), _half_as_many(window.pool_tuple, limits)
        if (
            window.server_kind != "mariadb"
            or not self._rows_fought_over(waits, window)
            or named.pool_size >= window.pool_tuple.pool_size
            or not limits.allows(named)
        ):
            return None
        at_once = f", {waits.at_once:.0f} connections at a time" if waits.at_once >= 1.0 else ""
        return Ruled(
            named,
            f"a statement waits {waits.per_statement:.2f} times for rows that others hold{at_once}: {FEWER}, which is "
            "to be measured",
        )

    def _rows_fought_over(self, waits: RowWaits, window: Window) -> bool:
        """Whether many statements wait for rows, or many connections do at a time; not by a few waits that last."""
        features, settings = window.profile.features, self.settings
        counted = waits.per_statement * (features.get("completed_per_s") or 0.0) * window.duration_s
        if (connections := features.get("connections")) is None or counted < settings.least_waits:
            return False
        often = waits.per_statement >= settings.many_row_waits
        return often or waits.at_once >= settings.many_waiting * connections

    def _more(self, window: Window, limits: KnobSpace, features: Mapping[str, float]) -> Ruled | None:
        """More threads where those that there are wait untold beside processors that idle; that must be seen."""
        active, queued = features["active_threads_mean"], features["queue_length_mean"]
        idle = window.indicators.get("machine_idle_share", 0.0)
        used = (1.0 - idle) * limits.cpus
        if (
            is_quota_used_up(window)
            or idle < self.settings.least_idle
            or active - used < self.settings.least_untold * active
            or queued < self.settings.least_queued * features["connections"]
            or features.get("waits_row_lock_per_request", 0.0) > self.settings.few_row_waits
        ):
            return None
        in_force = window.pool_tuple
        size = _enough(active * limits.cpus / max(used, 1e-3), features["connections"], limits)
        if size <= in_force.pool_size:
            return None
        return self._more_groups(
            in_force,
            size,
            f"{queued:.0f} requests queue while {100.0 * idle:.0f} % of the processors idle: of {active:.1f} active "
            f"threads at least {active - used:.1f} wait unreported, such as for a flush, a disk or "
            "a remote call, and hold their groups meanwhile; more groups let others run",
        )

    def _more_groups(self, in_force: PoolTuple, size: int, reason: str) -> Ruled:
        """More groups, under a short stall limit."""
        stall_ms = min(self.settings.stall_limit_ms, int(in_force.timer_interval_ms))
        return Ruled(in_force.with_core((size, in_force.oversubscribe, stall_ms)), reason)

    def _fewer(self, window: Window, limits: KnobSpace, features: Mapping[str, float]) -> Ruled | None:
        """Fewer groups where statements wait for rows and the processors are used up."""
        waits = RowWaits.of(window).per_statement
        run_delay_us = window.indicators.get("threads_run_delay_us_per_request", 0.0)
        delayed = run_delay_us * features.get("completed_per_s", 0.0) / 1e6
        used = features["utilisation"] + delayed / (features.get("cpus") or limits.cpus)
        connections, named = features["connections"], _half_as_many(window.pool_tuple, limits)
        if (
            limits.cpus > self.settings.most_cpus
            or waits < self.settings.many_row_waits
            or window.indicators.get("commit_share", 1.0) < self.settings.least_commits
            or used < self.settings.least_used
            or connections < self.settings.crowded * limits.cpus
            or named.pool_size >= window.pool_tuple.pool_size
        ):
            return None
        return Ruled(
            named,
            f"a statement waits {waits:.2f} times for rows that others hold, on {connections:.0f} connections to busy "
            f"processors: {FEWER}",
        )

    def _first_step(self, window: Window, limits: KnobSpace, features: Mapping[str, float]) -> Ruled | None:
        """Twice as many groups as processors where requests queue and nothing says that more threads would collide."""
        queued, connections, in_force = features["queue_length_mean"], features["connections"], window.pool_tuple
        size = 2 * limits.cpus
        if (
            is_quota_used_up(window)
            or limits.cpus > self.settings.most_cpus
            or queued < self.settings.least_queued * connections
            or connections < self.settings.step_connections * limits.cpus
            or self._rows_hold_up(RowWaits.of(window), connections)
            or size <= in_force.pool_size
        ):
            return None
        return self._more_groups(
            in_force,
            size,
            f"{queued:.0f} requests queue, and hardly a row is waited for: {MEASURED} gained "
            f"{100.0 * STEP_GAIN:.0f} % in the median of {STEP_WORKLOADS} such workloads, many times as much beside "
            f"long statements, and lost {100.0 * STEP_LOSS:.0f} % at most",
        )

    def _rows_hold_up(self, waits: RowWaits, connections: float) -> bool:
        """Whether more than a few statements wait for rows, or many of the few that write."""
        most = self.settings.few_row_waits_beside_step
        if waits.per_statement > most:
            return True
        of_writes = waits.per_write is not None and waits.per_write > most
        return of_writes and waits.at_once > self.settings.few_waiting * connections


def _half_as_many(in_force: PoolTuple, limits: KnobSpace) -> PoolTuple:
    """Half as many groups as processors."""
    return in_force.with_core((max(limits.cpus // 2, 1), *in_force.core[1:]))


def _enough(threads: float, connections: float, limits: KnobSpace) -> int:
    """The next power of two from a number of threads on, within the connections and what the server takes."""
    size = 1
    while size < min(threads, connections):
        size *= 2
    return int(min(size, limits.knobs["pool_size"].high))
