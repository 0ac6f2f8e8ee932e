"""Who lives through a day: the default, the best constant, the tuner; and the best that there was for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.target import Target
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.constants import constant_on
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.workload import Workload
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.decision import Decision, Mode, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.tuner_loop import TunerLoop
from tuner_days.day_server import Day, DayServer

REFERENCE_S = 20.0


@dataclass
class DayResult:
    """What a method made of a day.

    Attributes:
        bins: Requests completed in each bin.
        latency_ms: 95th percentile of latency in each bin; 0 where nothing ended.
        changes: Tuples set.
        roll_backs: Trials rolled back.
    """

    bins: Sequence[float]
    latency_ms: Sequence[float]
    changes: int = 0
    roll_backs: int = 0

    @classmethod
    def of(cls, server: DayServer, roll_backs: int = 0) -> Self:
        """What has become of a server's day."""
        return cls(server.bins.tolist(), server.latency_ms.round(3).tolist(), server.changes, roll_backs)


@dataclass
class _RollBacks:
    count: int = 0
    last: State = field(default=State.WATCH)

    def add(self, _look: Observation, decision: Decision) -> None:
        self.count += decision.state is State.ROLL_BACK and self.last is not State.ROLL_BACK
        self.last = decision.state


def default(day: Day) -> DayResult:
    """Nobody touches it, but for what the day brings."""
    with DayServer(day) as server:
        server.run_for(day.length_s)
        return DayResult.of(server)


def constant(day: Day) -> DayResult:
    """The best constant of the known curves stands in the configuration file."""
    with DayServer(day) as server:
        best = constant_on(load_curves(), server.knobs, Objective())
    with DayServer(day, best) as server:
        server.run_for(day.length_s)
        return DayResult.of(server)


def tuner(day: Day) -> DayResult:
    """The tuner in apply mode, as it ships."""
    guard, seen = GuardSettings(), _RollBacks()
    with DayServer(day) as server:
        TunerLoop(
            Target(server, Objective(), "a day"),
            Advisor(Model.of(load_curves()), Purpose.TRIAL),
            Rules(Mode.APPLY, guard, PaceSettings(), Envelope.of(guard, server.knobs)),
            MeasurementSettings(settle_s=1.0, window_s=5.0),
            on_decision=seen.add,
            clock=server,
        ).run(day.length_s)
        return DayResult.of(server, seen.count)


LIVES: Mapping[str, Callable[[Day], DayResult]] = {"default": default, "constant": constant, "tuner": tuner}


def best_per_s(workload: Workload, seconds: float = REFERENCE_S) -> float:
    """Greatest throughput of a workload over the machine grid, each tuple on a pool of its own for so long."""
    rates = []
    with SimulatedServer(workload) as first:
        tuples = MachineGrid().on(first.knobs).tuples
    for each in tuples:
        with SimulatedServer(workload, initial=each) as server:
            server.run_for(2.0)
            before = server.snapshot().counters["completed"]
            server.run_for(seconds)
            rates.append((server.snapshot().counters["completed"] - before) / seconds)
    return max(rates)
