"""Trains PPO of RLlib on recorded sweeps, with observations as one row of numbers.

RLlib has no network of its own for a dictionary of observations, so gymnasium's `FlattenObservation` lays the arrays
out in one row (726 numbers). A function makes the environment, because every process of RLlib registers the ids for
itself. (`poolpilot learn train` has a network for the dictionary: `poolpilot.agent.training`.)

Run it in a clone:

    pip install '.[train]' -c constraints.txt
    python examples/train_rllib.py --iterations 4

It starts a local Ray and ends it again, and prints the mean reward of an episode after each iteration, such as

    iteration 1: reward of an episode -0.97
    iteration 2: reward of an episode -0.71
    iteration 3: reward of an episode -0.60
"""

import argparse
import sys
from typing import Any

try:
    import gymnasium
    from gymnasium.wrappers import FlattenObservation
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.tune.registry import register_env

    from poolpilot.agent.training.ray_session import ray_session
except ModuleNotFoundError as error:
    sys.exit(f"this example needs {error.name!r}; in a clone of PoolPilot: pip install '.[train]'")

NAME = "poolpilot-flat"


def flat_pool(_: Any) -> gymnasium.Env[Any, Any]:
    """The environment with one row of numbers as observation."""
    return FlattenObservation(gymnasium.make("poolpilot.env.environments:poolpilot/RecordedPool-v0"))


def ppo() -> Any:
    """PPO in this process: no worker, no second learner."""
    register_env(NAME, flat_pool)
    config: Any = PPOConfig
    return (
        config()
        .environment(NAME)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
        .learners(num_learners=0)
        .training(lr=1e-3, gamma=0.0, train_batch_size_per_learner=1024, minibatch_size=128, num_epochs=8)
        .debugging(seed=0, log_level="ERROR")
        .build_algo()
    )


def main() -> None:
    """Trains and prints how it goes."""
    parser = argparse.ArgumentParser(description="Train PPO of RLlib on recorded sweeps.")
    parser.add_argument("--iterations", type=int, default=3)
    iterations = parser.parse_args().iterations
    with ray_session():  # a local Ray, quiet, that is shut down at the end
        algorithm = ppo()
        for iteration in range(1, iterations + 1):
            reward = algorithm.train()["env_runners"]["episode_return_mean"]
            print(f"iteration {iteration}: reward of an episode {reward:.2f}")
        algorithm.stop()


if __name__ == "__main__":
    main()
