"""RLlib's offline data, alpha in Ray 2.60: everything of ours that touches it is in this file."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from gymnasium import spaces
from numpy.typing import NDArray
from ray.rllib.algorithms.marwil import MARWILConfig

from poolpilot.agent.training.flat_observation import flat_width, flatten
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.observation import BOUND, Observation, observation_shapes
from poolpilot.errors import StoreError

LOG_FILE = "decisions.parquet"


def write_decisions(
    directory: Path, observation: Observation, actions: NDArray[np.int64], rewards: NDArray[np.float32]
) -> None:
    """Writes logged decisions in RLlib's column format, each an episode of one step that terminates.

    Terminated, the target of the critic is the reward itself; truncated, RLlib would add the value that a stale copy of
    the network expects after it. Observations are flat, since the readers have had trouble with nested columns.

    Args:
        directory: Folder to write to; it must exist.
        observation: Arrays with a leading axis of N decisions.
        actions: Index of the tuple chosen, (N,).
        rewards: What it earned, (N,).

    Raises:
        StoreError: There is no decision; RLlib's readers would wait for rows for ever.
    """
    count = len(actions)
    if not count:
        raise StoreError("there is no logged decision to learn from; collect some first (`poolpilot learn collect`)")
    rows = flatten(observation)
    flat = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), rows.shape[1])
    columns = {
        "eps_id": pa.array([str(index) for index in range(count)]),
        "obs": flat,
        "actions": pa.array(actions),
        "rewards": pa.array(rewards.astype(np.float64)),
        "new_obs": flat,
        "terminateds": pa.array(np.ones(count, dtype=np.bool_)),
        "truncateds": pa.array(np.zeros(count, dtype=np.bool_)),
        "t": pa.array(np.zeros(count, dtype=np.int64)),
    }
    pq.write_table(pa.table(columns), directory / LOG_FILE)


def flat_space(grid: ActionGrid) -> spaces.Box:
    """Space of the flat observations."""
    return spaces.Box(-BOUND, BOUND, (flat_width(observation_shapes(grid)),), np.float32)


def with_decisions(config: MARWILConfig, directory: Path, grid: ActionGrid) -> MARWILConfig:
    """Tells an offline algorithm where its data is and how to read it on a small machine.

    One `train()` is one pass over the decisions: every pass starts the reader anew, which takes seconds.

    Args:
        config: The algorithm's settings.
        directory: Folder of `write_decisions`.
        grid: The grid of the actions.

    Raises:
        StoreError: The folder holds no decisions.
    """
    path = directory / LOG_FILE
    decisions = pq.read_metadata(path).num_rows if path.is_file() else 0
    if not decisions:
        raise StoreError(f"{path} holds no logged decisions; collect some first (`poolpilot learn collect`)")
    # RLlib adds a step to every episode, masks it in the loss, and counts it in the batch.
    updates = max(1, 2 * decisions // config.train_batch_size_per_learner)
    offline: MARWILConfig = (
        config.environment(observation_space=flat_space(grid), action_space=spaces.Discrete(len(grid)))
        .learners(num_learners=0)
        .offline_data(
            input_=[str(path)],
            dataset_num_iters_per_learner=updates,
            # Two readers, the default, would take every processor of a two-processor machine and wait for a third.
            map_batches_kwargs={"concurrency": 1, "num_cpus": 0.5},
            input_read_method_kwargs={"override_num_blocks": 2},
        )
    )
    return offline
