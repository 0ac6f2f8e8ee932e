"""Methods that live through a day: the default, the best constant, the tuner, predictions unverified, and climbs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from day_server import Day, DayServer
from poolpilot.agent.controllers.warm_start import WarmStart, size_climb
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.controller import Controller
from poolpilot.env.measurement.protocol import MeasurementSettings, observe
from poolpilot.env.objective import Objective
from poolpilot.env.tuning.loop import tune
from poolpilot.env.tuning.target import Target
from poolpilot.errors import LostServerError, TupleChangedError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.constants import constant_on
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.decision import Decision, Mode, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.tuner_loop import OnDecision, TunerLoop

ASK_EVERY_S = 300.0
GUARD = GuardSettings(stand_down_s=3600.0)

ANY_RISE = 1000.0
"""Share by which latency may rise where nobody minds it."""


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
        return cls(server.bins.tolist(), server.latency_ms.round(3).tolist(), len(server.changes), roll_backs)


@dataclass
class NoRestoration:
    """The restoration of a server that ends with this process."""

    server: DayServer

    def commit(self, pool_tuple: PoolTuple) -> None:
        """Nothing outlives this process."""

    def return_to(self, pool_tuple: PoolTuple) -> None:
        """Nothing outlives this process."""

    def reach_again(self) -> bool:
        """A restarted server is there again."""
        return self.server.reach_again()


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
    """The tuner in apply mode, as it ships, but for a person's change, which it forgets after an hour."""
    return _tuned(day, GUARD)


def tuner_of_throughput(day: Day) -> DayResult:
    """The same, where nobody minds latency."""
    return _tuned(day, GUARD.model_copy(update={"most_latency_rise": ANY_RISE}))


def _tuned(day: Day, guard: GuardSettings) -> DayResult:
    with DayServer(day) as server:
        seen = _RollBacks()
        tuner_on(server, seen.add, guard).run(day.length_s)
        return DayResult.of(server, seen.count)


def tuner_on(server: DayServer, on_decision: OnDecision, guard: GuardSettings = GUARD) -> TunerLoop:
    """The tuner of a day, not yet at work."""
    rules = Rules(Mode.APPLY, guard, PaceSettings(), Envelope.of(guard, server.knobs))
    target = Target(server, Objective(), "a day", NoRestoration(server))  # type: ignore[arg-type]
    measurement = MeasurementSettings(settle_s=1.0, window_s=5.0)
    return TunerLoop(
        target,
        Advisor(Model.of(load_curves()), Purpose.TRIAL),
        rules,
        measurement,
        on_decision=on_decision,
        clock=server,
    )


def unguarded(day: Day) -> DayResult:
    """What the predictor names is set at once and never verified."""
    predictor = Advisor(Model.of(load_curves()), Purpose.TRIAL)
    with DayServer(day) as server:
        windows: list[Any] = []
        for _ in range(int(day.length_s // ASK_EVERY_S)):
            try:
                window = observe(server, 5.0).window
                windows = [*[each for each in windows if each.pool_tuple != window.pool_tuple][-4:], window]
                server.apply(predictor.predict(windows, server.knobs, Objective()).pool_tuple)
                server.run_for(ASK_EVERY_S - 5.0)
            except (LostServerError, TupleChangedError):
                windows = []
                server.reach_again()
        return DayResult.of(server)


def climbing(open_controller: Callable[[DayServer], Controller]) -> Callable[[Day], DayResult]:
    """A climb for the whole day; one that is disturbed begins anew."""

    def run(day: Day) -> DayResult:
        with DayServer(day) as server:
            left_s = day.length_s
            while left_s > 5.0:
                began_s = server.snapshot().time_s
                try:
                    tune(server, open_controller(server), Objective(), period_s=5.0, horizon_s=left_s)
                    break
                except (LostServerError, TupleChangedError):
                    server.reach_again()
                left_s -= server.snapshot().time_s - began_s
            return DayResult.of(server)

    return run


def _cold(server: DayServer) -> Controller:
    return ClimbController(spectral_climber(ClimbSettings(), server.knobs), server.tuple_in_force(), Objective())


def _warm(server: DayServer) -> Controller:
    climb = size_climb(ClimbSettings(), server.knobs, Objective())
    return WarmStart(Advisor(Model.of(load_curves()), Purpose.TRIAL), server.knobs, Objective(), climb)


METHODS: Mapping[str, Callable[[Day], DayResult]] = {
    "default": default,
    "constant": constant,
    "tuner": tuner,
    "tuner of throughput": tuner_of_throughput,
    "unguarded": unguarded,
    "cold climb": climbing(_cold),
    "warm climb": climbing(_warm),
}
