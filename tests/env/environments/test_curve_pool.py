"""The environment of curves is deterministic and knows its best tuple."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import poolpilot.env.registration  # noqa: F401 - registers the environments
from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.environments.curve_pool import CurvePoolEnv
from poolpilot.env.environments.pool_env import RISE_AND_FALL
from poolpilot.featurizer.pool_tuple import PoolTuple


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_registered_id_passes_gymnasiums_checker(noise: float) -> None:
    check_env(gymnasium.make("poolpilot/CurvePool-v0", noise=noise).unwrapped)


def test_optimum_of_the_curve_has_no_regret() -> None:
    env = CurvePoolEnv([RISE_AND_FALL], horizon=len(DEFAULT_GRID.sizes))
    env.reset(seed=0)
    actions = [DEFAULT_GRID.index_of(PoolTuple(size, 3, 500)) for size in DEFAULT_GRID.sizes]
    rewards = dict(zip(DEFAULT_GRID.sizes, (env.step(np.int64(action))[1] for action in actions), strict=True))
    assert max(rewards, key=lambda size: rewards[size]) == 16
    assert rewards[16] == pytest.approx(0.0, abs=0.005)
