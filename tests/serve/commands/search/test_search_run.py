"""The end of a search: what is expected to be best and what was measured best are measured again."""

import io
import os
import signal

import pytest
from rich.console import Console

from poolpilot.agent.search.random_search import RandomSearch
from poolpilot.agent.search.search_controller import SearchSettings
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import TuningStep
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.serve.commands.search.plan import SearchPlan
from poolpilot.serve.commands.search.search_run import SearchRun
from poolpilot.serve.commands.search.search_settings import SearchRunSettings
from poolpilot.serve.commands.tuning.tuning_screen import TuningScreen

SIZES = (1, 8, 16)


class MistakenSearch(RandomSearch):
    """Ends on the smallest size, whatever was measured."""

    def _best(self) -> PoolTuple:
        return self.space.in_force.with_core((1, 3, 500))


def run_of(search: type[RandomSearch], optimum: int, *, keep: bool = False) -> SearchRun:
    """A search that has not begun, over three sizes of a curve."""
    server = CurveServer([(1, 100.0), (optimum, 1600.0), (64, 100.0)])
    target = Target(server, Objective(), "a curve")
    space = SearchSpace.of(server.knobs, ["pool_size"], {"pool_size": SIZES}, server.tuple_in_force())
    plan = SearchPlan(SearchRunSettings.load(None, {"keep": keep}), space)
    controller = search(space, target.objective, SearchSettings(rounds=12))
    screen = TuningScreen("test", Console(file=io.StringIO()), "goodput 1/s", controller)
    return SearchRun(target=target, controller=controller, screen=screen, period_s=0.25, plan=plan)


@pytest.mark.parametrize("search", [RandomSearch, MistakenSearch])
def test_ends_on_the_better_of_what_is_expected_and_what_was_measured(search: type[RandomSearch]) -> None:
    run = run_of(search, optimum=16)
    run.run()
    assert run.best is not None
    assert run.best.pool_size == run.target.server.tuple_in_force().pool_size == 16
    assert run.gain is not None
    assert run.gain > 0.0


def test_floors_are_shares_of_the_long_first_window(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(RandomSearch, optimum=16)
    asked: list[Window | None] = []
    feasible = Objective.feasible

    def noting(objective: Objective, window: Window, reference: Window | None = None) -> bool:
        asked.append(reference)
        return feasible(objective, window, reference)

    monkeypatch.setattr(Objective, "feasible", noting)
    run.run()
    assert run.before is not None
    assert len(asked) > 12
    assert all(reference is run.before.window for reference in asked)


def test_goes_back_to_the_first_tuple_where_that_is_better() -> None:
    run = run_of(MistakenSearch, optimum=4)
    run.run()
    assert run.found is not None
    assert run.found.pool_size in SIZES
    assert run.best == run.target.server.tuple_in_force() == PoolTuple(4, 3, 500)
    assert run.gain == 0.0


@pytest.mark.parametrize("keep", [False, True])
def test_ctrl_c_waits_for_the_end_of_the_window(monkeypatch: pytest.MonkeyPatch, keep: bool) -> None:
    run = run_of(RandomSearch, optimum=16, keep=keep)
    add = run.screen.add

    def acting(step: TuningStep) -> None:
        add(step)
        if len(run.steps) == 5:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(run.screen, "add", acting)
    run.run()
    assert run.interrupted
    assert len(run.steps) == 5
    assert (run.found, run.gain) == (None, None)
    assert run.best is not None
    if keep:  # before, whatever was being tried stayed
        assert run.target.server.tuple_in_force() == run.best


def test_ctrl_c_keeps_the_first_tuple_where_nothing_better_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(RandomSearch, optimum=4, keep=True)
    monkeypatch.setattr(run.screen, "add", lambda _: os.kill(os.getpid(), signal.SIGINT))
    run.run()
    assert run.interrupted
    assert run.target.server.tuple_in_force() == PoolTuple(4, 3, 500)
