"""Who proposes is told what is of use: what no step leads towards would keep all else out."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.serve.tuner.test_tuner_loop import MEASUREMENT, PACE, RecordedWayBack

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.backends import draw
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.predictor import Prediction
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings
from poolpilot.serve.tuner.machine.decision import Mode
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.tuner_loop import TunerLoop


@dataclass
class SecondBest:
    """Would name many groups; where these are of no use, a shorter stall limit."""

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        assert limits.permits is not None
        in_force = windows[-1].pool_tuple
        wanted = (PoolTuple(64, 3, 500), in_force.with_core((in_force.pool_size, 3, 10)))
        named = next((each for each in wanted if limits.permits(each)), in_force)
        return Prediction(named, in_force, False, ("told so",), "digest")


def test_operator_who_allows_few_groups_is_told_what_else_may_help() -> None:
    """Before, 64 groups were proposed again and again, and "no step is within what is allowed" was all that came."""
    guard = GuardSettings(cool_down_s=2.0, most_size=4)
    asked: set[PoolTuple | None] = set()
    with SimulatedServer(draw("page_faults", 3)) as server:
        rules = Rules(Mode.APPLY, guard, PACE, Envelope.of(guard, server.knobs))
        target = Target(server, Objective(), "a pool", RecordedWayBack())
        loop = TunerLoop(
            target, SecondBest(), rules, MEASUREMENT, on_decision=lambda _, decided: asked.add(decided.pool_tuple)
        )
        loop.run(120.0)
        assert loop.memory.verified.pool_size == 4
    assert PoolTuple(4, 3, 250) in asked
