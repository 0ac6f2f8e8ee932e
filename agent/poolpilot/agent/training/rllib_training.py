"""What all RLlib algorithms share: iterate, report, let every state compete on the validation sweeps, stop."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from ray.rllib.core import DEFAULT_MODULE_ID

from poolpilot.agent.progress import Progress, silent
from poolpilot.agent.torch_threads import torch_threads
from poolpilot.agent.training.rllib_module import NETWORK
from poolpilot.agent.training.validation import BestWeights

REPORTED = ("policy_loss", "vf_loss", "entropy", "mean_kl_loss", "vf_explained_var")
"""Metrics of the learner that are passed on where the algorithm gives them."""


class Pace(BaseModel):
    """How long an algorithm trains and how often it is evaluated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    iterations: int = Field(default=30, ge=1, description="Iterations of sampling and learning.")
    evaluate_every: int = Field(default=3, ge=1, description="Iterations between two evaluations on validation sweeps.")
    threads: int = Field(default=1, ge=1, description="Threads of torch.")


def train(config: Any, best_weights: BestWeights, pace: Pace, on_iteration: Progress | None) -> None:
    """Trains an algorithm and offers its weights to the contest; Ray must be running.

    Args:
        config: The algorithm's complete `AlgorithmConfig`.
        best_weights: Keeps the best weights.
        pace: How long and how often.
        on_iteration: Called with every iteration's number and metrics, 0 for the initial network.
    """
    report = on_iteration or silent
    report(0, best_weights.initial_metrics)
    with torch_threads(pace.threads), _built(config) as algorithm:
        for iteration in range(1, pace.iterations + 1):
            metrics = learner_metrics(algorithm.train())
            if iteration % pace.evaluate_every == 0 or iteration == pace.iterations:
                metrics |= best_weights.offer(learned_weights(algorithm))
            report(iteration, metrics)


def learned_weights(algorithm: Any) -> dict[str, NDArray[np.float32]]:
    """The network's weights as an algorithm's learner holds them, by the names of `Architecture.shapes`."""
    state = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]
    prefix = f"{NETWORK}."
    return {name.removeprefix(prefix): np.array(array) for name, array in state.items() if name.startswith(prefix)}


def learner_metrics(result: Mapping[str, Any]) -> dict[str, float]:
    """Picks from an algorithm's result what a person would look at."""
    learner = result["learners"][DEFAULT_MODULE_ID]
    metrics = {name: float(learner[name]) for name in REPORTED if name in learner}
    returns = result.get("env_runners", {}).get("episode_return_mean")
    return metrics if returns is None else {**metrics, "episode_return_mean": float(returns)}


@contextmanager
def _built(config: Any) -> Iterator[Any]:
    algorithm = config.build_algo()
    try:
        yield algorithm
    finally:
        algorithm.stop()
