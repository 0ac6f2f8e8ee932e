"""What a search shows while it runs: a screen on a terminal, a line for every round elsewhere."""

import io

import pytest
from rich.console import Console

from poolpilot.agent.search.random_search import RandomSearch
from poolpilot.agent.search.search_controller import SearchSettings
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.target import Target
from poolpilot.serve.commands.search.plan import SearchPlan
from poolpilot.serve.commands.search.search_run import SearchRun
from poolpilot.serve.commands.search.search_settings import SearchRunSettings
from poolpilot.serve.commands.tuning.tuning_screen import TuningScreen

ROUNDS = 4


def searched(*, terminal: bool) -> tuple[SearchRun, str]:
    """A random search on a curve, and what it wrote to its console."""
    file = io.StringIO()
    console = Console(file=file, width=120, force_terminal=terminal)
    server = CurveServer([(1, 100.0), (16, 1600.0)])
    target = Target(server, Objective(), "a curve")
    space = SearchSpace.of(server.knobs, ["pool_size"], None, server.tuple_in_force())
    plan = SearchPlan(SearchRunSettings.load(None, {}), space)
    controller = RandomSearch(space, target.objective, SearchSettings(rounds=ROUNDS))
    screen = TuningScreen("A search", console, "goodput 1/s", controller)
    run = SearchRun(target=target, controller=controller, screen=screen, period_s=0.25, plan=plan)
    run.run()
    return run, file.getvalue()


def test_where_there_is_no_terminal_every_round_is_one_line() -> None:
    run, shown = searched(terminal=False)
    lines = shown.splitlines()
    assert lines[:2] == ["A search", "the configuration at the start; goodput 1/s: 400"]
    assert [line.partition(":")[0] for line in lines[2:]] == [f"round {number} of {ROUNDS}" for number in range(1, 5)]
    assert len(run.steps) == 1 + ROUNDS


@pytest.mark.parametrize("wanted", ["A search", "400, lately", "best so far", "is the best of", "▁", "configuration"])
def test_terminal_shows_configuration_history_and_reason(wanted: str) -> None:
    _, shown = searched(terminal=True)
    assert wanted in shown
