"""A new controller is one class: the loop, screen, outcome, journal, way back and Ctrl-C take it as it is."""

import io
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from poolpilot.env.controller import Controller, Trial
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import TuningStep, tune
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.lab.instance import Lab
from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE
from poolpilot.mariadb.restoration.mariadb_target import mariadb_target
from poolpilot.models.body import from_body
from poolpilot.serve.commands.tuning.conduct import run_on
from poolpilot.serve.commands.tuning.outcome import outcome_table
from poolpilot.serve.commands.tuning.tuning_run import TuningRun
from poolpilot.serve.commands.tuning.tuning_screen import TuningScreen

RISE_THEN_FALL = [(1, 500.0), (16, 4000.0), (128, 1000.0)]
FIRST, BEST = PoolTuple(1, 3, 500), PoolTuple(16, 3, 500)


class Doubling(Controller):
    """Doubles the pool size as long as more requests are answered."""

    best_per_s = -1.0
    best: PoolTuple | None = None
    following: PoolTuple | None = None

    def suggest(self) -> Trial:
        return Trial(self.best if self.finished else self.following)

    def observe(self, window: Window) -> None:
        self.reason = f"{window.pool_tuple} answers {window.throughput_per_s:.0f} a second"
        self.finished = window.throughput_per_s <= self.best_per_s
        if not self.finished:
            self.best, self.best_per_s = window.pool_tuple, window.throughput_per_s
            size, oversubscribe, timer_interval_ms = window.pool_tuple.core
            self.following = window.pool_tuple.with_core((2 * size, oversubscribe, timer_interval_ms))


def run_of(target: Target, console: Console, horizon_s: float | None = None) -> TuningRun:
    controller = Doubling()
    screen = TuningScreen("Doubling", console, target.goodput, controller)
    return TuningRun(target, controller, screen, period_s=0.5, horizon_s=horizon_s)


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


@pytest.fixture
def curve() -> CurveServer:
    server = CurveServer(RISE_THEN_FALL)
    server.apply(FIRST)
    return server


@pytest.fixture
def target(curve: CurveServer) -> Target:
    return Target(curve, Objective(), "a curve", origin={"backend": "curve"})


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def at_step(run: TuningRun, number: int, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Acts when the screen gets that step."""
    add = run.screen.add

    def acting(step: TuningStep) -> None:
        add(step)
        if len(run.steps) == number:
            act()

    monkeypatch.setattr(run.screen, "add", acting)


def test_loop_runs_it_until_it_is_finished(curve: CurveServer) -> None:
    trace = tune(curve, Doubling(), Objective(), period_s=0.5)
    assert [step.pool_tuple.pool_size for step in trace.steps] == [1, 2, 4, 8, 16, 32]
    assert curve.tuple_in_force() == BEST


@pytest.mark.parametrize("keep", [False, True])
def test_command_shows_it_tells_what_it_won_and_goes_back_unless_it_is_to_keep(
    target: Target, console: Console, keep: bool
) -> None:
    told = []

    def report(run: TuningRun) -> None:
        console.print(outcome_table("Doubling", run.outcome(), run.target.goodput))
        told.append(json.loads(json.dumps(run.as_dict(), allow_nan=False)))

    run_on(target, "double", lambda target: run_of(target, console), report, console, keep=keep)
    for wanted in ("Doubling", "(32, 3, 500) answers", "before", "after", "In force now"):
        assert wanted in shown(console)
    (written,) = told
    assert [row["when"] for row in written["outcome"]] == ["before", "after"]
    assert (written["backend"], written["interrupted"], len(written["steps"])) == ("curve", False, 6)
    assert [window.pool_tuple.pool_size for window in from_body(written["request"]).windows] == [1, 32]
    assert target.server.tuple_in_force() == (BEST if keep else FIRST)


def test_ctrl_c_waits_for_the_window_loses_nothing_and_goes_back(
    target: Target, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(target, console)
    at_step(run, 3, lambda: os.kill(os.getpid(), signal.SIGINT), monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        run_on(target, "double", lambda _: run, lambda _: None, console)
    assert run.interrupted
    assert [step.pool_tuple.pool_size for step in run.steps] == [1, 2, 4]
    assert target.server.tuple_in_force() == FIRST


def test_journal_of_a_mariadb_holds_every_tuple_it_is_about_to_set(
    lab: Lab, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    noted: list[str] = []
    with mariadb_target(f"F={lab.defaults_file}", None, None) as target:
        first = target.server.tuple_in_force()
        run = run_of(target, console, horizon_s=1.5)
        at_step(run, 3, lambda: noted.extend(path.read_text() for path in tmp_path.glob("*.jsonl")), monkeypatch)
        run_on(target, "double", lambda _: run, lambda _: None, console)
        assert target.server.tuple_in_force() == first
    (journal,) = noted
    beginning, *announced = map(json.loads, journal.splitlines())
    assert (beginning["command"], beginning["first"]) == ("double", first.as_dict())
    assert [line["set"]["pool_size"] for line in announced] == [step.pool_tuple.pool_size for step in run.steps[1:]]
    assert list(tmp_path.glob("*.jsonl")) == []
