"""Registers the environments with gymnasium under `poolpilot/`; needs the extra `train`."""

import gymnasium

DETERMINISTIC = {
    "poolpilot/CurvePool-v0": "poolpilot.env.environments.curve_pool:CurvePoolEnv",
    "poolpilot/RecordedPool-v0": "poolpilot.env.environments.recorded_pool:RecordedPoolEnv",
    "poolpilot/SimulatedPool-v0": "poolpilot.env.environments.simulated_pool:SimulatedPoolEnv",
}
"""The same seed gives the same episode."""

LIVE = {
    "poolpilot/LivePool-v0": "poolpilot.env.environments.live_pool:LivePoolEnv",
    "poolpilot/MariaDB-v0": "poolpilot.lab.mariadb_pool:MariadbPoolEnv",
}
"""Real threads in real time; no seed repeats them."""

EITHER = {
    "poolpilot/Pool-v0": "poolpilot.env.environments.pool_env:PoolEnv",
    "poolpilot/WarmStartClimb-v0": "poolpilot.env.environments.warm_start_climb:WarmStartClimbEnv",
}
"""As deterministic as the server they are given."""


VECTORS = {
    "poolpilot/SimulatedPool-v0": "poolpilot.env.environments.simulated_vector:SimulatedPoolVectorEnv",
}
"""Vectors that step all their environments at once: `gymnasium.make_vec(id, n, "vector_entry_point")`."""


def register() -> None:
    """Registers every environment; a second call does nothing."""
    for nondeterministic, entries in ((False, DETERMINISTIC), (True, LIVE | EITHER)):
        for name, entry_point in entries.items():
            if name not in gymnasium.registry:
                gymnasium.register(
                    name,
                    entry_point=entry_point,
                    vector_entry_point=VECTORS.get(name),
                    nondeterministic=nondeterministic,
                )


register()
