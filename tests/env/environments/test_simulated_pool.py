"""The simulated environments keep gymnasium's contract, repeat by seed, and a vector equals its parts."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import VectorEnv

import poolpilot.env.registration  # noqa: F401 - registers the ids
from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.environments.simulated_pool import SimulatedPoolEnv
from poolpilot.env.environments.simulated_vector import SimulatedPoolVectorEnv
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement
from poolpilot.env.workloads.simulated_families import SIMULATED_FAMILIES, draw_scenario
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.workload import RequestClass, Step, Workload

SILENT = Workload(
    "silent",
    "test",
    (RequestClass("all", (Step("cpu", us=50.0, variation=0.5), Step("wait", us=2000.0, variation=0.5))),),
    connections=32,
)
LATCHED = Workload(
    "latched",
    "test",
    (RequestClass("all", (Step("acquire", spin_us=200, waiter_cost_us=20.0), Step("cpu", us=100.0), Step("release"))),),
    connections=48,
)
SCENARIOS = (Scenario(SILENT), Scenario(LATCHED))
QUICK = SimulatedMeasurement(requests=200, settle_s=0.05, max_settle_s=0.1)


def action(size: int) -> int:
    return DEFAULT_GRID.index_of(PoolTuple(size, 3, 10))


def test_environment_keeps_the_contract() -> None:
    env = gymnasium.make("poolpilot/SimulatedPool-v0", scenarios=SCENARIOS, settings=QUICK, disable_env_checker=True)
    check_env(env.unwrapped, skip_render_check=True)


def test_same_seed_is_the_same_episode_and_another_is_not() -> None:
    def episode(seed: int) -> list[Any]:
        env = SimulatedPoolEnv(SCENARIOS, QUICK)
        first, _ = env.reset(seed=seed, options={"workload": 0})
        second, reward, *_ = env.step(np.int64(action(16)))
        return [*first.values(), *second.values(), reward]

    same = zip(episode(3), episode(3), strict=True)
    assert all(np.array_equal(first, other) for first, other in same)
    assert any(not np.array_equal(first, other) for first, other in zip(episode(3), episode(4), strict=True))


def test_many_groups_are_rewarded_for_silent_waits_and_punished_for_a_hot_latch() -> None:
    rewards = []
    for workload in (0, 1):
        env = SimulatedPoolEnv(SCENARIOS, SimulatedMeasurement(requests=1000))
        env.reset(seed=0, options={"workload": workload, "start": action(2)})
        rewards.append(env.step(np.int64(action(32)))[1])
    assert rewards[0] > 1.0
    assert rewards[1] < 0.0


def test_vector_gives_what_its_environments_give_alone() -> None:
    vector = gymnasium.make_vec(
        "poolpilot/SimulatedPool-v0", 3, "vector_entry_point", scenarios=SCENARIOS, settings=QUICK
    )
    assert isinstance(vector, VectorEnv)
    alone = [SimulatedPoolEnv(SCENARIOS, QUICK) for _ in range(3)]
    observation, _ = vector.reset(seed=7)
    assert vector.observation_space.contains(observation)
    firsts = [env.reset(seed=7 + i)[0] for i, env in enumerate(alone)]
    for name, stacked in observation.items():
        assert np.array_equal(stacked, np.stack([first[name] for first in firsts]))
    actions = np.array([action(4), action(16), action(64)])
    observation, rewards, *_ = vector.step(actions)
    steps = [env.step(action) for env, action in zip(alone, actions, strict=True)]
    assert rewards.tolist() == [reward for _, reward, *_ in steps]
    for name, stacked in observation.items():
        assert np.array_equal(stacked, np.stack([step[0][name] for step in steps]))


def test_ended_episode_begins_anew_in_the_next_step() -> None:
    vector = SimulatedPoolVectorEnv(2, SCENARIOS, QUICK, horizon=1)
    vector.reset(seed=0)
    actions = np.array([action(4), action(16)])
    assert vector.step(actions)[2].all()
    observation, rewards, ended, *_ = vector.step(actions)
    assert not ended.any()
    assert (rewards == 0.0).all()
    assert observation["present"].sum() == 2.0
    assert vector.step(actions)[2].all()
    vector.close()


def test_action_that_is_repeated_earns_nothing_where_the_load_swings() -> None:
    scenario = draw_scenario(SIMULATED_FAMILIES["sim_shifting"], 1, 0)
    env, repeated = SimulatedPoolEnv([scenario], horizon=5), np.int64(DEFAULT_GRID.index_of(PoolTuple(8, 1, 10)))
    vector = SimulatedPoolVectorEnv(1, [scenario], horizon=5)
    env.reset(seed=0)
    vector.reset(seed=0)
    rewards = [env.step(repeated)[1] for _ in range(4)]
    assert rewards[1:] == pytest.approx([0.0] * 3, abs=0.15)
    assert [vector.step(np.array([repeated]))[1][0] for _ in range(4)] == rewards


@pytest.mark.parametrize("options", [{"start": 99}, {"workload": 2}])
def test_refused_reset_ends_the_episode(options: dict[str, int]) -> None:
    env, vector = SimulatedPoolEnv(SCENARIOS, QUICK), SimulatedPoolVectorEnv(2, SCENARIOS, QUICK)
    for one in (env, vector):
        one.reset(seed=0)
        with pytest.raises(SettingError):
            one.reset(seed=1, options=options)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.int64(0))
    with pytest.raises(gymnasium.error.ResetNeeded):
        vector.step(np.array([0, 0]))


def test_actions_options_and_seeds_of_other_types() -> None:
    vector = SimulatedPoolVectorEnv(2, SCENARIOS, QUICK)
    first, _ = vector.reset(seed=np.int64(3))  # type: ignore[arg-type]
    again, _ = vector.reset(seed=3)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    with pytest.raises(SettingError, match=r"the action is .*1\.5.*, but must be a whole number"):
        vector.step(np.array([1.5, 0.0]))
    for options, text in (({"workload": 0.9}, "'workload' is 0.9, but"), ({"strat": 1}, "no option 'strat'")):
        with pytest.raises(SettingError, match=text):
            vector.reset(options=options)


@pytest.mark.parametrize("actions", [np.array([0, 8, 16]), np.array([0]), np.int64(8), [[0], [8]], [[0, 8]], []])
def test_actions_that_are_not_one_for_each_environment_are_refused(actions: Any) -> None:
    vector = SimulatedPoolVectorEnv(2, SCENARIOS, QUICK)
    vector.reset(seed=0)
    with pytest.raises(SettingError, match=r"the actions have the shape .*, but must have \(num_envs,\), here \(2,\)"):
        vector.step(actions)
    vector.step(np.array([0, 8]))  # nothing has changed


@pytest.mark.parametrize("seeds", [[1], [1, 2, 3], [[1, 2]], 1.5])
def test_seeds_that_are_not_one_for_each_environment_are_refused(seeds: Any) -> None:
    vector = SimulatedPoolVectorEnv(2, SCENARIOS, QUICK)
    with pytest.raises(SettingError, match=r"the seeds have the shape .*, but must have \(num_envs,\), here \(2,\)"):
        vector.reset(seed=seeds)
    vector.reset(seed=[1, None])


def test_nonsense_is_refused() -> None:
    with pytest.raises(SettingError, match="at least one scenario"):
        SimulatedPoolEnv([])
    with pytest.raises(SettingError, match="num_envs is 0"):
        SimulatedPoolVectorEnv(0, SCENARIOS)
    with pytest.raises(SettingError, match=r"outside 0\.\.1"):
        SimulatedPoolEnv(SCENARIOS, QUICK).reset(options={"workload": 2})
    with pytest.raises(gymnasium.error.ResetNeeded):
        SimulatedPoolEnv(SCENARIOS, QUICK).step(np.int64(0))
