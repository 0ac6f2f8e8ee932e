"""What response curves lose on held-out workloads of one's own: three trials on replayed sweeps, choices judged apart.

A bandit sees one window of each tuple it tries; what it ends on is valued by the *other* windows of that tuple, where
the sweep has some, and against the oracle as it was measured afresh. What breaks a limit is worth no more than the
default, to which whoever tries it goes back.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poolpilot.agent.controllers.refiner import Refiner, RefinerSettings
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import regret
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.pipelines.evaluate.censored_sweeps import reason_to_censor, reference_value
from poolpilot.pipelines.evaluate.statistics.regret_statistics import clustered_interval
from poolpilot.pipelines.learn.learn_settings import Staged

TRIALS = 3
WINDOW_S = 0.3
REPLAYS = 2
"""Replays of each sweep, each with other windows kept back."""

MOST_WORKLOADS = 49
"""Workloads of a kind of server that are replayed at most."""

RESAMPLES, SEED = 2000, 0


@dataclass(frozen=True, slots=True)
class JudgedWorkload:
    """What a library has lost on one workload.

    Attributes:
        server: Kind of server that was swept.
        family: Family of the workload.
        workload_id: The workload.
        regret: Mean regret of what was chosen, over the replays.
        digest: Digest of the library.
    """

    server: Staged
    family: str
    workload_id: str
    regret: float
    digest: str


@dataclass(frozen=True, slots=True)
class RegretDifference:
    """Mean regret of a library minus that of another on the same workloads; negative is better.

    Attributes:
        server: Kind of server.
        workloads: Workloads they were judged on.
        families: Families of these.
        mean: Mean regret of the one.
        mean_before: Mean regret of the other.
        low: Lower end of the 95 % interval of the difference, by families; None from fewer than three of them.
        high: Upper end of it.
    """

    server: Staged
    workloads: int
    families: int
    mean: float
    mean_before: float
    low: float | None
    high: float | None

    def in_words(self) -> str:
        """The difference as a sentence."""
        held = "" if self.low is None else f", 95 % interval {100 * self.low:+.1f} to {100 * (self.high or 0.0):+.1f}"
        points = 100 * (self.mean - self.mean_before)
        return (
            f"{self.server}: regret {self.mean:.1%}, {points:+.1f} points beside {self.mean_before:.1%}{held} "
            f"({self.workloads} held-out workloads of {self.families} families)"
        )


def judge(curves: ResponseCurves, sweeps: Iterable[tuple[Staged, WorkloadSweep]]) -> list[JudgedWorkload]:
    """Replays sweeps that were chosen; the same library and sweeps give the same judgement."""
    refiner = Refiner(
        Advisor(Model.of(curves), Purpose.TRIAL),
        RefinerSettings(decisions=TRIALS, measurement=MeasurementSettings(window_s=WINDOW_S)),
    )
    return [
        JudgedWorkload(
            server,
            sweep.family,
            sweep.workload_id,
            float(np.mean([_replayed(refiner, sweep, seed) for seed in range(REPLAYS)])),
            curves.digest,
        )
        for server, sweep in sweeps
    ]


def chosen(sweeps: Iterable[tuple[Staged, WorkloadSweep]], cpus: int) -> list[tuple[Staged, WorkloadSweep]]:
    """The sweeps to judge by: of each kind of server so many at most, spread evenly over the families.

    Those of other machines are left out where there are some of as many processors, and so are those that can judge
    nothing. MariaDB's are replayed as a tuner sees them: in production nobody sees what the clients see.

    Args:
        sweeps: Held-out sweeps, with the kind of server they are of.
        cpus: Processors of the server that is to be tuned.

    Raises:
        StoreError: The best tuple of a workload was not measured again.
    """
    grouped: dict[Staged, list[WorkloadSweep]] = defaultdict(list)
    for server, sweep in sweeps:
        if reason_to_censor(sweep) is None:
            grouped[server].append(sweep.server_view() if server == "mariadb" else sweep)
    return [(server, sweep) for server, found in grouped.items() for sweep in _spread(_of_machine(found, cpus))]


def _of_machine(found: Sequence[WorkloadSweep], cpus: int) -> Sequence[WorkloadSweep]:
    """Those of as many processors; all where there are none."""
    return [sweep for sweep in found if sweep.limits.cpus == cpus] or found


def differences(judged: Sequence[JudgedWorkload], before: Sequence[JudgedWorkload]) -> list[RegretDifference]:
    """Compares two libraries that were judged on the same workloads, for each kind of server."""
    known = {(one.server, one.workload_id): one.regret for one in before}
    servers = dict.fromkeys(one.server for one in judged)
    return [_difference(server, [one for one in judged if one.server == server], known) for server in servers]


def as_rows(found: Sequence[RegretDifference]) -> list[dict[str, Any]]:
    """Differences fit for JSON."""
    return [{name: getattr(one, name) for name in RegretDifference.__slots__} for one in found]


def _difference(
    server: Staged, judged: Sequence[JudgedWorkload], known: Mapping[tuple[Staged, str], float]
) -> RegretDifference:
    by_family: dict[str, list[float]] = defaultdict(list)
    for one in judged:
        by_family[one.family].append(one.regret - known[one.server, one.workload_id])
    low, high = clustered_interval(by_family, RESAMPLES, SEED)
    mean = float(np.mean([one.regret for one in judged]))
    mean_before = float(np.mean([known[one.server, one.workload_id] for one in judged]))
    return RegretDifference(server, len(judged), len(by_family), mean, mean_before, low, high)


def _spread(found: Sequence[WorkloadSweep]) -> list[WorkloadSweep]:
    by_family: dict[str, list[WorkloadSweep]] = defaultdict(list)
    for sweep in sorted(found, key=lambda one: one.workload_id):
        by_family[sweep.family].append(sweep)
    dealt = [(number, family, sweep) for family, each in by_family.items() for number, sweep in enumerate(each)]
    return [sweep for _, _, sweep in sorted(dealt, key=lambda one: one[:2])][:MOST_WORKLOADS]


def _replayed(refiner: Refiner, sweep: WorkloadSweep, seed: int) -> float:
    """Regret of what the bandit ends on."""
    shown, value_of = sweep.kept_apart(np.random.default_rng([seed, *sweep.workload_id.encode()]))
    with RecordedServer(shown, seed=seed) as server:
        ended_on = refiner.refine(server, sweep.objective).pool_tuple
    return regret(sweep.value_within_floors(ended_on.core, value_of), reference_value(sweep))
