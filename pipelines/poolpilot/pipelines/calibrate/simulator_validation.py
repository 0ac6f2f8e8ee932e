"""The twin: measured workloads simulated window by window, and how well that agrees with what was measured."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import Objective, regret
from poolpilot.env.servers.simulated import SimulatedServer, run_all
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.simulation import Machine
from poolpilot.native_pool.workload import Workload

NOISE_FACTOR = 2.0
"""A difference of two measured means counts where it exceeds so many standard errors of itself."""


@dataclass(frozen=True)
class MeasuredStage:
    """One measured window of a sweep.

    Attributes:
        window: The window, with its tuple and its length.
        settle_s: Seconds that the server had under the tuple before it.
        counts: Whether it is compared; one that other machines have disturbed is only gone through.
    """

    window: Window
    settle_s: float
    counts: bool = True

    @property
    def core(self) -> Core:
        """Core of the tuple."""
        return self.window.pool_tuple.core


@dataclass(frozen=True)
class MeasuredWorkload:
    """A workload and what was measured of it.

    Attributes:
        workload: What was sent.
        limits: Knobs of the server.
        objective: What the windows are evaluated by.
        stages: The windows in the order in which they were measured, since a pool remembers: threads and collapsed
            latches outlive a change of the tuple.
    """

    workload: Workload
    limits: KnobSpace
    objective: Objective
    stages: Sequence[MeasuredStage]


@dataclass(frozen=True)
class Twin:
    """One workload, measured and simulated through the same tuples in the same order.

    Attributes:
        measured: What was measured.
        simulated: The simulated window of every stage, or of the first ones.
    """

    measured: MeasuredWorkload
    simulated: Sequence[Window]

    @cached_property
    def _measured_logs(self) -> dict[Core, list[float]]:
        return self._logs([stage.window for stage in self.measured.stages])

    @cached_property
    def _simulated_logs(self) -> dict[Core, list[float]]:
        return self._logs(self.simulated)

    def _logs(self, windows: Sequence[Window]) -> dict[Core, list[float]]:
        grouped: dict[Core, list[float]] = defaultdict(list)
        # Of the stages only the first may have been simulated.
        for stage, window, _ in zip(self.measured.stages, windows, self.simulated, strict=False):
            if stage.counts:
                grouped[stage.core].append(float(np.log(self.measured.objective.goodput_per_s(window))))
        return grouped

    @cached_property
    def log_ratios(self) -> dict[Core, float]:
        """Logarithm of simulated over measured goodput of every tuple, geometric means of its windows."""
        return {
            core: float(np.mean(self._simulated_logs[core]) - np.mean(one)) for core, one in self._measured_logs.items()
        }

    @property
    def errors(self) -> list[float]:
        """Relative error of the simulated goodput, one for every tuple."""
        return [abs(float(np.expm1(one))) for one in self.log_ratios.values()]

    @property
    def deviations(self) -> list[float]:
        """Relative distance of every measured window from the mean of its tuple, of the tuples measured repeatedly.

        Of two windows it is as far off as their mean is, so no simulator can have smaller errors.
        """
        repeated = [np.array(one) for one in self._measured_logs.values() if len(one) > 1]
        return [abs(float(np.expm1(value))) for one in repeated for value in one - one.mean()]

    @cached_property
    def noise(self) -> float:
        """Standard deviation of one measured window's logarithm of goodput, pooled over the tuples; 0 unrepeated."""
        repeated = [np.array(one) for one in self._measured_logs.values() if len(one) > 1]
        freedom = sum(len(one) - 1 for one in repeated)
        squares = sum(float(np.square(one - one.mean()).sum()) for one in repeated)
        return float(np.sqrt(squares / freedom)) if freedom else 0.0

    @cached_property
    def pairs(self) -> tuple[int, int]:
        """Pairs of tuples whose measured goodput differs by more than the noise, and how many are ranked alike."""
        apart = alike = 0
        for first, second in combinations(self._measured_logs, 2):
            one, other = self._measured_logs[first], self._measured_logs[second]
            difference = float(np.mean(one) - np.mean(other))
            if abs(difference) <= NOISE_FACTOR * self.noise * np.sqrt(1 / len(one) + 1 / len(other)):
                continue
            apart += 1
            simulated = float(np.mean(self._simulated_logs[first]) - np.mean(self._simulated_logs[second]))
            alike += simulated * difference > 0
        return apart, alike

    @cached_property
    def choice(self) -> Core:
        """The tuple that the simulator would choose."""
        return max(self._simulated_logs, key=lambda core: self._value(core, self._simulated_logs))

    @property
    def regret(self) -> float:
        """Measured regret of that choice against the tuple measured best, the luck of the best included."""
        best = max(self._value(core, self._measured_logs) for core in self._measured_logs)
        return regret(self._value(self.choice, self._measured_logs), best)

    def _value(self, core: Core, logs: dict[Core, list[float]]) -> float:
        return float(np.mean(logs[core])) - self.measured.objective.price_of_thread * float(np.log(core[0]))


