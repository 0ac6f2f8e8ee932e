"""The recorded environment replays what was measured and nothing else."""

from collections.abc import Callable
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import poolpilot.env.registration  # noqa: F401 - registers the environments
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.environments import RecordedPoolEnv
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

MakeSweep = Callable[..., WorkloadSweep]


def test_registered_id_passes_gymnasiums_checker(make_sweep: MakeSweep) -> None:
    env = gymnasium.make("poolpilot/RecordedPool-v0", sweeps=[make_sweep(noise=0.05)])
    check_env(env.unwrapped)


def test_reward_is_minus_the_regret_of_the_mean(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(noise=0.1)
    env = RecordedPoolEnv([sweep], horizon=len(DEFAULT_GRID))
    env.reset(seed=0)
    rewards = [env.step(np.int64(action))[1] for action in range(len(DEFAULT_GRID))]
    assert rewards == pytest.approx([-sweep.regret(pool_tuple) for pool_tuple in DEFAULT_GRID.tuples])
    assert rewards[DEFAULT_GRID.index_of(sweep.oracle_tuple)] == 0.0


def test_tuple_above_the_oracle_is_rewarded_like_it(make_sweep: MakeSweep) -> None:
    sweep = make_sweep()
    second = PoolTuple(8, 3, 500)
    rounds = {core: replace(entry, last_round=int(core == second.core)) for core, entry in sweep.entries.items()}
    sweep = replace(sweep, entries=rounds)
    best = max(DEFAULT_GRID.tuples, key=lambda one: sweep.entries[one.core].value)
    assert sweep.regret(best) < 0.0
    env = RecordedPoolEnv([sweep])
    env.reset(seed=0)
    _, reward, _, _, info = env.step(np.int64(DEFAULT_GRID.index_of(best)))
    assert reward == info["regret"] == 0.0


def test_tuple_that_breaks_the_constraints_loses_everything(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(objective=Objective(max_p99_ms={"all": 100.0}))
    env = RecordedPoolEnv([sweep])
    env.reset(seed=0)
    slow, quick = (DEFAULT_GRID.index_of(PoolTuple(size, 3, 500)) for size in (1, 16))
    assert env.step(np.int64(slow))[1] == -1.0
    assert env.step(np.int64(quick))[1] > -0.1


def test_tuples_that_were_not_measured_are_masked(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(grid=ActionGrid((2, 8), (3,), (500,)))
    _, info = RecordedPoolEnv([sweep]).reset(seed=0)
    allowed = [DEFAULT_GRID.tuples[index].core for index in np.flatnonzero(info["action_mask"])]
    assert allowed == [(2, 3, 500), (8, 3, 500)]


def test_start_is_the_default_tuple_or_the_nearest_one_measured(make_sweep: MakeSweep) -> None:
    _, measured = RecordedPoolEnv([make_sweep()]).reset(seed=0)
    assert measured["pool_tuple"]["pool_size"] == 4
    _, nearest = RecordedPoolEnv([make_sweep(grid=ActionGrid((16, 64), (3,), (500,)))]).reset(seed=0)
    assert nearest["pool_tuple"]["pool_size"] == 16


def test_random_starts_differ(make_sweep: MakeSweep) -> None:
    env = RecordedPoolEnv([make_sweep()], start="random")
    starts = {tuple(env.reset(seed=seed)[1]["pool_tuple"].values()) for seed in range(20)}
    assert len(starts) > 5


def test_sweeps_are_drawn_or_chosen(make_sweep: MakeSweep) -> None:
    sweeps = [make_sweep(grid=ActionGrid((size,), (3,), (500,)), name=str(size)) for size in (2, 8)]
    env = RecordedPoolEnv(sweeps)
    sizes = {env.reset(seed=seed)[1]["pool_tuple"]["pool_size"] for seed in range(20)}
    assert sizes == {2, 8}
    assert env.reset(options={"workload": 1})[1]["pool_tuple"]["pool_size"] == 8
    with pytest.raises(SettingError, match=r"'workload' is 2, outside 0\.\.1"):
        env.reset(options={"workload": 2})


def test_policy_that_knows_the_oracle_beats_one_that_does_not(make_sweep: MakeSweep) -> None:
    sweep = make_sweep(noise=0.05)
    env = RecordedPoolEnv([sweep], horizon=1)

    def mean_reward(choose: Callable[[int], int]) -> float:
        rewards = []
        for seed in range(50):
            env.reset(seed=seed)
            rewards.append(env.step(np.int64(choose(seed)))[1])
        return float(np.mean(rewards))

    oracle = DEFAULT_GRID.index_of(sweep.oracle_tuple)
    assert mean_reward(lambda _: oracle) == 0.0
    assert mean_reward(lambda seed: seed % len(DEFAULT_GRID)) < -0.2


def test_nothing_to_replay_is_refused(make_sweep: MakeSweep) -> None:
    with pytest.raises(SettingError, match="at least one sweep"):
        RecordedPoolEnv([])
    with pytest.raises(SettingError, match="'hump' has measured no configuration of the grid"):
        RecordedPoolEnv([make_sweep()], grid=ActionGrid((5,), (3,), (500,)))
    with pytest.raises(SettingError, match="start 'best'"):
        RecordedPoolEnv([make_sweep()], start="best")  # type: ignore[arg-type]
