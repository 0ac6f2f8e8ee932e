"""Which weights are kept: the best by validation, the initial ones included."""

from collections.abc import Sequence

import numpy as np
import pytest

from poolpilot.agent.training.all_action import AllActionSettings, new_network, train_all_action
from poolpilot.agent.training.validation import BestWeights, GreedyPolicy, ValidationSettings, evaluate_weights
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.errors import StoreError

SETTINGS = AllActionSettings(members=2, hidden=16, epochs=10)


def test_contest_keeps_the_better_weights(
    training: Sequence[WorkloadSweep], validation: Sequence[WorkloadSweep], grid: ActionGrid
) -> None:
    untrained = new_network(SETTINGS, grid).state_to_numpy()
    trained = train_all_action(training, validation, SETTINGS, grid=grid).state_to_numpy()
    rising = BestWeights(untrained, validation, ValidationSettings(), grid)
    metrics = rising.offer(trained)
    assert rising.best is trained
    expected = rising.initial_metrics["validation_score"] - metrics["validation_score"]
    assert metrics["gain_over_initial"] == pytest.approx(expected)
    assert expected > 0.0

    falling = BestWeights(trained, validation, ValidationSettings(), grid)
    assert falling.offer(untrained)["gain_over_initial"] == 0.0
    assert falling.best is trained


def test_evaluation_repeats_itself(validation: Sequence[WorkloadSweep], grid: ActionGrid) -> None:
    weights = new_network(SETTINGS, grid).state_to_numpy()
    once, again = (evaluate_weights(weights, validation, grid=grid) for _ in range(2))
    assert np.array_equal(once.refined, again.refined)
    assert len(once.one_shot) == len(validation) * ValidationSettings().starts


def test_first_decision_is_the_one_shot_prediction(validation: Sequence[WorkloadSweep], grid: ActionGrid) -> None:
    weights = new_network(SETTINGS, grid).state_to_numpy()
    sweep = validation[0]
    one_start = ValidationSettings(starts=1, decisions=1)
    judged = evaluate_weights(weights, [sweep], one_start, grid)
    regrets = {
        sweep.regret(GreedyPolicy(weights, grid).predict([window], sweep.limits, sweep.objective).pool_tuple)
        for entry in sweep.entries.values()
        for window in entry.windows
    }
    assert judged.one_shot[0] in regrets


def test_contest_needs_validation_sweeps(grid: ActionGrid) -> None:
    with pytest.raises(StoreError, match="no validation workload"):
        BestWeights(new_network(SETTINGS, grid).state_to_numpy(), [], ValidationSettings(), grid)
