"""PPO through RLlib: it solves a trivial problem, and keeps the initial weights where it gains nothing."""

import os
from collections.abc import Mapping

import pytest
import ray

from poolpilot.agent.training.all_action import AllActionSettings, new_network
from poolpilot.agent.training.ppo import PpoSettings, refine
from poolpilot.agent.training.rllib_training import Pace
from poolpilot.agent.training.validation import ValidationSettings, evaluate_weights
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep

TRIVIAL = PpoSettings(
    pace=Pace(iterations=16, evaluate_every=4),
    horizon=1,
    gamma=0.0,
    steps_per_iteration=512,
    minibatch_size=128,
    environments=8,
    learning_rate=3e-3,
    entropy=0.0,
    validation=ValidationSettings(starts=12, decisions=1),
)


def _variables_of_ray() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("RAY") or name == "PYTHONBREAKPOINT"}


@pytest.mark.ray
def test_ppo_tells_two_workloads_apart_and_leaves_no_ray_behind(
    waiting_sweep: WorkloadSweep, contended_sweep: WorkloadSweep, grid: ActionGrid
) -> None:
    sweeps = [waiting_sweep, contended_sweep]
    untrained = new_network(AllActionSettings(members=1, hidden=16, sharpness=10.0, seed=1), grid)
    initial = untrained.state_to_numpy()
    reported: dict[int, Mapping[str, float]] = {}
    variables = _variables_of_ray()
    learned = refine(untrained, sweeps, sweeps, TRIVIAL, grid=grid, on_iteration=reported.__setitem__)
    assert not ray.is_initialized()
    assert _variables_of_ray() == variables
    assert all((untrained.state_to_numpy()[name] == array).all() for name, array in initial.items())

    before = evaluate_weights(initial, sweeps, TRIVIAL.validation, grid).one_shot.mean()
    after = evaluate_weights(learned.state_to_numpy(), sweeps, TRIVIAL.validation, grid).one_shot.mean()
    assert before > 0.3
    assert after < 0.1
    assert list(reported) == list(range(17))
    assert reported[0]["gain_over_initial"] == 0.0
    assert reported[16]["gain_over_initial"] > 0.2
    assert reported[16]["episode_return_mean"] > reported[1]["episode_return_mean"]
