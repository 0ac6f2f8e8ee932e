"""MARWIL through RLlib's offline data, the part that is alpha."""

from collections.abc import Mapping

import pytest
import ray

from poolpilot.agent.training.all_action import AllActionSettings, new_network
from poolpilot.agent.training.marwil import MarwilSettings, imitate
from poolpilot.agent.training.rllib_training import Pace
from poolpilot.agent.training.validation import ValidationSettings, evaluate_weights
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.errors import StoreError

SETTINGS = MarwilSettings(
    pace=Pace(iterations=2, evaluate_every=1),
    batch_size=64,
    learning_rate=1e-3,
    decisions_per_sweep=2048,
    most_windows=1,
    validation=ValidationSettings(starts=12, decisions=1),
)


@pytest.mark.ray
def test_marwil_learns_from_random_decisions_which_were_good(
    waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep, grid: ActionGrid
) -> None:
    sweeps = [waiting_sweep, contended_sweep]
    untrained = new_network(AllActionSettings(members=4, hidden=32, seed=1), grid)
    reported: dict[int, Mapping[str, float]] = {}
    learned = imitate(untrained, sweeps, sweeps, SETTINGS, grid=grid, on_iteration=reported.__setitem__)
    assert not ray.is_initialized()
    regret = evaluate_weights(learned.state_to_numpy(), sweeps, SETTINGS.validation, grid).one_shot.mean()
    assert regret < reported[0]["validation_one_shot_regret_mean"] / 2.0
    assert list(reported) == [0, 1, 2]


def test_marwil_refuses_an_empty_data_set(waiting_sweep: WorkloadSweep, grid: ActionGrid) -> None:
    untrained = new_network(AllActionSettings(members=1, hidden=16), grid)
    with pytest.raises(StoreError, match="no swept workload"):
        imitate(untrained, [], [waiting_sweep], SETTINGS, grid=grid)
    assert not ray.is_initialized()