@dataclass(frozen=True)
class TwinReport:
    """How well a simulator agrees with measured workloads.

    Attributes:
        twins: The workloads.
    """

    twins: Sequence[Twin]

    @property
    def errors(self) -> list[float]:
        """Relative errors of goodput, of all workloads and tuples."""
        return [error for twin in self.twins for error in twin.errors]

    @property
    def loss(self) -> float:
        """Mean distance of the logarithms of goodput: what calibration makes small."""
        return float(np.mean([abs(one) for twin in self.twins for one in twin.log_ratios.values()]))

    def summary(self) -> dict[str, float]:
        """The figures of a calibration: errors, pairs ranked alike, regrets of the choices; NaN without workloads."""
        apart = sum(twin.pairs[0] for twin in self.twins)
        errors = self.errors or [math.nan]
        regrets = [twin.regret for twin in self.twins] or [math.nan]
        deviations = [one for twin in self.twins for one in twin.deviations]
        return {
            "workloads": len(self.twins),
            "tuples": len(self.errors),
            "error_median": float(np.median(errors)),
            "error_p90": float(np.quantile(errors, 0.9)),
            "deviation_median": _quantile(deviations, 0.5),
            "deviation_p90": _quantile(deviations, 0.9),
            "pairs": apart,
            "pairs_alike": sum(twin.pairs[1] for twin in self.twins) / apart if apart else 1.0,
            "regret_median": float(np.median(regrets)),
            "regret_p90": float(np.quantile(regrets, 0.9)),
        }


def _quantile(values: Sequence[float], share: float) -> float:
    return float(np.quantile(values, share)) if values else 0.0


def simulate_twins(
    measured: Sequence[MeasuredWorkload],
    machine_for: Callable[[Workload], Machine],
    *,
    stages: int | None = None,
    threads: int | None = None,
) -> TwinReport:
    """Takes simulated servers through what the measured ones went through; all workloads run at once.

    Args:
        measured: The workloads.
        machine_for: The machine a workload is simulated on.
        stages: Windows of each workload at most; all if None.
        threads: Threads to run on; as many as this process may use processors if None.

    Raises:
        ServerError: A simulation cannot go on.
        KeyboardInterrupt: The user ended it.
    """
    servers = [_open(one, machine_for) for one in measured]
    wanted = [one.stages[:stages] for one in measured]
    simulated: list[list[Window]] = [[] for _ in measured]
    for number in range(max(map(len, wanted), default=0)):
        taking = [place for place, chosen in enumerate(wanted) if number < len(chosen)]
        now = [servers[place] for place in taking]
        stage = [wanted[place][number] for place in taking]
        for server, one in zip(now, stage, strict=True):
            server.apply(one.window.pool_tuple)
        run_all(now, [one.settle_s for one in stage], threads=threads)
        before = [server.snapshot() for server in now]
        run_all(now, [one.window.duration_s for one in stage], threads=threads)
        for place, first, server in zip(taking, before, now, strict=True):
            simulated[place].append(Window.between(first, server.snapshot()))
    twins = [Twin(one, found) for one, found in zip(measured, simulated, strict=True)]
    return TwinReport([twin for twin in twins if twin.log_ratios])


def _open(one: MeasuredWorkload, machine_for: Callable[[Workload], Machine]) -> SimulatedServer:
    most = int(one.limits.knobs["pool_size"].high)
    return SimulatedServer(one.workload, machine_for(one.workload), max_pool_size=most)
