"""A tuner that a person or a supervisor ends waits for nothing that can be left."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.backends import draw
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.decision import Decision, Mode
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.tuner_loop import TunerLoop

FIRST, NEXT = PoolTuple(1, 3, 500), PoolTuple(2, 3, 500)


@dataclass
class NoRestoration:
    """Nothing comes back by itself."""

    def commit(self, pool_tuple: PoolTuple) -> None:
        """Keeps nothing."""

    def return_to(self, pool_tuple: PoolTuple) -> None:
        """Keeps nothing."""


@pytest.fixture
def server() -> Iterator[SimulatedServer]:
    with SimulatedServer(draw("page_faults", 3)) as opened:
        yield opened


def tuner_on(server: SimulatedServer) -> TunerLoop:
    """A tuner that applies, not yet at work."""
    guard = GuardSettings()
    rules = Rules(Mode.APPLY, guard, PaceSettings(), Envelope.of(guard, server.knobs))
    target = Target(server, Objective(), "a pool", NoRestoration())  # type: ignore[arg-type]
    return TunerLoop(
        target, Advisor(Model.of(load_curves()), Purpose.TRIAL), rules, MeasurementSettings(settle_s=0.2, window_s=1.0)
    )


@pytest.mark.parametrize(
    ("decided", "in_force"), [(None, FIRST), (NEXT, NEXT)], ids=["in a window", "while it settles"]
)
def test_signal_waits_for_no_window_and_no_settling(
    server: SimulatedServer, monkeypatch: pytest.MonkeyPatch, decided: PoolTuple | None, in_force: PoolTuple
) -> None:
    """Before, a tuner with long windows was killed by its supervisor, and what it tried stayed in force."""
    loop = tuner_on(server)
    loop.decision = loop.decision.model_copy(update={"pool_tuple": decided})
    decisions = list[Decision]()

    def note(_observation: Observation, decision: Decision) -> None:
        decisions.append(decision)

    def ended(_seconds: float) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        pytest.fail("it went on waiting")

    loop.on_decision = note
    monkeypatch.setattr(server, "run_for", ended)
    with pytest.raises(KeyboardInterrupt, match="SIGTERM"):
        loop.run()
    assert decisions == []
    assert server.tuple_in_force() == in_force
