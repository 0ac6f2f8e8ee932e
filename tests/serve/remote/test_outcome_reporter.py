"""Outcomes that a tuner reports: what the service keeps, what waits for it, and what is lost."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.backends import draw
from poolpilot.env.tuning.target import Target
from poolpilot.errors import RefusedForGoodError, RemoteError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.body import from_body
from poolpilot.serve.remote.outcome_reporter import MOST_WAITING, OutcomeReporter, Reporting
from poolpilot.serve.remote.remote_predictor import RemotePredictor
from poolpilot.serve.remote.service_link import ServiceLink
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.outcomes.outcome_segments import read_outcomes
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.decision import Decision, Mode
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.tried import Tried
from poolpilot.serve.tuner.tuner_loop import TunerLoop

Serving = Callable[..., Any]
ABOUT = Reporting("a pool\n(of mine)", KnobSpace.stock(cpus=2), Objective())


class FlakyLink(ServiceLink):
    """Fails for as long as it is told to."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1")
        self.down = True
        self.sent: list[Any] = []

    def post(self, path: str, body: object) -> Any:  # noqa: ARG002
        if self.down:
            raise RemoteError("it is down")
        self.sent.append(body)
        return {}


@pytest.fixture
def tried(outcome_values: dict[str, Any]) -> Tried:
    before, after = from_body(outcome_values["request"]).windows
    return Tried(before, after, kept=True, model_digest="ab" * 32)


def wait_for(what: Callable[[], bool]) -> None:
    ends_s = time.monotonic() + 30.0
    while not what():
        assert time.monotonic() < ends_s
        time.sleep(0.01)


def test_service_keeps_what_is_reported(serving: Serving, predictor: Any, tried: Tried, tmp_path: Path) -> None:
    reporter = OutcomeReporter(ServiceLink(serving(predictor, outcomes=OutcomeLog(tmp_path, 1 << 20)).url), ABOUT)
    reporter.report(tried)
    reporter.report(Tried(tried.after, tried.before, kept=False, model_digest="cd" * 32))
    reporter.close()
    assert (reporter.told, reporter.lost, reporter.last_error) == (2, 0, "")
    first, second = read_outcomes(tmp_path)
    assert (first.server_id, first.propensity, first.verdict) == ("a pool (of mine)", 1.0, "kept")
    assert first.request.windows == (tried.before, tried.after)
    assert (second.verdict, second.model_digest) == ("rolled back", "cd" * 32)
    assert first.id != second.id


def test_what_no_model_had_asked_for_is_not_reported(tried: Tried) -> None:
    reporter = OutcomeReporter(FlakyLink(), ABOUT)
    reporter.report(Tried(tried.before, tried.after, kept=True, model_digest=""))
    reporter.close()
    assert (reporter.told, reporter.lost) == (0, 0)


def test_service_that_is_down_gets_it_later_and_once(tried: Tried) -> None:
    link = FlakyLink()
    reporter = OutcomeReporter(link, ABOUT, again_after_s=0.05)
    reporter.report(tried)
    wait_for(lambda: reporter.last_error == "it is down")
    link.down = False
    wait_for(lambda: reporter.told == 1)
    reporter.close()
    assert len(link.sent) == 1


def test_too_many_take_the_place_of_the_oldest_and_nobody_waits(tried: Tried) -> None:
    link = FlakyLink()
    reporter = OutcomeReporter(link, ABOUT, again_after_s=60.0)
    for _ in range(3 * MOST_WAITING):
        reporter.report(tried)
    assert 2 * MOST_WAITING - 1 <= reporter.lost <= 2 * MOST_WAITING
    link.down = False
    reporter.close(within_s=30.0)
    last = f":{3 * MOST_WAITING}"
    assert any(body["id"].endswith(last) for body in link.sent)


class ChoosyLink(FlakyLink):
    """Never takes what was rolled back."""

    def post(self, path: str, body: object) -> Any:
        assert isinstance(body, dict)
        if body["verdict"] == "rolled back":
            raise RefusedForGoodError("422: verdict: not such a one")
        return super().post(path, body)


def test_what_a_service_never_takes_holds_up_nothing_behind_it(tried: Tried) -> None:
    link = ChoosyLink()
    link.down = False
    reporter = OutcomeReporter(link, ABOUT, again_after_s=60.0)
    reporter.report(replace(tried, kept=False))
    reporter.report(tried)
    wait_for(lambda: reporter.told == 1)
    reporter.close()
    assert (reporter.told, reporter.lost, reporter.last_error) == (1, 1, "422: verdict: not such a one")


