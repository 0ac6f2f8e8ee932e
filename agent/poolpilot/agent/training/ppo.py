"""PPO on recorded sweeps: reinforcement learning turns the one-shot network into a refiner.

J. Schulman, F. Wolski, P. Dhariwal, A. Radford and O. Klimov, "Proximal Policy Optimization Algorithms", 2017
(docs/references.md), by RLlib.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import ray
from pydantic import BaseModel, ConfigDict, Field
from ray.rllib.algorithms.ppo import PPOConfig
from ray.tune.registry import register_env

from poolpilot.agent.progress import Progress
from poolpilot.agent.training.ray_session import RaySettings, ray_session
from poolpilot.agent.training.rllib_module import module_spec, rebuilt
from poolpilot.agent.training.rllib_training import Pace, train
from poolpilot.agent.training.validation import BestWeights, ValidationSettings
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.environments.recorded_pool import RecordedPoolEnv
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.observation import ENTRIES
from poolpilot.models.network import ScoreNetwork

ENVIRONMENT = "poolpilot-recorded-pool"
"""Name under which RLlib knows the environment of this module."""


class PpoSettings(BaseModel):
    """Size and pace of PPO; the defaults fit two cores."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pace: Pace = Field(default=Pace(), description="How long it trains and how often it is evaluated.")
    horizon: int = Field(default=3, ge=1, le=ENTRIES - 1, description="Decisions of an episode; the first is one-shot.")
    gamma: float = Field(default=0.9, ge=0.0, le=1.0, description="Discount of later decisions.")
    gae_lambda: float = Field(default=0.95, ge=0.0, le=1.0, description="Lambda of the advantage estimate.")
    start: Literal["default", "random"] = Field(
        default="random", description="Configuration that an episode starts under."
    )
    steps_per_iteration: int = Field(default=2048, ge=1, description="Decisions sampled in an iteration.")
    minibatch_size: int = Field(default=256, ge=1, description="Decisions of one step of the optimiser.")
    passes: int = Field(default=4, ge=1, description="Passes over the sample of an iteration.")
    environments: int = Field(default=16, ge=1, description="Episodes sampled side by side.")
    learning_rate: float = Field(default=5e-5, gt=0.0, description="Step size of Adam.")
    clip: float = Field(default=0.2, gt=0.0, description="How far the policy's ratio may move.")
    entropy: float = Field(default=0.003, ge=0.0, description="Weight of the policy's entropy.")
    gradient_clip: float = Field(default=1.0, gt=0.0, description="Greatest global norm of a gradient.")
    validation: ValidationSettings = Field(default=ValidationSettings(), description="What decides which weights stay.")
    seed: int = Field(default=0, ge=0, description="Seed of episodes and actions.")
    ray: RaySettings = Field(default=RaySettings(), description="Size of the local Ray.")


def refine(
    network: ScoreNetwork,
    training: Sequence[WorkloadSweep],
    validation: Sequence[WorkloadSweep],
    settings: PpoSettings | None = None,
    *,
    grid: ActionGrid = DEFAULT_GRID,
    on_iteration: Progress | None = None,
) -> ScoreNetwork:
    """Trains on recorded sweeps by PPO and returns the network of the least validation score.

    The initial network competes too, as iteration 0: where PPO gains nothing it is what is returned, and the metric
    `gain_over_initial` stays 0.

    Args:
        network: What training starts from; it is left as it is.
        training: Sweeps to sample episodes from.
        validation: Sweeps of other families, which decide which weights are kept.
        settings: Size and pace.
        grid: The grid of the actions.
        on_iteration: Called with every iteration's number and metrics, 0 for the initial network.

    Raises:
        SettingError: There is no training sweep, or one measured no configuration of the grid.
        StoreError: There is no validation sweep.
    """
    settings = settings or PpoSettings()
    environment = RecordedPoolEnv(training, grid, settings.horizon, settings.start)
    best_weights = BestWeights(network.state_to_numpy(), validation, settings.validation, grid)
    with ray_session(settings.ray):
        train(_config(network, environment, settings), best_weights, settings.pace, on_iteration)
    return rebuilt(network.architecture, best_weights.best)


def _config(network: ScoreNetwork, environment: RecordedPoolEnv, settings: PpoSettings) -> PPOConfig:
    register_env(ENVIRONMENT, _environment)
    config: PPOConfig = (
        PPOConfig()  # type: ignore[no-untyped-call]
        .framework("torch")
        .environment(ENVIRONMENT, env_config={"environment": ray.put(environment)})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=settings.environments)
        .learners(num_learners=0)
        .training(
            gamma=settings.gamma,
            lambda_=settings.gae_lambda,
            lr=settings.learning_rate,
            train_batch_size_per_learner=settings.steps_per_iteration,
            minibatch_size=min(settings.minibatch_size, settings.steps_per_iteration),
            num_epochs=settings.passes,
            clip_param=settings.clip,
            entropy_coeff=settings.entropy,
            grad_clip=settings.gradient_clip,
        )
        .rl_module(rl_module_spec=module_spec(network, environment.grid))
        .debugging(seed=settings.seed, log_level="ERROR")
    )
    return config


def _environment(config: Mapping[str, Any]) -> RecordedPoolEnv:
    """Fetches the environment, encoded once, from the object store; the arrays of all copies are shared."""
    environment: RecordedPoolEnv = ray.get(config["environment"])
    return environment
