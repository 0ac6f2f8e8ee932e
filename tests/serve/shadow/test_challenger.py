"""A challenger beside the champion: it is asked the same, valued by the curves, and never acts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings, observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.backends import draw
from poolpilot.env.tuning.target import Target
from poolpilot.errors import ArtefactError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.serve.shadow.challenger import Challenger, acted_on
from poolpilot.serve.shadow.shadow_score import score_of
from poolpilot.serve.tuner.decision_log import DecisionLog, read_log
from poolpilot.serve.tuner.decision_replay import replayed
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.decision import Mode
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Proposal
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.tuner_loop import TunerLoop

BEST, BAD = PoolTuple(8, 3, 500), PoolTuple(1, 1, 6000)


@dataclass
class Naming:
    """Always names one tuple, or fails."""

    pool_tuple: PoolTuple
    error: Exception | None = None

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        if self.error is not None:
            raise self.error
        return Prediction(self.pool_tuple, windows[-1].pool_tuple, False, ("told so",), "ab" * 32)


def proposed(pool_tuple: PoolTuple, *, abstained: bool = False) -> Proposal:
    return Proposal(pool_tuple=pool_tuple, abstained=abstained, reason="told so")


@pytest.fixture
def server() -> SimulatedServer:
    return SimulatedServer(draw("page_faults", 3))


def test_difference_is_that_of_the_curves_and_turns_round_with_the_roles(server: SimulatedServer) -> None:
    with server:
        windows, knobs = [observe(server, 2.0).window], server.knobs
    better = Challenger(Naming(BEST), load_curves())(windows, knobs, Objective(), proposed(BAD))
    worse = Challenger(Naming(BAD), load_curves())(windows, knobs, Objective(), proposed(BEST))
    assert better.expected is not None
    assert worse.expected is not None
    assert better.expected > 0.0
    assert better.expected == pytest.approx(-worse.expected)
    assert better.error is not None
    assert better.error >= 0.25


def test_same_tuple_is_no_difference_and_no_advice_keeps_what_is(server: SimulatedServer) -> None:
    with server:
        windows, knobs = [observe(server, 2.0).window], server.knobs
    found = Challenger(Naming(BEST), load_curves())(windows, knobs, Objective(), proposed(BEST))
    assert (found.expected, found.error) == (0.0, 0.0)
    in_force = windows[-1].pool_tuple
    assert acted_on(proposed(BAD, abstained=True), in_force) == in_force
    failing = Challenger(Naming(BEST, ArtefactError("damaged")), load_curves())
    found = failing(windows, knobs, Objective(), proposed(BEST))
    assert (found.proposal.abstained, found.proposal.reason) == (True, "the challenger fails: damaged")
    assert found.expected is None
    defective = Challenger(Naming(BEST, ValueError("no")), load_curves())
    found = defective(windows, knobs, Objective(), proposed(BEST))
    assert (found.failed, found.proposal.reason) == (True, "the challenger fails: unexpected: ValueError('no')")


def run(server: SimulatedServer, folder: Path, challenger: Challenger | None) -> DecisionLog:
    guard, pace = GuardSettings(), PaceSettings(observe_for_s=2.0, baseline_windows=3, ask_every_s=5.0)
    rules = Rules(Mode.APPLY, guard, pace, Envelope.of(guard, server.knobs))
    log = DecisionLog(folder, "a pool")
    measurement = MeasurementSettings(settle_s=0.2, window_s=1.0)
    loop = TunerLoop(Target(server, Objective()), Naming(BEST), rules, measurement, log=log, shadow=challenger)
    loop.run(60.0)
    assert loop.memory.incumbent == BEST
    assert all(then == now for then, now in replayed(log.path))
    return log


def test_champion_acts_as_if_there_were_no_challenger(tmp_path: Path) -> None:
    made = []
    for name, challenger in (("alone", None), ("beside", Challenger(Naming(BAD), load_curves()))):
        with SimulatedServer(draw("page_faults", 3)) as server:
            made.append([line.decision for line in read_log(run(server, tmp_path / name, challenger).path)])
    assert made[0] == made[1]
    score = score_of(read_log(tmp_path / "beside" / "decisions.jsonl"))
    assert score.mean < 0.0
    assert not score.may_take_over
    assert score_of(read_log(tmp_path / "alone" / "decisions.jsonl")).questions == ()
