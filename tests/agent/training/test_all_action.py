"""All-action training: a loss checked by hand, determinism, and better tuples than the best static one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from poolpilot.agent.baselines.sbs import SingleBestStatic
from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.agent.training.all_action import (
    RICH,
    AllActionSettings,
    all_action_losses,
    bootstrap_weights,
    hide_features,
    train_all_action,
)
from poolpilot.agent.training.network_metrics import one_shot_regret
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.errors import SettingError
from poolpilot.models.architecture import grid_coordinates
from poolpilot.models.artefact import load, save
from poolpilot.models.card import ModelCard
from poolpilot.models.network import ScoreNetwork, Scores
from poolpilot.models.out_of_distribution import OutOfDistribution

SMALL = AllActionSettings(members=2, hidden=32, epochs=25, batch_size=64, seed=3)
TINY = SMALL.model_copy(update={"hidden": 8, "epochs": 2})


@pytest.fixture(scope="module")
def trained(
    training: Sequence[WorkloadSweep], validation: Sequence[WorkloadSweep], grid: ActionGrid
) -> tuple[ScoreNetwork, list[Mapping[str, float]]]:
    metrics: list[Mapping[str, float]] = []
    network = train_all_action(training, validation, SMALL, grid=grid, on_epoch=lambda _, each: metrics.append(each))
    return network, metrics


def test_losses_agree_with_a_calculation_by_hand() -> None:
    gain = torch.tensor([[[0.0, 0.5, 9.0]]])
    scores = Scores(logits=gain[0], value=torch.tensor([-0.4]), gain=gain[0], member_gain=gain)
    target = {
        "regret": torch.tensor([[0.6, 0.0, 0.9]]),
        "gain": torch.tensor([[0.0, 0.7, 5.0]]),
        "repeats": torch.tensor([[1.0, 3.0, 0.0]]),
    }
    losses = all_action_losses(scores, torch.tensor(2.0), target, delta=0.1)
    # The third tuple was never measured: neither policy nor regression may see it.
    expected_regret = 0.6 / (1.0 + math.exp(0.5 * 2.0))
    assert losses["policy"].item() == pytest.approx(expected_regret)
    assert losses["gain"].item() == pytest.approx(3.0 / 4.0 * 0.1 * (0.2 - 0.05))
    assert losses["value"].item() == pytest.approx((-0.4 + expected_regret) ** 2)


def test_training_beats_the_single_best_static_tuple_on_workloads_never_seen(
    trained: tuple[ScoreNetwork, list[Mapping[str, float]]],
    training: Sequence[WorkloadSweep],
    held_out: Sequence[WorkloadSweep],
    grid: ActionGrid,
) -> None:
    static = SingleBestStatic.fit(training, grid=grid).pool_tuple
    static_regret = np.mean([sweep.regret(static) for sweep in held_out])
    learned_regret = one_shot_regret(trained[0], EncodedSweeps.of(held_out, grid)).mean()
    assert learned_regret < static_regret / 2.0


def test_network_of_the_least_validation_regret_is_returned(
    trained: tuple[ScoreNetwork, list[Mapping[str, float]]], validation: Sequence[WorkloadSweep], grid: ActionGrid
) -> None:
    network, metrics = trained
    regret = one_shot_regret(network, EncodedSweeps.of(validation, grid), per_sweep=16).mean()
    assert regret == pytest.approx(min(each["validation_regret_mean"] for each in metrics))
    assert metrics[-1]["loss_policy"] < metrics[0]["loss_policy"]


def test_training_stops_when_validation_no_longer_improves(
    training: Sequence[WorkloadSweep], validation: Sequence[WorkloadSweep], grid: ActionGrid
) -> None:
    epochs: list[int] = []
    frozen = TINY.model_copy(update={"learning_rate": 1e-12, "epochs": 20, "patience": 2})
    train_all_action(training, validation, frozen, grid=grid, on_epoch=lambda epoch, _: epochs.append(epoch))
    assert epochs == [0, 1, 2]


def test_same_seed_gives_the_same_weights_bit_by_bit(
    training: Sequence[WorkloadSweep], validation: Sequence[WorkloadSweep], grid: ActionGrid
) -> None:
    once, again, other = (
        train_all_action(training, validation, TINY.model_copy(update={"seed": seed}), grid=grid).state_to_numpy()
        for seed in (5, 5, 6)
    )
    assert all(np.array_equal(once[name], again[name]) for name in once)
    assert not np.array_equal(once["score_in.weight"], other["score_in.weight"])


def test_saved_network_scores_as_before(
    trained: tuple[ScoreNetwork, list[Mapping[str, float]]],
    validation: Sequence[WorkloadSweep],
    grid: ActionGrid,
    tmp_path: Path,
) -> None:
    network, _ = trained
    encoded = EncodedSweeps.of(validation, grid)
    windows = [window for entry in validation[0].entries.values() for window in entry.windows]
    card = ModelCard(
        architecture=network.architecture,
        grid=grid,
        training_digest="0" * 64,
        residual_std=0.1,
        out_of_distribution=OutOfDistribution.fit(windows, windows, {2}),
    )
    save(tmp_path, network.state_to_numpy(), card)
    copy = ScoreNetwork(network.architecture, network.candidates.numpy())
    copy.initialise_from(load(tmp_path).weights)
    assert np.array_equal(one_shot_regret(copy, encoded), one_shot_regret(network, encoded))
    assert all(torch.equal(old, new) for old, new in zip(network.parameters(), copy.parameters(), strict=True))


def test_hiding_takes_the_whole_rich_tier_or_nothing_of_the_core(
    training: Sequence[WorkloadSweep], grid: ActionGrid
) -> None:
    encoded = EncodedSweeps.of(training, grid)
    before = encoded.observation(np.arange(200)[:, None])
    after = {name: array.copy() for name, array in before.items()}
    only_tier = TINY.model_copy(update={"hide_rich_share": 0.5, "hide_feature_share": 0.0})
    hide_features(after, only_tier, np.random.default_rng(0))
    present, kept = before["feature_mask"][:, 0], after["feature_mask"][:, 0]
    assert np.array_equal(kept[:, ~RICH], present[:, ~RICH])
    share_kept = kept[:, RICH].sum(axis=1) / present[:, RICH].sum(axis=1)
    assert set(share_kept) == {0.0, 1.0}
    assert (after["features"][after["feature_mask"] == 0.0] == 0.0).all()


def test_bootstrap_weights_families_as_one(training: Sequence[WorkloadSweep], grid: ActionGrid) -> None:
    encoded = EncodedSweeps.of(training, grid)
    by_family = TINY.model_copy(update={"bootstrap": "families"})
    weights = bootstrap_weights(encoded, by_family, np.random.default_rng(0))
    families = np.array([sweep.family for sweep in training])
    assert weights.mean(axis=1) == pytest.approx(np.ones(2), abs=1e-5)
    for family in set(families):
        assert np.ptp(weights[:, families == family], axis=1) == pytest.approx(np.zeros(2))
    assert not np.allclose(weights[0], weights[1])


def test_fine_tuning_starts_from_the_given_weights_and_keeps_them_if_nothing_is_better(
    training: Sequence[WorkloadSweep], validation: Sequence[WorkloadSweep], grid: ActionGrid
) -> None:
    first = train_all_action(training, validation, TINY, grid=grid).state_to_numpy()
    frozen = TINY.model_copy(update={"learning_rate": 1e-12, "seed": 9})
    again = train_all_action(training, validation, frozen, grid=grid, initial=first).state_to_numpy()
    fresh = train_all_action(training, validation, frozen, grid=grid).state_to_numpy()
    assert all(np.allclose(again[name], first[name], atol=1e-6) for name in first)
    assert any(not np.allclose(fresh[name], first[name], atol=1e-3) for name in first)


def test_a_network_goes_on_with_another_grid(
    training: Sequence[WorkloadSweep], validation: Sequence[WorkloadSweep], grid: ActionGrid
) -> None:
    first = train_all_action(training, validation, TINY, grid=grid).state_to_numpy()
    smaller = replace(grid, sizes=grid.sizes[:-1])
    frozen = TINY.model_copy(update={"learning_rate": 1e-9, "epochs": 1})
    again = train_all_action(training, validation, frozen, grid=smaller, initial=first).state_to_numpy()
    assert np.array_equal(again["candidates"], grid_coordinates(smaller))
    assert all(np.allclose(again[name], first[name], atol=1e-6) for name in first if name != "candidates")


def test_initial_weights_of_another_shape_are_refused(
    training: Sequence[WorkloadSweep], validation: Sequence[WorkloadSweep], grid: ActionGrid
) -> None:
    first = train_all_action(training, validation, TINY, grid=grid).state_to_numpy()
    wider = TINY.model_copy(update={"hidden": 16})
    with pytest.raises(SettingError, match="another shape"):
        train_all_action(training, validation, wider, grid=grid, initial=first)
