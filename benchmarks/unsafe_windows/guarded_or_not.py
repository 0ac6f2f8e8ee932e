"""What is done to a server whose unsafe windows are counted: nothing, what the tuner does, or whatever is predicted."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings, observe
from poolpilot.env.measurement.settling import settle
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.serve.tuner.clock import clock_of
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.decision import Mode
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Reading
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.tuner_loop import TunerLoop
from unsafe_windows.unsafe_counts import Seen

MEASUREMENT = MeasurementSettings(settle_s=1.0, window_s=5.0)
ASK_EVERY_WINDOWS = 10


def untouched(server: PoolServer, seconds: float) -> list[Seen]:
    """Nothing is set."""
    found = []
    for _ in _for(server, seconds):
        found.append(_seen(observe(server, MEASUREMENT.window_s).window, changed=False))
    return found


def guarded(server: PoolServer, predictor: Predictor, seconds: float) -> list[Seen]:
    """The tuner as it ships; its windows are held against the tuple that it began with."""
    first, guard, found = server.tuple_in_force(), GuardSettings(), list[Observation]()
    TunerLoop(
        Target(server, Objective()),
        predictor,
        Rules(Mode.APPLY, guard, PaceSettings(), Envelope.of(guard, server.knobs)),
        MEASUREMENT,
        on_decision=lambda observation, _: found.append(observation),
    ).run(seconds)
    return [
        (each.in_force != first, each.reading.throughput_per_s, each.reading.latency_ms)
        for each in found
        if each.reading is not None
    ]


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


class RandomPredictor:
    """Names any configuration of the grid, and promises much: a model that is broken.

    Args:
        seed: Seed of what it names.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 99])

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        """See `Predictor.predict`."""
        tuples = MachineGrid().on(limits).tuples
        in_force = windows[-1].pool_tuple
        named = in_force.with_core(tuples[int(self._rng.integers(len(tuples)))].core)
        return Prediction(named, in_force, False, ("at random",), "", expected_gain=1.0)


def shipped(_seed: int) -> Predictor:
    """What ships for who measures what follows."""
    return Advisor(Model.of(load_curves()), Purpose.TRIAL)


PREDICTORS: Mapping[str, Callable[[int], Predictor]] = {"shipped": shipped, "at random": RandomPredictor}
"""The one that ships, and a broken one."""


def _for(server: PoolServer, seconds: float) -> Iterator[None]:
    """Again and again, until so many seconds of a server are over."""
    clock = clock_of(server)
    while clock.at_s() < seconds:
        yield


def _seen(window: Window, *, changed: bool) -> Seen:
    reading = Reading.of(window, Objective())
    return changed, reading.throughput_per_s, reading.latency_ms
