"""Trains agents of Stable-Baselines3 on recorded sweeps.

`poolpilot/RecordedPool-v0` replays sweeps of a live pool that come with the package, so a step costs a tenth of a
millisecond. An action is one of 28 configurations; the reward is minus the regret, so an episode of three decisions
earns 0 at best.
PPO and DQN take the dictionary of observations as it is (`MultiInputPolicy`). MaskablePPO of sb3-contrib also asks the
environment which actions are allowed: `action_masks()`.

Run it in a clone:

    pip install '.[train]' stable-baselines3 sb3-contrib -c constraints.txt
    python examples/train_stable_baselines3.py
    python examples/train_stable_baselines3.py --algorithm dqn --steps 6000

It prints the mean reward of an episode before and after training, such as

    ppo after 3072 steps: reward of an episode -0.71 -> -0.18
"""

import argparse
import sys
from typing import Any

try:
    import gymnasium
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3 import DQN, PPO
    from stable_baselines3.common.base_class import BaseAlgorithm

    from poolpilot.env import environments
except ModuleNotFoundError as error:
    sys.exit(
        f"this example needs {error.name!r}; in a clone of PoolPilot: "
        "pip install '.[train]' stable-baselines3 sb3-contrib"
    )

POLICY = "MultiInputPolicy"
"""Policy of Stable-Baselines3 for a dictionary of observations."""


def agent(algorithm: str, env: gymnasium.Env[Any, Any], seed: int) -> BaseAlgorithm:
    """Makes an untrained agent; gamma is 0, since a decision is rewarded by its own window alone."""
    if algorithm == "dqn":
        return DQN(POLICY, env, learning_starts=500, exploration_fraction=0.5, gamma=0.0, seed=seed)
    kind = MaskablePPO if algorithm == "maskable_ppo" else PPO
    return kind(POLICY, env, n_steps=512, batch_size=128, gamma=0.0, learning_rate=1e-3, seed=seed)


def mean_reward(model: BaseAlgorithm, env: gymnasium.Env[Any, Any], episodes: int = 56) -> float:
    """Mean reward of an episode, without exploring."""
    total = 0.0
    for seed in range(episodes):
        observation, _ = env.reset(seed=seed)
        ended = False
        while not ended:
            action, _ = model.predict(observation, deterministic=True)
            observation, reward, ended, _, _ = env.step(action)
            total += float(reward)
    return total / episodes


def main() -> None:
    """Trains one agent and prints what it gained."""
    parser = argparse.ArgumentParser(description="Train an agent of Stable-Baselines3 on recorded sweeps.")
    parser.add_argument("--algorithm", choices=("ppo", "dqn", "maskable_ppo"), default="ppo")
    parser.add_argument("--steps", type=int, default=3072)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # the matrices are small: more threads wait for one another
    gymnasium.register_envs(environments)
    env = gymnasium.make("poolpilot/RecordedPool-v0")
    model = agent(arguments.algorithm, env, arguments.seed)
    before = mean_reward(model, env)
    model.learn(arguments.steps)
    after = mean_reward(model, env)
    steps = model.num_timesteps
    print(f"{arguments.algorithm} after {steps} steps: reward of an episode {before:.2f} -> {after:.2f}")


if __name__ == "__main__":
    main()