def test_service_refuses_a_report_of_another_kind_for_good(serving: Serving, predictor: Any, tmp_path: Path) -> None:
    link = ServiceLink(serving(predictor, outcomes=OutcomeLog(tmp_path, 1 << 20)).url)
    with pytest.raises(RefusedForGoodError, match="422"):
        link.post("/v1/outcomes", {"id": "another kind"})


def test_service_that_has_another_report_of_that_name_is_not_asked_again(
    serving: Serving, predictor: Any, tried: Tried, outcome_values: dict[str, Any], tmp_path: Path
) -> None:
    link = ServiceLink(serving(predictor, outcomes=OutcomeLog(tmp_path, 1 << 20)).url)
    link.post("/v1/outcomes", outcome_values)
    with pytest.raises(RefusedForGoodError, match="409"):
        link.post("/v1/outcomes", {**outcome_values, "verdict": "rolled back"})

    class OfTheSameName(ServiceLink):
        def post(self, path: str, body: object) -> Any:
            assert isinstance(body, dict)
            return super().post(path, {**body, "id": outcome_values["id"]})

    reporter = OutcomeReporter(OfTheSameName(link.url), ABOUT, again_after_s=60.0)
    reporter.report(tried)
    wait_for(lambda: reporter.lost == 1)
    reporter.close()
    assert reporter.told == 0
    assert "409" in reporter.last_error


def test_what_no_time_is_left_for_counts_as_lost(tried: Tried) -> None:
    reporter = OutcomeReporter(FlakyLink(), ABOUT, again_after_s=60.0)
    for _ in range(5):
        reporter.report(tried)
    reporter.close(within_s=5.0)
    assert (reporter.told, reporter.lost) == (0, 5)


def test_one_that_is_on_its_way_at_the_end_is_told_apart(tried: Tried) -> None:
    arrived = threading.Event()

    class SlowLink(FlakyLink):
        def post(self, path: str, body: object) -> Any:  # noqa: ARG002
            arrived.wait(30.0)
            return {}

    reporter = OutcomeReporter(SlowLink(), ABOUT)
    for _ in range(3):
        reporter.report(tried)
    reporter.close(within_s=0.2)
    assert (reporter.told, reporter.lost, reporter.unanswered) == (0, 2, True)
    arrived.set()
    wait_for(lambda: reporter.told == 1)


def tuned(predictor: Any, seconds: float, **others: Any) -> tuple[TunerLoop, list[Decision]]:
    decisions: list[Decision] = []

    def keep(_observation: Observation, decision: Decision) -> None:
        decisions.append(decision)

    with SimulatedServer(draw("page_faults", 3)) as server:
        guard = GuardSettings()
        pace = PaceSettings(observe_for_s=2.0, baseline_windows=3, ask_every_s=5.0)
        rules = Rules(Mode.APPLY, guard, pace, Envelope.of(guard, server.knobs))
        measurement = MeasurementSettings(settle_s=0.2, window_s=1.0)
        loop = TunerLoop(Target(server, Objective()), predictor, rules, measurement, on_decision=keep, **others)
        loop.run(seconds)
    return loop, decisions


def test_tuner_that_asks_a_service_tells_it_of_every_try(
    serving: Serving, tellable: Callable[..., Any], tmp_path: Path
) -> None:
    link = ServiceLink(
        serving(tellable(PoolTuple(8, 3, 500), gain=2.0), outcomes=OutcomeLog(tmp_path, 1 << 20)).url, deadline_s=30.0
    )
    with SimulatedServer(draw("page_faults", 3)) as server:
        about = Reporting("a pool", server.knobs, Objective())
    reporter = OutcomeReporter(link, about)
    loop, _ = tuned(RemotePredictor(link), 60.0, on_tried=reporter.report)
    reporter.close(30.0)
    assert loop.memory.incumbent == PoolTuple(8, 3, 500)
    kept = [outcome for outcome in read_outcomes(tmp_path) if outcome.verdict == "kept"]
    after: list[Window] = [outcome.request.windows[1] for outcome in kept]
    assert [window.pool_tuple.pool_size for window in after] == [2, 4, 8]


def test_service_that_goes_away_leaves_what_is_verified(serving: Serving, tellable: Callable[..., Any]) -> None:
    predictor = tellable(PoolTuple(8, 3, 500), gain=2.0)
    predictor.error = RuntimeError("out of order")
    loop, decisions = tuned(RemotePredictor(ServiceLink(serving(predictor).url, deadline_s=30.0)), 20.0)
    assert loop.memory.incumbent == PoolTuple(1, 3, 500)
    assert {decision.pool_tuple for decision in decisions} == {PoolTuple(1, 3, 500)}
    assert any("no advice: the predictor fails:" in each.reason and "503" in each.reason for each in decisions)
