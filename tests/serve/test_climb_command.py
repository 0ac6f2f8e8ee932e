"""`poolpilot climb`: cold and warm on a curve, interrupted, and once on the live pool."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from poolpilot.agent.warm_start import WarmStartSettings
from poolpilot.env.backends.curve import CurveServer
from poolpilot.env.climb import ClimbStep
from poolpilot.env.objective import Objective
from poolpilot.env.spectral import ClimbSettings
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.predictor import ProbingPredictor
from poolpilot.serve import climb_command
from poolpilot.serve.climb_command import ClimbOutcome, draw, run
from poolpilot.serve.climb_screen import ClimbScreen

RISE_THEN_FALL = [(1, 500.0), (16, 4000.0), (128, 1000.0)]
SUMMIT = PoolTuple(16, 3, 500)


@pytest.fixture
def server() -> CurveServer:
    return CurveServer(RISE_THEN_FALL)


@pytest.fixture
def screen() -> ClimbScreen:
    return ClimbScreen("test", Console(file=io.StringIO()))


def climbed(
    server: CurveServer, screen: ClimbScreen, predictor: ProbingPredictor | None = None, horizon_s: float = 60.0
) -> ClimbOutcome:
    return run(server, predictor, Objective(), ClimbSettings(), horizon_s, screen)


def test_a_cold_climb_gets_nearer_to_the_summit(server: CurveServer, screen: ClimbScreen) -> None:
    outcome = climbed(server, screen)
    assert outcome.predictions == ()
    before, after = outcome.before.window.throughput_per_s, outcome.trace.steps[-1].goodput_per_s
    assert after > 2 * before


def test_a_warm_climb_starts_at_the_prediction(
    server: CurveServer, screen: ClimbScreen, tellable: Callable[..., ProbingPredictor]
) -> None:
    outcome = climbed(server, screen, tellable(pool_tuple=SUMMIT), horizon_s=5.0)
    assert outcome.before.window.pool_tuple == server.knobs.default_tuple()
    assert [prediction.pool_tuple for prediction in outcome.predictions] == [SUMMIT, SUMMIT]
    settings = WarmStartSettings()
    looked = settings.settle_s + settings.glance_s + settings.look_s
    assert {step.pool_tuple for step in outcome.trace.steps if step.end_s > looked} == {SUMMIT}


def test_a_predictor_that_abstains_leaves_the_climb_cold(
    server: CurveServer, screen: ClimbScreen, tellable: Callable[..., ProbingPredictor]
) -> None:
    outcome = climbed(server, screen, tellable(abstained=True), horizon_s=5.0)
    assert outcome.trace.steps[0].pool_tuple == server.knobs.default_tuple()
    assert len({step.pool_tuple for step in outcome.trace.steps}) > 1
    assert [prediction.abstained for prediction in outcome.predictions] == [True]


def test_an_interrupt_restores_the_first_tuple(
    server: CurveServer, screen: ClimbScreen, tellable: Callable[..., ProbingPredictor], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: ClimbStep) -> None:
        raise KeyboardInterrupt

    first = server.tuple_in_force()
    monkeypatch.setattr(screen, "add", interrupt)
    with pytest.raises(KeyboardInterrupt):
        climbed(server, screen, tellable(pool_tuple=SUMMIT))
    assert server.tuple_in_force() == first


def test_the_command_prints_before_and_after_and_writes_the_steps(
    invoke: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, server: CurveServer, tmp_path: Path
) -> None:
    monkeypatch.setattr(climb_command, "NativeServer", lambda _: server)
    path = tmp_path / "climb.json"
    result = invoke("climb", "--seconds", 10, "--period", 0.25, "--json", path)
    assert result.code == 0, result.err
    assert "before" in result.out
    assert "after" in result.out
    written = json.loads(path.read_text(encoding="utf-8"))
    assert [row["when"] for row in written["outcome"]] == ["before", "after"]
    assert len(written["steps"]) == 40


def test_the_live_pool_is_climbed_under_a_workload_from_a_file(invoke: Callable[..., Any], tmp_path: Path) -> None:
    path, answer = tmp_path / "workload.json", tmp_path / "climb.json"
    values = draw("page_faults", seed=3).as_dict() | {"cpus": 1, "connections": 8}
    path.write_text(json.dumps(values), encoding="utf-8")
    result = invoke("climb", "--workload", path, "--seconds", 2, "--period", 0.1, "--json", answer)
    assert result.code == 0, result.err
    steps = json.loads(answer.read_text(encoding="utf-8"))["steps"]
    assert all(step["goodput_per_s"] > 0 for step in steps)


def test_an_unknown_family_is_named_with_those_there_are(invoke: Callable[..., Any]) -> None:
    result = invoke("climb", "--family", "sunshine")
    assert result.code == 1
    assert "'sunshine'" in result.err
    assert "page_faults" in result.err


@pytest.mark.parametrize("text", ["{}", "[]", "no", '{"name": 1, "classes": [3]}'])
def test_a_file_that_is_no_workload_is_one_sentence(invoke: Callable[..., Any], tmp_path: Path, text: str) -> None:
    path = tmp_path / "workload.json"
    path.write_text(text, encoding="utf-8")
    result = invoke("climb", "--workload", path)
    assert result.code == 1
    assert "workload.json" in result.err
    assert "Traceback" not in result.err
