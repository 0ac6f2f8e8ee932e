"""Logged decisions in RLlib's column format, read in a way that a small machine survives."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from ray.rllib.algorithms.marwil import MARWILConfig

from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.agent.training.flat_observation import flatten, unflatten
from poolpilot.agent.training.marwil import MarwilSettings, log_decisions
from poolpilot.agent.training.offline_data import LOG_FILE, flat_space, with_decisions, write_decisions
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.observation import observation_shapes
from poolpilot.errors import StoreError
from poolpilot.featurizer.schema import feature_names


def test_decisions_are_written_one_terminated_episode_a_row(
    training: Sequence[WorkloadSweep], grid: ActionGrid, tmp_path: Path
) -> None:
    observation = EncodedSweeps.of(training, grid).observation(np.array([[0, 1], [2, -1]]))
    write_decisions(tmp_path, observation, np.array([3, 1]), np.array([-0.5, 0.0], np.float32))
    rows = pq.read_table(tmp_path / LOG_FILE).to_pydict()
    assert rows.keys() == {"eps_id", "obs", "actions", "rewards", "new_obs", "terminateds", "truncateds", "t"}
    assert (rows["actions"], rows["rewards"]) == ([3, 1], [-0.5, 0.0])
    assert (rows["terminateds"], rows["truncateds"]) == ([True, True], [False, False])
    assert len(set(rows["eps_id"])) == 2
    np.testing.assert_array_equal(rows["obs"], flatten(observation))
    assert flat_space(grid).contains(np.array(rows["obs"][0], np.float32))


def test_logged_tuples_are_spread_evenly_and_rewarded_by_minus_their_regret(
    waiting_sweep: WorkloadSweep, grid: ActionGrid, tmp_path: Path
) -> None:
    encoded = EncodedSweeps.of([waiting_sweep], grid)
    log_decisions(tmp_path, encoded, MarwilSettings(decisions_per_sweep=6000))
    rows = pq.read_table(tmp_path / LOG_FILE, columns=["actions", "rewards"]).to_pydict()
    actions = np.array(rows["actions"])
    counts = np.bincount(actions, minlength=len(grid))
    assert counts.min() > 0.8 * 6000 / len(grid)
    np.testing.assert_allclose(rows["rewards"], -encoded.regret[0, actions])


def test_sweeps_are_mixed_since_the_reader_keeps_the_order(
    waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep, grid: ActionGrid, tmp_path: Path
) -> None:
    encoded = EncodedSweeps.of([waiting_sweep, contended_sweep], grid)
    log_decisions(tmp_path, encoded, MarwilSettings(decisions_per_sweep=64, most_windows=1))
    seen = np.array(pq.read_table(tmp_path / LOG_FILE, columns=["obs"]).to_pydict()["obs"], np.float32)
    features = unflatten(seen, observation_shapes(grid))["features"][:, 0]
    waits = features[:, feature_names().index("wait_to_cpu")] > 0.0
    assert waits.sum() == 64
    assert 16 < waits[:64].sum() < 48


def test_no_decisions_are_refused(grid: ActionGrid, training: Sequence[WorkloadSweep], tmp_path: Path) -> None:
    nothing = EncodedSweeps.of(training, grid).observation(np.empty((0, 1), dtype=np.int64))
    with pytest.raises(StoreError, match="no logged decision"):
        write_decisions(tmp_path, nothing, np.empty(0, np.int64), np.empty(0, np.float32))
    with pytest.raises(StoreError, match="holds no logged decisions"):
        with_decisions(MARWILConfig(), tmp_path, grid)  # type: ignore[no-untyped-call]


def test_reader_takes_half_a_processor_and_one_pass_an_iteration(
    training: Sequence[WorkloadSweep], grid: ActionGrid, tmp_path: Path
) -> None:
    log_decisions(tmp_path, EncodedSweeps.of(training, grid), MarwilSettings(decisions_per_sweep=32))
    config = MARWILConfig().training(train_batch_size_per_learner=256)  # type: ignore[no-untyped-call]
    read = with_decisions(config, tmp_path, grid)
    assert read.map_batches_kwargs["concurrency"] == 1
    assert read.dataset_num_iters_per_learner == 2 * 32 * len(training) // 256
    assert read.num_learners == 0
