"""What holds for every environment of the grid."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.environments import CurvePoolEnv, RecordedPoolEnv
from poolpilot.env.environments.grid_env import GridEnv
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.errors import SettingError

MakeSweep = Callable[..., WorkloadSweep]

WIDE = ActionGrid((1, 16, 256), (3,), (500,))
"""Its last size is above what a stock server allows."""


@pytest.fixture(params=["curve", "recorded"])
def env(request: pytest.FixtureRequest, make_sweep: MakeSweep) -> GridEnv:
    if request.param == "curve":
        return CurvePoolEnv(grid=WIDE, render_mode="ansi")
    return RecordedPoolEnv([make_sweep()], grid=WIDE, render_mode="ansi")


def test_episode_terminates_after_the_horizon_and_is_never_truncated(env: GridEnv) -> None:
    env.reset(seed=0)
    ends = [env.step(np.int64(1))[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (True, False)]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.int64(1))


def test_step_before_reset_is_refused(env: GridEnv) -> None:
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.int64(1))


def test_mask_is_in_observation_and_info_and_masked_action_is_refused(env: GridEnv) -> None:
    observation, info = env.reset(seed=0)
    assert observation["action_mask"].tolist() == info["action_mask"].tolist() == [1, 1, 0]
    assert env.action_space.sample(info["action_mask"]) in (0, 1)
    with pytest.raises(SettingError, match=r"action 2 \(256, 3, 500\) is masked here; allowed are 0, 1"):
        env.step(np.int64(2))
    with pytest.raises(SettingError, match=r"action 3 is outside 0\.\.2"):
        env.step(np.int64(3))


def test_response_set_grows_by_an_entry_a_step(env: GridEnv) -> None:
    observation, _ = env.reset(seed=0)
    counts = [observation["present"].sum()]
    for action in (0, 1, 0):
        observation = env.step(np.int64(action))[0]
        counts.append(observation["present"].sum())
    assert counts == [1.0, 2.0, 3.0, 4.0]
    assert observation["tuples"][1:, 0] == pytest.approx([0.0, 0.4, 0.0])


def test_earlier_observation_does_not_change_with_later_steps(env: GridEnv) -> None:
    first, _ = env.reset(seed=0)
    kept = {name: array.copy() for name, array in first.items()}
    env.step(np.int64(0))
    env.reset(seed=1)
    assert all(np.array_equal(first[name], kept[name]) for name in kept)


def test_best_action_is_rewarded_most(env: GridEnv) -> None:
    env.reset(seed=0)
    low, high = (env.step(np.int64(action))[1] for action in (0, 1))
    assert low < high <= 0.01


def test_episode_may_start_from_a_chosen_action(env: GridEnv) -> None:
    _, info = env.reset(seed=0, options={"start": 1})
    assert info["pool_tuple"]["pool_size"] == 16
    with pytest.raises(SettingError, match="masked"):
        env.reset(options={"start": 2})


def test_rendering_is_a_table_of_the_response_set(env: GridEnv) -> None:
    env.reset(seed=0)
    env.step(np.int64(1))
    table = env.render()
    assert table is not None
    lines = table.splitlines()
    assert lines[0].split() == ["configuration", "J", "change"]
    assert len(lines) == 3
    assert "(16, 3, 500)" in lines[2]


@pytest.mark.parametrize("action", [1.7, float("nan"), "x", None, np.array([0, 1])])
def test_action_of_another_type_is_refused(env: GridEnv, action: Any) -> None:
    env.reset(seed=0)
    with pytest.raises(SettingError, match=r"the action is .* but must be a whole number"):
        env.step(action)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"start": 0.5}, "the action is 0.5, but must be a whole number"),
        ({"start": "a"}, "the action is 'a', but must be a whole number"),
        ({"strat": 1}, "reset knows no option 'strat'"),
        ([1], "options"),
    ],
)
def test_option_that_means_nothing_is_refused(env: GridEnv, options: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        env.reset(seed=0, options=options)


@pytest.mark.parametrize("place", [0.9, "x", None, float("nan")])
def test_place_of_a_workload_is_a_whole_number(make_sweep: MakeSweep, place: Any) -> None:
    env = RecordedPoolEnv([make_sweep()])
    with pytest.raises(SettingError, match=r"option 'workload' is .* but must be a whole number"):
        env.reset(options={"workload": place})


@pytest.mark.parametrize("horizon", [2.5, "3", None])
def test_horizon_is_a_whole_number(horizon: Any) -> None:
    with pytest.raises(SettingError, match=r"the horizon is .* but must be a whole number"):
        CurvePoolEnv(horizon=horizon)


def test_nonsense_is_refused() -> None:
    with pytest.raises(SettingError, match="horizon is 0"):
        CurvePoolEnv(horizon=0)
    with pytest.raises(SettingError, match="render_mode 'human'"):
        CurvePoolEnv(render_mode="human")
    assert CurvePoolEnv(grid=DEFAULT_GRID).render() is None
