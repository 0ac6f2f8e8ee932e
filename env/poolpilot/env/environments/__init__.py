"""Gymnasium environments on pool servers; they need the extra `train`.

Importing this registers their ids, so that `gymnasium.make("poolpilot.env.environments:poolpilot/CurvePool-v0")` works
without any other import. Those that need the native module are imported when they are made.
"""

from poolpilot.env.environments.curve_pool import CurvePoolEnv
from poolpilot.env.environments.grid_env import GridEnv
from poolpilot.env.environments.pool_env import OpenProblem, PoolEnv, Problem
from poolpilot.env.environments.recorded_pool import RecordedPoolEnv
from poolpilot.env.environments.warm_start_climb import WarmStartClimbEnv, recorded_problems
from poolpilot.env.registration import register

__all__ = [
    "CurvePoolEnv",
    "GridEnv",
    "OpenProblem",
    "PoolEnv",
    "Problem",
    "RecordedPoolEnv",
    "WarmStartClimbEnv",
    "recorded_problems",
]

register()
