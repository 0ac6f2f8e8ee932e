"""The lasso ranks the knob that matters first."""

import numpy as np
import pytest

from poolpilot.agent.search.knob_ranking import RankingSettings, rank_by_workloads, rank_knobs
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.agent.search.stored_workload import stored_workloads
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError

NAMES = ("size", "oversubscribe", "timer")
POINTS = np.random.default_rng(0).random((60, 3))
NOISE = 0.01 * np.random.default_rng(1).standard_normal(60)


def order(values: np.ndarray, settings: RankingSettings | None = None) -> list[str]:
    return [knob.name for knob in rank_knobs(POINTS, values, NAMES, settings)]


@pytest.mark.parametrize("strong", [0, 1, 2])
def test_knob_that_matters_most_comes_first(strong: int) -> None:
    weak = (strong + 1) % 3
    ranked = rank_knobs(POINTS, 3.0 * POINTS[:, strong] + 0.5 * POINTS[:, weak] + NOISE, NAMES)
    assert [knob.name for knob in ranked[:2]] == [NAMES[strong], NAMES[weak]]
    assert ranked[0].penalty == pytest.approx(1.0, abs=0.1)
    assert ranked[0].penalty > ranked[1].penalty > ranked[2].penalty


def test_optimum_inside_the_range_counts_by_its_square() -> None:
    values = -np.square(POINTS[:, 2] - POINTS[:, 2].mean()) + 0.05 * POINTS[:, 0]
    assert order(values)[0] == "timer"
    assert order(values, RankingSettings(degree=1))[0] == "size"


def test_knobs_that_only_matter_together_enter_together() -> None:
    centred = POINTS - POINTS.mean(axis=0)
    assert set(order(centred[:, 0] * centred[:, 1])[:2]) == {"size", "oversubscribe"}


def test_knob_that_never_varied_comes_last() -> None:
    points = POINTS.copy()
    points[:, 0] = 0.5
    points[:, 1] = POINTS[:, 1] > 0.7
    ranked = rank_knobs(points, points[:, 1] + 0.1 * points[:, 2] + NOISE, NAMES)
    assert [knob.name for knob in ranked] == ["oversubscribe", "timer", "size"]
    assert (ranked[-1].penalty, ranked[-1].weight) == (0.0, 0.0)


def test_target_that_never_varied_ranks_nothing() -> None:
    assert {knob.penalty for knob in rank_knobs(POINTS, np.ones(60), NAMES)} == {0.0}


def test_stored_workloads_rank_the_size_before_the_timer(
    waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep
) -> None:
    knobs = KnobSpace.stock(2)
    names = ["timer_interval_ms", "pool_size"]
    space = SearchSpace.of(knobs, names, {"timer_interval_ms": (10, 500)}, knobs.default_tuple())
    stored = stored_workloads([waiting_sweep, contended_sweep], space, Objective())
    assert rank_by_workloads(stored, space.names)[0].name == "pool_size"


def test_ranking_says_what_it_lacks() -> None:
    with pytest.raises(SettingError, match="at least two configurations"):
        rank_knobs(POINTS[:1], np.ones(1), NAMES)
    with pytest.raises(SettingError, match="name for each knob"):
        rank_knobs(POINTS, np.ones(60), NAMES[:2])
    with pytest.raises(SettingError, match="no stored workload"):
        rank_by_workloads([], NAMES)
