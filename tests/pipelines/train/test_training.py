"""The stages of training run in order, and the best of their networks on validation workloads is chosen."""

import io
from collections.abc import Sequence
from pathlib import Path

import mlflow
import pytest
from rich.console import Console

from poolpilot.agent.progress import Progress
from poolpilot.agent.training.all_action import AllActionSettings, new_network, train_all_action
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.models.network import ScoreNetwork
from poolpilot.pipelines.store.dataset import SweepDataset, read_dataset
from poolpilot.pipelines.tracking import tracked_run
from poolpilot.pipelines.train import training
from poolpilot.pipelines.train.train_settings import TrainSettings
from poolpilot.pipelines.train.training import Trainer

# SQLAlchemy, which MLflow stores with, warns of a loader strategy that MLflow still uses.
pytestmark = pytest.mark.filterwarnings("ignore:The ``noload``")

WELL_TRAINED = AllActionSettings(epochs=40, members=2, hidden=16)


@pytest.fixture
def dataset(recorded_store: Path) -> SweepDataset:
    """The training and validation splits of the recorded store."""
    return read_dataset(recorded_store, "train", "validation")


def test_the_best_variant_on_validation_workloads_is_chosen(
    dataset: SweepDataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, validation = dataset.of_split("train"), dataset.of_split("validation")
    better = train_all_action(train, validation, WELL_TRAINED, grid=dataset.grid)
    worse = new_network(WELL_TRAINED, dataset.grid)

    def refine(
        _: ScoreNetwork,
        seen: Sequence[WorkloadSweep],
        held_out: Sequence[WorkloadSweep],
        __: object,
        *,
        grid: ActionGrid,
        on_iteration: Progress,
    ) -> ScoreNetwork:
        assert (len(seen), len(held_out), grid) == (6, 3, dataset.grid)
        on_iteration(0, {"validation_score": 0.5, "policy_loss": float("nan")})
        return better

    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setattr(training, "refine", refine)
    monkeypatch.setattr(training, "imitate", lambda *_, **__: worse)
    settings = TrainSettings.load(None, {"all_action.epochs": 1, "all_action.members": 2, "all_action.hidden": 16})
    trainer = Trainer(train, validation, dataset.grid, settings, Console(file=io.StringIO()))
    with tracked_run("train", settings, tmp_path) as run:
        variant, network = trainer.run()
    assert (variant, network) == ("ppo", better)
    assert set(trainer.scores) == {"all_action", "ppo", "marwil"}
    assert trainer.scores["ppo"] < trainer.scores["marwil"]
    stored = mlflow.get_run(run.info.run_id).data
    assert stored.tags["variant"] == "ppo"
    assert stored.metrics["ppo.validation_score"] == 0.5
    assert "ppo.policy_loss" not in stored.metrics
