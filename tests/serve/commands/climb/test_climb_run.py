"""A climb: cold and warm on a curve, and a file of settings that changes under it."""

import io
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from poolpilot.env.climbing.knob_climb import SIZE_ALONE
from poolpilot.env.knobs import CORE_KNOBS, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import TuningStep
from poolpilot.env.tuning.target import Target
from poolpilot.errors import ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, ProbingPredictor
from poolpilot.pipelines.logged_run import LoggedRun
from poolpilot.serve.commands.climb.climb_command import report
from poolpilot.serve.commands.climb.climb_run import ClimbRun, climb_run
from poolpilot.serve.commands.climb.climb_run_settings import ClimbRunSettings

RISE_THEN_FALL = [(1, 500.0), (16, 4000.0), (128, 1000.0)]
SUMMIT = PoolTuple(16, 3, 500)


def run_on_curve(
    predictor: ProbingPredictor | None = None,
    file: Path | None = None,
    assignments: Sequence[str] = (),
    knobs: tuple[str, ...] = SIZE_ALONE,
    horizon_s: float = 60.0,
    curve: CurveServer | None = None,
) -> ClimbRun:
    """A climb that has not begun, on a curve."""
    flags = {"period": 0.1, "seconds": horizon_s, "knob": knobs}
    settings = ClimbRunSettings.load(file, flags, assignments)
    target = Target(curve or CurveServer(RISE_THEN_FALL), Objective(), "a curve")
    return climb_run(settings, target, predictor, Console(file=io.StringIO(), width=200))


