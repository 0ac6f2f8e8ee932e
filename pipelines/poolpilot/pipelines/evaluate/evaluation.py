"""The evaluation: every method sees the same windows of the same held-out workloads, and pays for what it chooses."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.controllers.refiner import Refiner
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import regret
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.errors import StoreError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.predictor import Predictor
from poolpilot.pipelines.evaluate.regret_statistics import (
    Headroom,
    Outcome,
    PairedDifference,
    gap_closed,
    harm,
    paired,
    same_advice,
    summary,
)
from poolpilot.pipelines.progress_bars import NO_BARS, ProgressBars

ORACLE_AGAIN = "oracle_again"
SBS = "sbs"


class EvaluationSettings(BaseModel):
    """How methods are compared on stored sweeps."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start_sizes: tuple[int, ...] = Field(
        default=(4, 16, 64), description="Pool sizes to start from besides the default tuple, its other knobs kept."
    )
    window_s: float = Field(
        default=MeasurementSettings().window_s, gt=0.0, description="Length of the windows that methods see in seconds."
    )
    resamples: int = Field(default=5000, ge=100, description="Bootstrap samples of the intervals.")
    seed: int = Field(default=0, ge=0, description="Seed of the replayed windows and of the bootstrap.")


@dataclass(frozen=True)
class Methods:
    """What is compared.

    Attributes:
        predictors: Methods that look at one window, by name; `sbs` must be one.
        refiners: Methods that may measure some tuples of their own, by name.
    """

    predictors: Mapping[str, Predictor]
    refiners: Mapping[str, Refiner]


@dataclass(frozen=True)
class Evaluation:
    """What each method lost on each workload from each start.

    The regret of a tuple is taken against the oracle's J *as re-measured* after it was chosen, since the best of many
    noisy values is too good. A regret can so be slightly negative. `oracle_again` is the absolute regret between the
    two measurements of the oracle: the noise floor, under which no method can be told from the oracle.

    Attributes:
        split: The split evaluated on.
        outcomes: Outcomes by method.
        headrooms: What could be gained over the single best static tuple, by workload.
        settings: How they were compared.
    """

    split: str
    outcomes: Mapping[str, Sequence[Outcome]]
    headrooms: Mapping[str, Headroom]
    settings: EvaluationSettings

    @property
    def number_of_workloads(self) -> int:
        """Workloads judged on."""
        return len(self.headrooms)

    def methods(self) -> dict[str, dict[str, float | None]]:
        """Statistics of every method over all workloads and starts."""
        return {
            name: {
                **summary(outcomes),
                "gap_closed": gap_closed(outcomes, self.headrooms),
                "harm": harm(outcomes, self.headrooms),
                "same_advice": same_advice(outcomes),
            }
            for name, outcomes in self.outcomes.items()
        }

    def paired_vs(self, baseline: str) -> dict[str, PairedDifference]:
        """Difference of every other method's regret to a baseline's, with its interval."""
        return {
            name: paired(outcomes, self.outcomes[baseline], self.settings.resamples, self.settings.seed)
            for name, outcomes in self.outcomes.items()
            if name != baseline
        }

    def medians_by(self, attribute: str) -> dict[str, dict[str, float]]:
        """Median regret of every method for each value of an attribute of the outcomes, such as `family`."""
        grouped: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for name, outcomes in self.outcomes.items():
            for outcome in outcomes:
                grouped[getattr(outcome, attribute)][name].append(outcome.regret)
        return {
            value: {name: float(np.median(regrets)) for name, regrets in methods.items()}
            for value, methods in grouped.items()
        }

    def as_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        noises = [headroom.noise for headroom in self.headrooms.values()]
        return {
            "split": self.split,
            "workloads": self.number_of_workloads,
            "workloads_with_headroom": sum(headroom.exceeds_noise for headroom in self.headrooms.values()),
            "noise_of_one_window": float(np.median(noises)),
            "methods": self.methods(),
            "paired_vs_sbs": {name: asdict(difference) for name, difference in self.paired_vs(SBS).items()},
            "by_family": self.medians_by("family"),
            "by_start": self.medians_by("start"),
            "by_workload": self.medians_by("workload_id"),
        }


def evaluate_methods(
    sweeps: Sequence[WorkloadSweep],
    methods: Methods,
    settings: EvaluationSettings,
    split: str,
    bars: ProgressBars = NO_BARS,
) -> Evaluation:
    """Lets every method choose for every workload from every start.

    Args:
        sweeps: The workloads to evaluate on.
        methods: What is compared.
        settings: How.
        split: Name of their split.
        bars: Show which workload is evaluated.

    Raises:
        StoreError: There is no sweep, or one measured none of the starting tuples.
    """
    if not sweeps:
        raise StoreError(f"there is no workload of the split {split!r} to evaluate on; collect some first")
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    headrooms: dict[str, Headroom] = {}
    judged = bars.each(f"evaluating, {split}", sweeps, lambda sweep: sweep.workload_id)
    for index, sweep in enumerate(judged):
        for number, (start, pool_tuple) in enumerate(starts_of(sweep, settings).items()):
            seed = int(np.random.default_rng([settings.seed, index, number]).integers(2**31))
            for outcome in _play(sweep, start, pool_tuple, methods, settings, seed):
                outcomes[outcome.method].append(outcome)
        sbs_value = outcomes[SBS][-1].value
        headrooms[sweep.workload_id] = Headroom(sbs_value, reference_value(sweep), sweep.noise)
    return Evaluation(split, dict(outcomes), headrooms, settings)


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
        raise StoreError(f"the sweep of workload {sweep.workload_id!r} measured none of the starting tuples")
    return found


def reference_value(sweep: WorkloadSweep) -> float:
    """J of the oracle that regrets are taken against: as re-measured.

    Raises:
        StoreError: It was not measured again.
    """
    if sweep.oracle_again is None:
        raise StoreError(f"the best tuple of workload {sweep.workload_id!r} was not measured again; collect it again")
    return sweep.oracle_again


def _play(
    sweep: WorkloadSweep, start: str, pool_tuple: PoolTuple, methods: Methods, settings: EvaluationSettings, seed: int
) -> list[Outcome]:
    # The same seed draws the same first window for every method, as long as a refiner measures it.
    window_s = MeasurementSettings(window_s=settings.window_s).window_for(pool_tuple)
    with RecordedServer(sweep, seed=seed, initial=pool_tuple) as server:
        window = server.observe(window_s)
    played = []
    for name, predictor in methods.predictors.items():
        said = predictor.predict([window], sweep.limits, sweep.objective)
        doubt = None if said.gain_low is None or said.gain_high is None else said.gain_high - said.gain_low
        played.append(_outcome(sweep, start, name, said.pool_tuple, abstained=said.abstained, doubt=doubt))
    for name, refiner in methods.refiners.items():
        with RecordedServer(sweep, seed=seed, initial=pool_tuple) as server:
            refined = refiner.refine(server, sweep.objective)
        played.append(_outcome(sweep, start, name, refined.pool_tuple))
    oracle = _outcome(sweep, start, ORACLE_AGAIN, sweep.oracle_tuple)
    return [*played, replace(oracle, regret=abs(regret(sweep.oracle_value, reference_value(sweep))))]


def _outcome(
    sweep: WorkloadSweep,
    start: str,
    method: str,
    chosen: PoolTuple,
    *,
    abstained: bool = False,
    doubt: float | None = None,
) -> Outcome:
    value = sweep.value(chosen)
    lost = regret(value, reference_value(sweep))
    return Outcome(sweep.workload_id, sweep.family, start, method, chosen.core, value, lost, abstained, doubt)
