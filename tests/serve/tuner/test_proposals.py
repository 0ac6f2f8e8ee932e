"""Who proposes is told what is of use, and may fail in any way: the pool is looked after all the same."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from tests.serve.tuner.test_tuner_loop import MEASUREMENT, PACE, RecordedRestoration, Wanting

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.backends import draw
from poolpilot.env.tuning.target import Target
from poolpilot.errors import FeatureError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings
from poolpilot.serve.tuner.machine.decision import Decision, Mode
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


@dataclass
class Nothing:
    """Answers what is no prediction."""

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        return None  # type: ignore[return-value]


def loop_on(server: SimulatedServer, predictor: Predictor, guard: GuardSettings, seen: list[Decision]) -> TunerLoop:
    rules = Rules(Mode.APPLY, guard, PACE, Envelope.of(guard, server.knobs))
    target = Target(server, Objective(), "a pool", RecordedRestoration())
    return TunerLoop(target, predictor, rules, MEASUREMENT, on_decision=lambda _, decision: seen.append(decision))


@pytest.mark.parametrize(
    ("predictor", "said"),
    [
        (Wanting(PoolTuple(8, 3, 500), FeatureError("x", "no such feature")), "the predictor fails: no such feature"),
        (Wanting(PoolTuple(8, 3, 500), ValueError("no")), "the predictor fails: unexpected: ValueError('no')"),
        (Nothing(), "the predictor fails: unexpected: AttributeError"),
    ],
)
def test_predictor_that_fails_is_no_advice(predictor: Predictor, said: str) -> None:
    seen: list[Decision] = []
    with SimulatedServer(draw("page_faults", 3)) as server:
        first = server.tuple_in_force()
        loop_on(server, predictor, GuardSettings(), seen).run(15.0)
        assert server.tuple_in_force() == first
    assert any(f"no advice: {said}" in decision.reason for decision in seen)


def test_operator_who_allows_few_groups_is_told_what_else_may_help() -> None:
    """Before, 64 groups were proposed again and again, and "no step is within what is allowed" was all that came."""
    guard = GuardSettings(cool_down_s=2.0, most_size=4)
    seen: list[Decision] = []
    with SimulatedServer(draw("page_faults", 3)) as server:
        loop = loop_on(server, SecondBest(), guard, seen)
        loop.run(120.0)
        assert loop.memory.incumbent.pool_size == 4
    assert PoolTuple(4, 3, 250) in {decision.pool_tuple for decision in seen}