def at_step(run: ClimbRun, number: int, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Acts when the screen gets that step."""
    add = run.screen.add

    def acting(step: TuningStep) -> None:
        add(step)
        if len(run.steps) == number:
            act()

    monkeypatch.setattr(run.screen, "add", acting)


def text_of(run: ClimbRun) -> str:
    out = Console(file=io.StringIO(), width=200)
    out.print(run.screen.view())
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_cold_climb_gets_nearer_to_the_optimum() -> None:
    run = run_on_curve()
    run.run()
    assert run.predictions == []
    assert run.before is not None
    assert run.steps[-1].goodput_per_s > 2 * run.before.window.throughput_per_s


def test_warm_climb_starts_at_the_prediction(tellable: Callable[..., ProbingPredictor]) -> None:
    run = run_on_curve(tellable(pool_tuple=SUMMIT), horizon_s=5.0)
    run.run()
    assert run.before is not None
    assert run.before.window.pool_tuple == run.target.server.knobs.default_tuple()
    assert [prediction.pool_tuple for prediction in run.predictions] == [SUMMIT, SUMMIT]
    tried = [step.pool_tuple for step in run.steps if step.pool_tuple != run.before.window.pool_tuple]
    assert set(tried) == {SUMMIT}
    assert [step.pool_tuple for step in run.steps[-len(tried) :]] == tried
    assert "OPTIMIZED" in text_of(run)


@dataclass
class NextSize:
    """Names one size after another."""

    sizes: tuple[int, ...]

    def predict(self, windows: Sequence[Window], *_: KnobSpace | Objective) -> Prediction:
        in_force = windows[-1].pool_tuple
        named = in_force.with_core((self.sizes[len(windows) - 1], 3, 500))
        return Prediction(named, in_force, False, ("the next one",), "digest")

    def probe(self, *_: object) -> None:
        """Has no tuple to probe."""


@pytest.mark.parametrize(("sizes", "best"), [((1, 2, 8), 4), ((16, 1, 8), 16)])
def test_climb_cut_short_within_its_trials_ends_on_the_best_of_them(sizes: tuple[int, ...], best: int) -> None:
    run = run_on_curve(NextSize(sizes), horizon_s=3.5)
    run.run()
    assert run.climber is None
    assert [window.pool_tuple.pool_size for window in run.tried] == [4, *sizes[:2]]
    assert run.steps[-1].pool_tuple.pool_size == sizes[1]  # the last one measured, and a worse one
    ended_on, written = run.left, run.as_dict()
    assert ended_on is not None
    assert ended_on.pool_size == best
    assert ended_on == run.target.server.tuple_in_force()
    assert written["ended_on"] == written["outcome"][1]["pool_tuple"] == ended_on.as_dict()
    shown = next(window for window in run.tried if window.pool_tuple == ended_on)
    assert written["outcome"][1]["goodput_per_s"] == pytest.approx(run.objective.goodput_per_s(shown))
    assert written["request"]["windows"][-1]["pool_tuple"] == ended_on.as_dict()
    out = Console(file=io.StringIO(), width=200)
    report(run, out, None, LoggedRun())
    assert isinstance(out.file, io.StringIO)
    assert f"The climb ended on {ended_on}." in out.file.getvalue()


class CollapsingServer(CurveServer):
    """Serves a hundredth of its curve for good once another tuple has been in force."""

    collapsed = False

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        self.collapsed = self.collapsed or pool_tuple != self.tuple_in_force()
        return super().apply(pool_tuple)

    def throughput_per_s(self, pool_tuple: PoolTuple) -> float:
        return super().throughput_per_s(pool_tuple) * (0.01 if self.collapsed else 1.0)


def test_pool_that_trials_have_left_poorer_is_reported_as_it_is_by_now(
    tellable: Callable[..., ProbingPredictor],
) -> None:
    run = run_on_curve(tellable(pool_tuple=SUMMIT), horizon_s=20.0, curve=CollapsingServer(RISE_THEN_FALL))
    run.run()
    before, after = run.outcome()
    assert run.left == CurveServer(RISE_THEN_FALL).tuple_in_force()
    assert after["goodput_per_s"] < 0.05 * before["goodput_per_s"]


def test_climb_that_an_error_ends_tells_what_was_measured_and_names_nothing_to_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was in force then is a probe, and better than the first by chance."""
    run = run_on_curve()

    def lose() -> None:
        raise ServerError("it is gone")

    at_step(run, 20, lose, monkeypatch)
    with pytest.raises(ServerError):
        run.run()
    out, logged = Console(file=io.StringIO(), width=200), LoggedRun()
    report(run, out, None, logged)
    assert isinstance(out.file, io.StringIO)
    assert "ended on" not in out.file.getvalue()
    assert "SET GLOBAL" not in out.file.getvalue()
    assert logged.result is not None
    assert (logged.result["interrupted"], logged.result["finished"], logged.result["ended_on"]) == (False, False, None)
    assert len(logged.result["steps"]) == 20


def test_a_file_is_written_before_a_terminal_that_is_gone(tmp_path: Path) -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(5, "Input/output error")

    run = run_on_curve(horizon_s=2.0)
    run.run()
    with pytest.raises(OSError, match="Input/output"):
        report(run, Console(file=Gone()), tmp_path / "climb.json", LoggedRun())
    assert (tmp_path / "climb.json").stat().st_size > 0


def test_predictor_that_abstains_leaves_the_climb_cold(tellable: Callable[..., ProbingPredictor]) -> None:
    run = run_on_curve(tellable(abstained=True), horizon_s=5.0)
    run.run()
    assert run.steps[0].pool_tuple == run.target.server.knobs.default_tuple()
    assert len({step.pool_tuple for step in run.steps}) > 1
    assert [prediction.abstained for prediction in run.predictions] == [True]


@pytest.mark.parametrize("warm", [False, True])
def test_interrupt_ends_it_and_loses_nothing(
    tellable: Callable[..., ProbingPredictor], monkeypatch: pytest.MonkeyPatch, warm: bool
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    run = run_on_curve(tellable(pool_tuple=SUMMIT) if warm else None)
    at_step(run, 20, interrupt, monkeypatch)
    run.run()
    told = run.as_dict()
    assert run.interrupted
    assert told["interrupted"] is True
    assert [row["when"] for row in told["outcome"]] == ["before", "after"]
    assert len(told["steps"]) == 20
    assert len(told["decisions"]) > 1
    assert len(told["predictions"]) == 2 * warm


def test_ctrl_c_waits_for_the_end_of_the_window_so_that_nothing_is_cut_in_two(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_on_curve()
    server = run.target.server
    apply = server.apply

    def interrupted(pool_tuple: PoolTuple) -> PoolTuple:
        os.kill(os.getpid(), signal.SIGINT)
        return apply(pool_tuple)

    at_step(run, 5, lambda: monkeypatch.setattr(server, "apply", interrupted), monkeypatch)
    run.run()
    assert run.interrupted
    assert run.steps[-1].pool_tuple == server.tuple_in_force() != run.steps[-2].pool_tuple


def test_climb_lasts_two_samples_at_least() -> None:
    run = run_on_curve(assignments=["period_s=3.0", "longest_period_s=3.0"], horizon_s=1.0)
    run.run()
    assert len(run.steps) == 2


def test_price_of_a_thread_is_that_of_the_climber() -> None:
    assert run_on_curve(assignments=["price_of_thread=0.3"]).objective.price_of_thread == 0.3


def test_many_knobs_leave_a_record_of_every_window() -> None:
    run = run_on_curve(knobs=CORE_KNOBS, horizon_s=10.0)
    run.run()
    told = run.as_dict()
    assert told["knobs"] == CORE_KNOBS
    assert [record["sample"] for record in told["decisions"]] == list(range(101))
    assert set(told["decisions"][0]["knobs"]) == set(CORE_KNOBS)
    assert len({step["pool_tuple"]["timer_interval_ms"] for step in told["steps"]}) > 1


def test_many_knobs_start_warm_at_the_prediction_and_look_round_it(tellable: Callable[..., ProbingPredictor]) -> None:
    run = run_on_curve(tellable(pool_tuple=SUMMIT), knobs=("pool_size", "oversubscribe"), horizon_s=5.0)
    run.run()
    first, *rest = (record["knobs"] for record in run.as_dict()["decisions"])
    assert [state["value"] for state in first.values()] == [16, 3]
    assert len({states["oversubscribe"]["value"] for states in rest}) > 1
    assert [prediction.pool_tuple for prediction in run.predictions] == [SUMMIT, SUMMIT]


@pytest.mark.parametrize("knobs", [SIZE_ALONE, CORE_KNOBS])
@pytest.mark.parametrize(
    ("text", "confidence", "says"),
    [
        ("confidence = 3.0", 3.0, "read again"),
        ("confidence: 3.0", 2.0, "is not TOML"),
        ("confidence = 99.0", 2.0, "setting 'confidence'"),
        ("hcm_trust = 0.9", 2.0, "is a constant of the climber now"),
        (None, 2.0, "there is no settings file"),
    ],
)
def test_file_that_changes_is_adopted_and_a_broken_one_is_reported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    knobs: tuple[str, ...],
    text: str | None,
    confidence: float,
    says: str,
) -> None:
    file = tmp_path / "climb.toml"
    file.write_text("confidence = 2.0\n", encoding="utf-8")

    def change() -> None:
        if text is None:
            return file.unlink()
        file.write_text(text, encoding="utf-8")
        os.utime(file, (1.0, 1.0))

    run = run_on_curve(file=file, knobs=knobs, horizon_s=2.0)
    at_step(run, 5, change, monkeypatch)
    run.run()
    assert run.climber is not None
    assert run.climber.settings.confidence == confidence
    assert run.as_dict()["settings"]["confidence"] == confidence
    assert says in text_of(run)
    assert len(run.steps) == 20
