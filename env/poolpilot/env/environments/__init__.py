"""Gymnasium environments on pool servers; they need the extra `train`.

Importing this registers their ids, so that `gymnasium.make("poolpilot.env.environments:poolpilot/CurvePool-v0")` works
without any other import.

Examples:
    >>> from poolpilot.env.environments import CurvePoolEnv
    >>> observation, info = CurvePoolEnv(horizon=1).reset(seed=0)
    >>> info["workload"], info["pool_tuple"]["pool_size"]
    ('curve 1', 4)
"""

from typing import TYPE_CHECKING

from poolpilot.env.registration import register
from poolpilot.errors.lazy_names import lazy_names

if TYPE_CHECKING:
    from poolpilot.env.environments.curve_pool import CurvePoolEnv
    from poolpilot.env.environments.grid_env import GridEnv
    from poolpilot.env.environments.live_pool import LivePoolEnv
    from poolpilot.env.environments.pool_env import OpenTarget, PoolEnv
    from poolpilot.env.environments.recorded_pool import RecordedPoolEnv
    from poolpilot.env.environments.simulated_pool import SimulatedPoolEnv
    from poolpilot.env.environments.simulated_vector import SimulatedPoolVectorEnv
    from poolpilot.env.environments.warm_start_climb import WarmStartClimbEnv, recorded_targets
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "curve_pool": ("CurvePoolEnv",),
            "grid_env": ("GridEnv",),
            "live_pool": ("LivePoolEnv",),
            "pool_env": ("OpenTarget", "PoolEnv"),
            "recorded_pool": ("RecordedPoolEnv",),
            "simulated_pool": ("SimulatedPoolEnv",),
            "simulated_vector": ("SimulatedPoolVectorEnv",),
            "warm_start_climb": ("WarmStartClimbEnv", "recorded_targets"),
        },
    )

__all__ = [
    "CurvePoolEnv",
    "GridEnv",
    "LivePoolEnv",
    "OpenTarget",
    "PoolEnv",
    "RecordedPoolEnv",
    "SimulatedPoolEnv",
    "SimulatedPoolVectorEnv",
    "WarmStartClimbEnv",
    "recorded_targets",
]

register()
