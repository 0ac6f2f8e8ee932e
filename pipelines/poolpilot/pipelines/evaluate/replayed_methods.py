"""Every method sees the same windows of the same held-out workloads; what it chooses is valued by other windows.

A method that measures tuples and ends on the best has chosen by the windows it measured: valued by these, its choice
would look better than it is. So each replay of a sweep shows one window of each tuple, and values a choice by the
tuple's other windows. A tuple that the race dropped has only one, which then does both; how often is counted.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.measurement.sweep import Core, WorkloadSweep
from poolpilot.env.objective import regret
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.errors import StoreError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.pipelines.evaluate.censored_sweeps import censored_sweeps, reference_value
from poolpilot.pipelines.evaluate.evaluation import ORACLE_AGAIN, SBS, Evaluation, EvaluationSettings, Methods
from poolpilot.pipelines.evaluate.statistics.load_level import load_level
from poolpilot.pipelines.evaluate.statistics.outcomes import Headroom, Outcome
from poolpilot.pipelines.progress_bars import NO_BARS, ProgressBars


@dataclass(frozen=True)
class Replay:
    """One workload seen from one starting tuple, with the windows that judge kept apart from those that are seen.

    Attributes:
        sweep: The whole sweep.
        shown: The sweep with the windows that methods see.
        value_of: J of a tuple by the others.
        start: Name of the starting tuple.
        initial: The starting tuple.
        number: Which replay of the workload it is.
        seed: Seed of the server; every method gets the same windows by it.
    """

    sweep: WorkloadSweep
    shown: WorkloadSweep
    value_of: Callable[[Core], float]
    start: str
    initial: PoolTuple
    number: int
    seed: int

    def server(self) -> RecordedServer:
        """A fresh server of what is shown."""
        return RecordedServer(self.shown, seed=self.seed, initial=self.initial)

    def outcome(self, method: str, chosen: Core, seen: Set[Core]) -> Outcome:
        """What a choice is worth, by a method that has seen windows of these tuples."""
        entry, value = self.sweep.entries.get(chosen), self.sweep.value_within_floors(chosen, self.value_of)
        spare = entry is not None and len(entry.windows) > 1
        return Outcome(
            self.sweep.workload_id,
            self.sweep.family,
            self.start,
            method,
            chosen,
            value,
            regret(value, reference_value(self.sweep)),
            replay=self.number,
            judged_by_seen=chosen in seen and not spare,
        )


def evaluate_methods(
    sweeps: Sequence[WorkloadSweep],
    methods: Methods,
    settings: EvaluationSettings,
    split: str,
    bars: ProgressBars = NO_BARS,
) -> Evaluation:
    """Lets every method choose for every workload from every start; workloads that cannot judge are left out.

    Args:
        sweeps: The workloads to evaluate on.
        methods: What is compared.
        settings: How.
        split: Name of their split.
        bars: Show which workload is evaluated.

    Raises:
        StoreError: There is no sweep, or none that can judge, or one measured none of the initial configurations.
    """
    if not sweeps:
        raise StoreError(f"there is no workload of the split {split!r} to evaluate on; collect some first")
    censored = censored_sweeps(sweeps)
    kept = [sweep for sweep in sweeps if sweep.workload_id not in censored]
    if not kept:
        raise StoreError(f"no workload of the split {split!r} can judge: {next(iter(censored.values()))}")
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    headrooms: dict[str, Headroom] = {}
    for sweep in bars.each(f"evaluating, {split}", kept, lambda sweep: sweep.workload_id):
        for replay in replays_of(sweep, settings):
            for outcome in _play(replay, methods, settings):
                outcomes[outcome.method].append(outcome)
        static = sweep.limits.default_tuple().with_core(outcomes[SBS][-1].chosen)
        headrooms[sweep.workload_id] = Headroom(sweep.value(static), reference_value(sweep), sweep.noise)
    loads = {sweep.workload_id: load_level(_under_the_default(sweep)) for sweep in kept}
    return Evaluation(split, dict(outcomes), headrooms, settings, censored, loads)


def _under_the_default(sweep: WorkloadSweep) -> Sequence[Window]:
    entry = sweep.entries.get(sweep.limits.default_tuple().core)
    return () if entry is None else entry.windows


def replays_of(sweep: WorkloadSweep, settings: EvaluationSettings) -> Iterator[Replay]:
    """Every replay of a sweep from every start: the windows kept back are other ones each time."""
    for number in range(settings.replays):
        rng = np.random.default_rng([settings.seed, number, *sweep.workload_id.encode()])
        shown, value_of = sweep.kept_apart(rng)
        for start, initial in starts_of(sweep, settings).items():
            yield Replay(sweep, shown, value_of, start, initial, number, int(rng.integers(2**31)))


def starts_of(sweep: WorkloadSweep, settings: EvaluationSettings) -> dict[str, PoolTuple]:
    """Starting tuples by name, the default first; those that were not measured or are not allowed are left out.

    Raises:
        StoreError: None is left.
    """
    default = sweep.limits.default_tuple()
    wanted = {"default": default} | {
        f"size {size}": replace(default, pool_size=size) for size in settings.start_sizes if size != default.pool_size
    }
    found = {name: one for name, one in wanted.items() if one.core in sweep.entries and sweep.limits.allows(one)}
    if not found:
        raise StoreError(f"the sweep of workload {sweep.workload_id!r} measured none of the initial configurations")
    return found


def _play(replay: Replay, methods: Methods, settings: EvaluationSettings) -> Iterator[Outcome]:
    sweep, initial = replay.shown, replay.initial
    with replay.server() as server:
        window = server.observe(MeasurementSettings(window_s=settings.window_s).window_for(initial))
    for name, predictor in methods.predictors.items():
        said = predictor.predict([window], sweep.limits, sweep.objective)
        doubt = None if said.gain_low is None or said.gain_high is None else said.gain_high - said.gain_low
        chosen = replay.outcome(name, said.pool_tuple.core, {initial.core})
        yield replace(chosen, abstained=said.abstained, doubt=doubt)
    for name, refiner in methods.refiners.items():
        with replay.server() as server:
            refined = refiner.refine(server, sweep.objective)
        yield replay.outcome(name, refined.pool_tuple.core, {one.pool_tuple.core for one in refined.windows})
    yield _oracle_again(replay)


def _oracle_again(replay: Replay) -> Outcome:
    """The noise floor: how far two measurements of the oracle, the one it was chosen by and the one afresh, differ."""
    sweep = replay.sweep
    between = abs(regret(sweep.oracle_value, reference_value(sweep)))
    chosen = replay.outcome(ORACLE_AGAIN, sweep.oracle_tuple.core, frozenset())
    return replace(chosen, value=sweep.oracle_value, regret=between)
