"""Short requests beside long ones in one pool, simulated: what the best tuple saves them, and what priorities do.

Four arrangements of a workload: the default tuple or the best one, one FIFO queue or the best discipline. What is best
is chosen by the objective J of the workload in one run, among what leaves the long ones half of what they have by
default; all four are then judged in runs with other random numbers.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.servers.simulated_measurement import Scenario
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.env.workloads.simulated_families import SIMULATED_FAMILIES, draw_scenario
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.pipelines.bench.parts.simulated_trial import CORE, simulated_window
from poolpilot.pipelines.bench.serving.two_queues import (
    Options,
    by_weight_of_time,
    first_queue_first,
    weighted_queues,
)

SHORT, LONG = "short", "long"
"""Names of the classes in all these families, in the order of their queues."""

STAGED = ("short_beside_long", "short_beside_silent_long")
SIMULATED = "sim_short_beside_long"

FIFO = "FIFO"
LISTENING = {"class_known": "peeked", "dedicated_listener": True}
DISCIPLINES: Mapping[str, Options] = {
    FIFO: {},
    "short first": {**first_queue_first(), **LISTENING},
    **{f"weight of long {weight:g}": {**weighted_queues(weight), **LISTENING} for weight in (0.05, 0.1, 0.2, 0.3)},
    "half of the time each": {**by_weight_of_time(0.5), **LISTENING},
}
"""Options by name. Under `FIFO` the pool is stock: no request of these families is in a transaction."""

KEPT = 0.5
"""Share of their default throughput that the long ones must keep."""

MOST_CPUS = 16
"""Of the simulated family: larger machines answer more requests than can be simulated in minutes."""

SETTLE_S = 1.0
LEAST_WINDOW_S = 2.0
CPU_SECONDS = 16.0
"""A window has about so many seconds of processor time: long ones are few."""

ARRANGEMENTS = ("default tuple, FIFO", "best tuple, FIFO", "default tuple, best discipline", "both")


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A tuple and a discipline.

    Attributes:
        pool_tuple: The tuple.
        discipline: Name in `DISCIPLINES`.
    """

    pool_tuple: PoolTuple
    discipline: str


@dataclass(frozen=True, slots=True)
class MixOutcome:
    """What a run gave.

    Attributes:
        value: The objective J.
        short_p99_ms: 99th percentile of the short ones' latency.
        short_in_time: Share of the short ones that were answered within their target.
        short_goodput_per_s: Short ones answered in time.
        long_per_s: Long ones answered.
    """

    value: float
    short_p99_ms: float
    short_in_time: float
    short_goodput_per_s: float
    long_per_s: float

    @classmethod
    def of(cls, scenario: Scenario, window: Window) -> "MixOutcome":
        """What a window says."""
        short = window.classes.get(SHORT)
        long = window.classes.get(LONG)
        in_time = 0.0 if short is None else short.latency.count_below(target_ms(scenario) * 1e3)
        return cls(
            value=scenario.objective.value(window),
            short_p99_ms=0.0 if short is None else short.latency.quantile(0.99) / 1e3,
            short_in_time=0.0 if short is None or not short.latency.count else in_time / short.latency.count,
            short_goodput_per_s=in_time / window.duration_s,
            long_per_s=0.0 if long is None else long.throughput_per_s,
        )


def target_ms(scenario: Scenario) -> float:
    """Latency target of the short ones."""
    found = next(one.target_ms for one in scenario.workload.classes if one.name == SHORT)
    assert found is not None
    return found


def scenarios(family: str, seed: int, count: int) -> Iterator[Scenario]:
    """Workloads of a family; those of the live families on the machine that was fitted to the live pool."""
    if family == SIMULATED:
        drawn = (draw_scenario(SIMULATED_FAMILIES[family], seed, number) for number in itertools.count())
        yield from itertools.islice((one for one in drawn if one.workload.cpus <= MOST_CPUS), count)
        return
    for number in range(count):
        yield Scenario(draw_workload(FAMILIES[family], seed, number), CALIBRATED)


def simulated(scenario: Scenario, arrangement: Arrangement, seed: int) -> Window:
    """A window of a fresh pool, with random numbers of its own."""
    workload = replace(scenario.workload, seed=seed)
    core = dict(zip(CORE, arrangement.pool_tuple.core, strict=True))
    window_s = max(LEAST_WINDOW_S, CPU_SECONDS / workload.cpus)
    options = {**DISCIPLINES[arrangement.discipline], **core}
    return simulated_window(workload, options, SETTLE_S, window_s, scenario.machine)


def run(scenario: Scenario, arrangement: Arrangement, seed: int) -> MixOutcome:
    """What an arrangement gives in one run."""
    return MixOutcome.of(scenario, simulated(scenario, arrangement, seed))


def chosen(scenario: Scenario, seed: int, tuples: Sequence[PoolTuple] | None = None) -> dict[str, Arrangement]:
    """The best arrangement of each kind in one run: J, but first of all what the long ones must keep.

    Args:
        scenario: The workload and its machine.
        seed: Of the run.
        tuples: Tuples that are tried beside the default one; those of `grid` if None.
    """
    default = PoolTuple(scenario.workload.cpus, 3, 500)
    tried = dict.fromkeys((default, *(grid(scenario) if tuples is None else tuples)))
    objective = scenario.objective.model_copy(update={"min_share": {LONG: KEPT}})
    reference = simulated(scenario, Arrangement(default, FIFO), seed)

    def rank(one: Arrangement) -> tuple[bool, float]:
        window = simulated(scenario, one, seed)
        return objective.feasible(window, reference), objective.value(window)

    ranks = {one: rank(one) for one in (Arrangement(core, name) for core in tried for name in DISCIPLINES)}
    by_tuple = [one for one in ranks if one.discipline == FIFO]
    by_discipline = [one for one in ranks if one.pool_tuple == default]
    best = [max(among, key=ranks.__getitem__) for among in (by_tuple, by_discipline, list(ranks))]
    return dict(zip(ARRANGEMENTS, (Arrangement(default, FIFO), *best), strict=True))


def grid(scenario: Scenario) -> list[PoolTuple]:
    """Tuples of the grid from half the processors to four times as many, at least to size 64."""
    cpus = scenario.workload.cpus
    most = max(64, 4 * cpus)
    return [one for one in LARGE_GRID.tuples if cpus / 2 <= one.pool_size <= most]
