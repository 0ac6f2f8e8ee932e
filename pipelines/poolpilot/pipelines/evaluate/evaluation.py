"""What an evaluation says: what every method lost on the same held-out workloads, from the same windows."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.controllers.refiner import Refiner
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.models.advice.prediction import Predictor
from poolpilot.pipelines.evaluate.statistics.load_level import LEVELS, LoadLevel
from poolpilot.pipelines.evaluate.statistics.outcomes import Headroom, Outcome
from poolpilot.pipelines.evaluate.statistics.regret_statistics import (
    PairedDifference,
    gap_closed,
    harm,
    judged_by_seen,
    paired,
    same_advice,
    summary,
)

ORACLE_AGAIN = "oracle_again"
SBS = "sbs"


class EvaluationSettings(BaseModel):
    """How methods are compared on stored sweeps."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start_sizes: tuple[int, ...] = Field(
        default=(4, 16, 64), description="Pool sizes to start from besides the default, its other knobs kept."
    )
    window_s: float = Field(
        default=MeasurementSettings().window_s, gt=0.0, description="Length of the windows that methods see in seconds."
    )
    replays: int = Field(
        default=5, ge=1, description="Replays of each workload, each with other windows kept back to judge by."
    )
    resamples: int = Field(default=5000, ge=100, description="Bootstrap samples of the intervals.")
    seed: int = Field(default=0, ge=0, description="Seed of the replayed windows and of the bootstrap.")


@dataclass(frozen=True)
class Methods:
    """What is compared.

    Attributes:
        predictors: Methods that see one window, by name; `sbs` must be one.
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
        censored: Workloads that nothing is judged on, with the reason.
        loads: How much each workload asks of its server under the default tuple; None where nobody knows.
    """

    split: str
    outcomes: Mapping[str, Sequence[Outcome]]
    headrooms: Mapping[str, Headroom]
    settings: EvaluationSettings
    censored: Mapping[str, str] = field(default_factory=dict)
    loads: Mapping[str, LoadLevel | None] = field(default_factory=dict)

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
                "judged_by_seen": judged_by_seen(outcomes),
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
        return self._medians(lambda outcome: getattr(outcome, attribute))

    def medians_by_load(self) -> dict[str, dict[str, float]]:
        """Median regret of every method under light, half and full load, as far as there are such workloads."""
        found = self._medians(lambda outcome: self.loads.get(outcome.workload_id) or "")
        return {level: found[level] for level in LEVELS if level in found}

    def workloads_under(self, level: LoadLevel) -> int:
        """Workloads of a load that are judged on."""
        return sum(self.loads.get(name) == level for name in self.headrooms)

    def _medians(self, value_of: Callable[[Outcome], str]) -> dict[str, dict[str, float]]:
        grouped: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for name, outcomes in self.outcomes.items():
            for outcome in outcomes:
                grouped[value_of(outcome)][name].append(outcome.regret)
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
            "censored": dict(self.censored),
            "replays": self.settings.replays,
            "workloads_with_headroom": sum(headroom.exceeds_noise for headroom in self.headrooms.values()),
            "noise_of_one_window": float(np.median(noises)),
            "methods": self.methods(),
            "paired_vs_sbs": {name: asdict(difference) for name, difference in self.paired_vs(SBS).items()},
            "by_family": self.medians_by("family"),
            "by_load": self.medians_by_load(),
            "workloads_by_load": {level: self.workloads_under(level) for level in LEVELS},
            "by_start": self.medians_by("start"),
            "by_workload": self.medians_by("workload_id"),
        }
