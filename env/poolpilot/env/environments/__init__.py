"""Gymnasium environments on pool servers; they need the extra `train`."""

from poolpilot.env.environments.curve_pool import CurvePoolEnv
from poolpilot.env.environments.ladder_env import LadderEnv
from poolpilot.env.environments.pool_env import OpenProblem, PoolEnv, Problem
from poolpilot.env.environments.recorded_pool import RecordedPoolEnv
from poolpilot.env.environments.warm_start_climb import WarmStartClimbEnv, recorded_problems

__all__ = [
    "CurvePoolEnv",
    "LadderEnv",
    "OpenProblem",
    "PoolEnv",
    "Problem",
    "RecordedPoolEnv",
    "WarmStartClimbEnv",
    "recorded_problems",
]
