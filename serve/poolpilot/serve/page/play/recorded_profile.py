"""A recorded workload, rebuilt for the simulator, with what it did under every configuration that was recorded."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from poolpilot.env.measurement.sample_sweeps import sample_sweeps
from poolpilot.env.measurement.sweep import Core, SweepEntry
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, simulate_batch
from poolpilot.env.workloads.observed_workload import observed_workload
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.simulation import CALIBRATED

REQUESTS = 4000
"""Requests of a simulation."""

MEASUREMENT = SimulatedMeasurement(most_s=10.0)
"""Bounds a simulation where requests hardly end; in virtual seconds, of which a processor makes a thousand a second."""

QUANTILES = (0.05, 0.95)
"""Nine of ten recorded configurations lie between."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ProfileOutcome:
    """What a configuration gives.

    Attributes:
        throughput_per_s: Requests completed a second.
        p99_ms: 99th percentile of their latencies; None where none ended.
    """

    throughput_per_s: float
    p99_ms: float | None


class RecordedProfile:
    """A family's recorded sweep.

    Args:
        family: A name of `sample_families`.

    Raises:
        SettingError: There is no such family.
        FeatureError: Its window tells too little to rebuild its workload.
    """

    def __init__(self, family: str) -> None:
        sweep = sample_sweeps(family)[0]
        self.family = family
        self.limits = sweep.limits
        in_force = sweep.limits.default_tuple().core
        rebuilt_from = in_force if in_force in sweep.entries else next(iter(sweep.entries))
        window = sweep.entries[rebuilt_from].windows[0]
        self.in_force = window.pool_tuple
        self.measured = {core: _mean(entry) for core, entry in sweep.entries.items()}
        workload = observed_workload(window, sweep.limits, sweep.objective, CALIBRATED)
        self.connections, self.cpus = workload.connections, workload.cpus
        self._scenario = Scenario(workload, CALIBRATED, max_pool_size=int(sweep.limits.knobs["pool_size"].high))

    def simulated(self, cores: list[Core]) -> list[ProfileOutcome]:
        """What each configuration would give.

        Raises:
            SettingError: One is outside the ranges of the recorded server.
        """
        tuples = [PoolTuple(*core) for core in cores]
        for pool_tuple in tuples:
            self.limits.check(pool_tuple)
        columns = simulate_batch([self._scenario], tuples, REQUESTS, settings=MEASUREMENT, threads=1)
        p99s_ms = [None if math.isnan(p99_ms) else float(p99_ms) for p99_ms in columns["p99_ms"]]
        return [
            ProfileOutcome(float(rate), p99) for rate, p99 in zip(columns["throughput_per_s"], p99s_ms, strict=True)
        ]

    @cached_property
    def errors(self) -> "SimulationErrors":
        """How far simulation and record are apart, over the recorded configurations that it was not rebuilt from."""
        cores = [core for core in self.measured if core != self.in_force.core]
        return SimulationErrors.of(dict(zip(cores, self.simulated(cores), strict=True)), self.measured)


@dataclass(frozen=True, slots=True)
class SimulationErrors:
    """What was measured, in multiples of what is simulated.

    Attributes:
        configurations: Recorded configurations that tell.
        throughput: Between what multiples nine of ten lie.
        p99: The same of the latencies.
    """

    configurations: int
    throughput: Interval
    p99: Interval

    @classmethod
    def of(cls, simulated: Mapping[Core, ProfileOutcome], measured: Mapping[Core, ProfileOutcome]) -> Self:
        """Compares configuration by configuration; those under which nothing ended tell nothing."""
        pairs = [(measured[core], outcome) for core, outcome in simulated.items()]
        rates = [real.throughput_per_s / made.throughput_per_s for real, made in pairs if made.throughput_per_s > 0.0]
        tails = [real.p99_ms / made.p99_ms for real, made in pairs if real.p99_ms and made.p99_ms]
        return cls(len(pairs), _interval(rates), _interval(tails))


def _interval(ratios: list[float]) -> Interval:
    low, high = np.quantile(ratios or [1.0], QUANTILES)
    return float(low), float(high)


def _mean(entry: SweepEntry) -> ProfileOutcome:
    """Mean over the repeats of a configuration."""
    tails_ms = [window.p99_ms for window in entry.windows if window.p99_ms is not None]
    rate = float(np.mean([window.throughput_per_s for window in entry.windows]))
    return ProfileOutcome(rate, float(np.mean(tails_ms)) if tails_ms else None)
