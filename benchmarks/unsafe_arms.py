"""What is done to a server whose unsafe windows are counted: nothing, what the tuner does, or whatever is predicted."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from poolpilot.env.measurement.protocol import MeasurementSettings, observe
from poolpilot.env.measurement.settling import settle
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Predictor
from poolpilot.serve.tuner.clock import clock_of
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.decision import Decision, Mode
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Reading
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.tuner_loop import TunerLoop
from unsafe_counts import Seen

MEASUREMENT = MeasurementSettings(settle_s=1.0, window_s=5.0)
ASK_EVERY_WINDOWS = 10


def untouched(server: PoolServer, seconds: float) -> list[Seen]:
    """Nothing is set."""
    found = []
    for _ in _for(server, seconds):
        found.append(_seen(observe(server, MEASUREMENT.window_s).window, changed=False))
    return found


def tuned(
    server: PoolServer, predictor: Predictor, seconds: float, guard: GuardSettings | None = None
) -> list[tuple[Observation, Decision]]:
    """What the tuner, as it ships but for its guard, sees and decides."""
    found: list[tuple[Observation, Decision]] = []
    guard = guard or GuardSettings()
    TunerLoop(
        Target(server, Objective()),
        predictor,
        Rules(Mode.APPLY, guard, PaceSettings(), Envelope.of(guard, server.knobs)),
        MEASUREMENT,
        on_decision=lambda observation, decision: found.append((observation, decision)),
    ).run(seconds)
    return found


def seen_by(found: Sequence[tuple[Observation, Decision]], first: PoolTuple | None) -> list[Seen]:
    """The windows of a tuner's observations, held against the tuple that it began with."""
    return [
        (observation.in_force != first, observation.reading.throughput_per_s, observation.reading.latency_ms)
        for observation, _ in found
        if observation.reading is not None
    ]


def guarded(server: PoolServer, predictor: Predictor, seconds: float) -> list[Seen]:
    """The tuner as it ships."""
    first = server.tuple_in_force()
    return seen_by(tuned(server, predictor, seconds), first)


def unguarded(server: PoolServer, predictor: Predictor, seconds: float) -> list[Seen]:
    """What is named is set at once, each minute."""
    found: list[Seen] = []
    first, windows = server.tuple_in_force(), list[Window]()
    for _ in _for(server, seconds):
        window = observe(server, MEASUREMENT.window_s).window
        found.append(_seen(window, changed=window.pool_tuple != first))
        windows = [*[each for each in windows if each.pool_tuple != window.pool_tuple][-9:], window]
        if len(found) % ASK_EVERY_WINDOWS == 0:
            named = predictor.predict(windows, server.knobs, Objective()).pool_tuple
            settle(server, server.apply(named), MEASUREMENT)
    return found


ARMS: Mapping[str, Callable[[PoolServer, Predictor, float], list[Seen]]] = {"guarded": guarded, "unguarded": unguarded}


def _for(server: PoolServer, seconds: float) -> Iterator[None]:
    """Again and again, until so many seconds of a server are over."""
    clock = clock_of(server)
    while clock.at_s() < seconds:
        yield


def _seen(window: Window, *, changed: bool) -> Seen:
    reading = Reading.of(window, Objective())
    return changed, reading.throughput_per_s, reading.latency_ms
