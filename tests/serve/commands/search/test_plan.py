"""What a search would do, before it does anything, and what it takes from a store."""

from pathlib import Path
from typing import Any

import pytest

from poolpilot.agent.search.bayesian import BayesianOptimisation
from poolpilot.agent.search.random_search import RandomSearch
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.target import Target
from poolpilot.serve.commands.search.plan import SearchPlan, plan_of
from poolpilot.serve.commands.search.search_settings import SearchRunSettings

KNOBS = ("pool_size=1,2,4,8,16,32", "oversubscribe=1,3", "timer_interval_ms=10,500")


def plan(**values: Any) -> SearchPlan:
    """What a search with these settings would do on a curve."""
    return plan_of(SearchRunSettings.load(None, values), target())


def target() -> Target:
    """A curve."""
    curve = CurveServer([(1, 100.0), (16, 1600.0)])
    return Target(curve, Objective(), "a curve")


def test_dry_run_names_knobs_ranges_length_and_the_way_back() -> None:
    said = plan(dsn="h=db1", rounds=20, knob=("pool_size=2,4", "oversubscribe=1..8")).dry_run(target())
    for wanted in ("20 rounds, about 30 s", "pool_size 2, 4; oversubscribe 1..8", "from (4, 3, 500)", "add --execute"):
        assert wanted in said


@pytest.mark.parametrize(("dsn", "seconds"), [(None, 0.25), ("h=db1", 0.5)])
def test_windows_on_mariadb_are_longer_unless_named(dsn: str | None, seconds: float) -> None:
    assert SearchRunSettings.load(None, {"dsn": dsn}).period_s == seconds
    assert SearchRunSettings.load(None, {"dsn": dsn, "period": 2.0}).period_s == 2.0


def test_until_stable_has_no_number_of_rounds() -> None:
    assert SearchRunSettings.load(None, {"until_stable": True}).search.rounds is None
    assert SearchRunSettings.load(None, {}).search.rounds == 30


def test_method_names_the_controller() -> None:
    assert isinstance(plan(method="random").controller(target()), RandomSearch)
    assert isinstance(plan().controller(target()), BayesianOptimisation)


@pytest.mark.parametrize(("dsn", "seen"), [(None, False), ("h=db1", True)])
def test_stored_workloads_are_as_the_server_searched_on_sees_them(
    recorded_store: Path, dsn: str | None, seen: bool
) -> None:
    stored = plan(dsn=dsn, stored=recorded_store, knob=KNOBS).stored
    assert len(stored) == 6
    assert all(one.workload_id.endswith("seen by the server") is seen for one in stored)


def test_top_takes_the_first_of_the_ranking(recorded_store: Path) -> None:
    chosen = plan(stored=recorded_store, knob=KNOBS, top=2)
    assert set(chosen.space.names) == {one.name for one in chosen.ranking[:2]}
    assert list(chosen.left_out) == [chosen.ranking[2].name]
    assert plan(stored=recorded_store, knob=KNOBS, top=9).left_out == {}
