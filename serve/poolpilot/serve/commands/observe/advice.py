"""What is said to the DBA of a MariaDB server: the workload in words, the tuple, its price, and how to set it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from poolpilot.env.knobs import STOCK_MAX_POOL_SIZE, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.measures import STATEMENTS
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.mariadb.host.quota_periods import cpus_in_words
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.advice.reasons import BUSY, QUEUEING, percentage
from poolpilot.models.body import REQUEST, as_body
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.observations.disturbances import disturbances_of
from poolpilot.models.observations.used_up_quota import is_quota_used_up, throttled_share
from poolpilot.models.workload_repository import WorkloadRepository
from poolpilot.serve.commands.presentation.neutral_choice import neutral_choice
from poolpilot.serve.commands.presentation.setting_lines import SettingLines
from poolpilot.serve.commands.presentation.verdict import trials

SATURATED = 0.5
"""Share of the connections in the system from which on the server, not its clients, sets the pace."""

FEW_CONNECTIONS_PER_CPU = 4.0
"""Up to so many connections a processor a thread per connection was at least as fast as the pool
(docs/results-mariadb.md)."""

REASONS = {
    "waits_sleep_per_request": "sleeps or user locks",
    "waits_disk_io_per_request": "disk, binary log or flushes",
    "waits_row_lock_per_request": "row, table or metadata locks",
    "waits_net_per_request": "the network",
}
WORTH_SAYING = 0.01

TIMES = {
    "row_lock_wait_us_per_request": "for rows that others hold",
    "threads_run_delay_us_per_request": "for a processor",
    "events_file_us_per_request": "for files",
    "events_lock_us_per_request": "for tables",
    "events_synch_us_per_request": "for locks inside the server",
}
"""Indicator to what it is that a statement waits for."""

WORTH_SAYING_US = 10.0


@dataclass(frozen=True)
class Advice:
    """All that `poolpilot advise` says.

    Attributes:
        prediction: The tuple with its gain and reasons.
        workload: The workload in words.
        similar: The workload of the model's repository that is most like it, and what the tuple did to its classes;
            None without a repository or without advice.
        worst_threads: Threads that the pool may start under the recommended tuple.
        worst_memory_mb: Memory that their stacks may take.
        to_name_cpus: Line that asks again with the processors named; None where they are known.
        next_steps: Lines that find out in staging, where there is no advice or a change may lose, or the line that
            looks again, where what was seen does not last; else empty.
        neutral: What may be set without trying where there is no advice, with what it was worth; None where nobody
            knows, or what was seen does not last.
        to_set: The lines that set it and keep it; none where nothing is to be set.
        after_restart: What other settings of the server could change, and would; most of them need a restart.
        windows: What was seen on the way to what is in force, which is the latest.
        limits: The ranges of the server.
        objective: What counts.
    """

    prediction: Prediction
    workload: tuple[str, ...]
    similar: str | None
    worst_threads: int
    worst_memory_mb: float
    to_name_cpus: str | None
    next_steps: tuple[str, ...]
    neutral: str | None
    to_set: SettingLines
    after_restart: tuple[str, ...]
    windows: tuple[Window, ...]
    limits: KnobSpace
    objective: Objective

    @property
    def window(self) -> Window:
        """What was seen of what is in force."""
        return self.windows[-1]

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return {
            "prediction": self.prediction.as_dict(),
            "workload": list(self.workload),
            "similar": self.similar,
            "worst_threads": self.worst_threads,
            "worst_memory_mb": self.worst_memory_mb,
            "to_name_cpus": self.to_name_cpus,
            "next_steps": list(self.next_steps),
            "neutral": self.neutral,
            **self.to_set.as_dict(),
            "after_restart": list(self.after_restart),
            REQUEST: as_body(self.windows, self.limits, self.objective),
        }


def advice_of(
    server: MariadbServer,
    windows: Sequence[Window],
    prediction: Prediction,
    repository: WorkloadRepository | None,
    named: str,
    objective: Objective,
    curves: ResponseCurves,
) -> Advice:
    """Puts together what is said of a watched window and its prediction.

    Args:
        server: The server.
        windows: What was seen of it on the way to what is in force, which is the latest.
        prediction: What the model answered.
        repository: The workloads that the model learned from, where it lists them.
        named: What names the server on a command line.
        objective: What counts.
        curves: The known response curves.
    """
    chosen, window = prediction.pool_tuple, windows[-1]
    threads = worst_threads(server, chosen)
    return Advice(
        prediction=prediction,
        workload=workload_in_words(window, server.cpus),
        similar=None if prediction.abstained else _similar(window, chosen, repository),
        worst_threads=threads,
        worst_memory_mb=threads * int(server.variables["thread_stack"].value) / 2**20,
        to_name_cpus=f"poolpilot advise {named} --cpus N" if server.knobs.processors is None else None,
        next_steps=_next_steps(window, prediction, named),
        neutral=neutral_choice(prediction, windows, server.knobs, objective, curves),
        to_set=SettingLines.between(prediction.in_force, chosen),
        after_restart=_after_restart(server, window, chosen),
        windows=tuple(windows),
        limits=server.knobs,
        objective=objective,
    )


def worst_threads(server: MariadbServer, pool_tuple: PoolTuple) -> int:
    """Threads that the pool may start: a blocked one is replaced, up to one a connection and a listener a group."""
    connections = server.population.connections
    most = int(server.variables["thread_pool_max_threads"].value)
    return min(max(pool_tuple.active_threads, connections) + pool_tuple.pool_size, most)


def workload_in_words(window: Window, cpus: float | None) -> tuple[str, ...]:
    """The workload of a window, sentence by sentence; `cpus` is None where the processors are not known."""
    features = {name: value for name, value in window.profile.features.items() if value is not None}
    connections = features.get("connections", 0.0)
    processors = "an unknown number of processors" if cpus is None else cpus_in_words(cpus)
    said = [f"{connections:.0f} connections send {window.throughput_per_s:.0f} statements a second to {processors}"]
    if "utilisation" in features:
        each = features.get("process_cpu_us_per_request", 0.0)
        used = percentage(features["utilisation"])
        said.append(f"the server uses {used} of the processor time, {each:.0f} us a statement")
    if is_quota_used_up(window):
        said.append(f"its CPU quota is used up in {percentage(throttled_share(window))} of its periods")
    if window.in_system is not None and window.time_in_system_s is not None and connections:
        waiting = "all" if window.in_system >= connections else f"{window.in_system:.1f} of the"
        each_ms = 1e3 * window.time_in_system_s
        said.append(f"{waiting} connections wait for an answer at any moment, {each_ms:.1f} ms each by Little's law")
        if (queued := _queued(features)) >= QUEUEING:
            said.append(f"{queued:.1f} of them are in the pool's queue")
        said.append(_pace(features, window.in_system / connections))
    for name, words in REASONS.items():
        if features.get(name, 0.0) >= WORTH_SAYING:
            said.append(
                f"a statement waits {features[name]:.2f} times for {words}, which the server reports to the pool"
            )
    if features.get("stalls_per_s", 0.0) >= 1.0:
        said.append(f"{features['stalls_per_s']:.0f} groups a second are found stalled")
    return (*said, *_indicators_in_words(window.indicators))


def _indicators_in_words(indicators: Mapping[str, float]) -> Iterator[str]:
    """What the server shows beside its pool, where it is worth saying."""
    shares = {kind: indicators.get(f"{kind}_share", 0.0) for kind in STATEMENTS}
    mix = [f"{percentage(share)} {kind.upper()}" for kind, share in shares.items() if share >= WORTH_SAYING]
    if mix:
        yield f"of the statements counted by kind {', '.join(mix)}"
    for name, what in TIMES.items():
        if indicators.get(name, 0.0) >= WORTH_SAYING_US:
            yield f"a statement waits {indicators[name] / 1e3:.2f} ms {what}"


def _pace(features: Mapping[str, float], waiting_share: float) -> str:
    if waiting_share >= SATURATED or features.get("utilisation", 0.0) > BUSY or _queued(features) >= QUEUEING:
        return "so the server, not its clients, sets the pace"
    return "so the server keeps up with its clients, and how fast it answers is what counts"


def _queued(features: Mapping[str, float]) -> float:
    return features.get("queue_length_mean", features.get("queue_length", 0.0))


def _next_steps(window: Window, prediction: Prediction, named: str) -> tuple[str, ...]:
    if prediction.abstained and disturbances_of([window]):
        return (f"poolpilot advise {named}",)
    is_to_be_tried = prediction.abstained or _may_lose(prediction)
    return trials(named) if is_to_be_tried and not is_quota_used_up(window) else ()


def _may_lose(prediction: Prediction) -> bool:
    """Whether its interval holds a loss, or it has none, as what a rule advises."""
    return prediction.verdict == "change" and (prediction.gain_low is None or prediction.gain_low < 0.0)


def _similar(window: Window, chosen: PoolTuple, repository: WorkloadRepository | None) -> str | None:
    if repository is None:
        return None
    similar = repository.nearest(window)
    before, after = similar.workload.under(window.pool_tuple.core), similar.workload.under(chosen.core)
    changes = [
        f"{name} from {before.per_s[name]:.0f} to {after.per_s.get(name, 0.0):.0f} a second"
        for name in sorted(before.per_s)
    ]
    same = before.core == after.core
    effect = (
        ""
        if same
        else f"; there {PoolTuple(*after.core)} instead of {PoolTuple(*before.core)} took " + ", ".join(changes)
    )
    return f"of the workloads that the model learned from, {similar.workload.name} looks most like it{effect}"


def _after_restart(server: MariadbServer, window: Window, chosen: PoolTuple) -> tuple[str, ...]:
    said = []
    connections = window.profile.features.get("connections") or 0.0
    ceiling = int(server.knobs.knobs["pool_size"].high)
    if chosen.pool_size >= ceiling and connections > ceiling:
        said.append(_beyond_the_ceiling(ceiling, int(server.variables["thread_pool_max_threads"].value)))
    cpus = server.cpus
    if cpus is not None and 0.0 < connections <= FEW_CONNECTIONS_PER_CPU * cpus:
        said.append(
            f"with {connections:.0f} connections on {cpus_in_words(cpus)} a thread per connection "
            "(thread_handling=one-thread-per-connection in my.cnf, then a restart) may do better than any pool"
        )
    return tuple(said)


def _beyond_the_ceiling(ceiling: int, most_threads: int) -> str:
    """What would let the pool have more groups than it can be given now."""
    if ceiling < STOCK_MAX_POOL_SIZE:
        return (
            f"thread_pool_max_threads = {most_threads} has threads for {ceiling} groups; with a larger one, which "
            "needs no restart, there can be more"
        )
    return (
        f"thread_pool_size cannot rise above {ceiling} while the server runs; "
        "started with a larger one in my.cnf it can"
    )
