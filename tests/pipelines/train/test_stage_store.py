"""Finished stages outlive Ctrl-C: the same command takes them up, another trains anew, a finished run leaves none."""

import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import mlflow
import numpy as np
import pytest
from pydantic import BaseModel
from rich.console import Console

from poolpilot.agent.training.all_action import AllActionSettings, train_all_action
from poolpilot.agent.training.marwil import MarwilSettings
from poolpilot.agent.training.ppo import PpoSettings
from poolpilot.agent.training.ray_session import RaySettings
from poolpilot.agent.training.rllib_module import rebuilt
from poolpilot.agent.training.validation import Weights
from poolpilot.errors import TakenFolderError
from poolpilot.models.network import ScoreNetwork
from poolpilot.pipelines.train import train as train_module
from poolpilot.pipelines.train import training
from poolpilot.pipelines.train.stage_store import FOLDER, StageStore
from poolpilot.pipelines.train.train import train
from poolpilot.pipelines.train.train_settings import TrainSettings

# SQLAlchemy, which MLflow stores with, warns of a loader strategy that MLflow still uses.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The ``noload``"),
    pytest.mark.filterwarnings("ignore:Operation with range is deprecated"),
    pytest.mark.filterwarnings("ignore:.*Any type hint is inferred"),
]

SETTINGS = AllActionSettings(epochs=3)
WEIGHTS: Weights = {"b": np.arange(6, dtype=np.float32).reshape(2, 3).T, "a": np.ones(2, dtype=np.float32)}
QUICK = {
    "all_action.epochs": 1,
    "all_action.members": 2,
    "all_action.hidden": 16,
}


@pytest.fixture
def store(tmp_path: Path) -> StageStore:
    return StageStore(tmp_path / "artefact", {"records": "digest"})


def same(one: Weights | None, other: Weights) -> bool:
    return one is not None and {name: array.tolist() for name, array in one.items()} == {
        name: array.tolist() for name, array in other.items()
    }


def test_what_was_kept_comes_back_as_it_was(store: StageStore) -> None:
    assert store.load("all_action", SETTINGS, None) is None
    store.save("all_action", SETTINGS, None, WEIGHTS)
    assert same(store.load("all_action", SETTINGS, None), WEIGHTS)


@pytest.mark.parametrize(
    ("stage", "settings", "initial", "data"),
    [
        ("ppo", SETTINGS, None, {"records": "digest"}),
        ("all_action", AllActionSettings(epochs=4), None, {"records": "digest"}),
        ("all_action", SETTINGS, WEIGHTS, {"records": "digest"}),
        ("all_action", SETTINGS, None, {"records": "another"}),
    ],
)
def test_what_follows_from_anything_else_is_not_taken(
    store: StageStore, stage: str, settings: BaseModel, initial: Weights | None, data: dict[str, Any]
) -> None:
    store.save("all_action", SETTINGS, None, WEIGHTS)
    assert StageStore(store.folder.parent, data).load(stage, settings, initial) is None


def test_one_run_at_a_time_has_an_output(store: StageStore) -> None:
    """Two would take each other's stages away, and nobody could tell whose model the folder holds."""
    with store.taken(), pytest.raises(TakenFolderError, match="trains a model"), store.taken():
        pass
    with store.taken():
        store.save("all_action", SETTINGS, None, WEIGHTS)
        store.clear()
    assert not store.folder.exists()


def test_where_a_stage_ran_does_not_matter(store: StageStore) -> None:
    store.save("ppo", PpoSettings(), WEIGHTS, WEIGHTS)
    assert same(store.load("ppo", PpoSettings(ray=RaySettings(address="10.0.0.5:6379")), WEIGHTS), WEIGHTS)


def test_one_network_a_stage_is_kept_and_none_of_a_finished_run(store: StageStore) -> None:
    for epochs in (1, 2):
        store.save("all_action", AllActionSettings(epochs=epochs), None, WEIGHTS)
    store.save("ppo", PpoSettings(), WEIGHTS, WEIGHTS)
    assert sorted(path.name.partition("-")[0] for path in store.folder.iterdir()) == ["all_action", "ppo"]
    store.clear()
    assert not store.folder.exists()
    store.clear()


def test_file_of_somebody_else_stays(store: StageStore) -> None:
    store.save("ppo", PpoSettings(), None, WEIGHTS)
    (store.folder / "notes.txt").write_text("mine")
    store.clear()
    assert [path.name for path in store.folder.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("content", [b"", b"no tensors"])
def test_damaged_file_is_no_stage(store: StageStore, content: bytes) -> None:
    store.save("ppo", PpoSettings(), None, WEIGHTS)
    (kept,) = store.folder.iterdir()
    kept.write_bytes(content)
    assert store.load("ppo", PpoSettings(), None) is None


@pytest.fixture
def interrupted(recorded_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Trains with some settings until Ctrl-C comes in a function; what was said meanwhile."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)

    def run(module: ModuleType, function: str, **settings: Any) -> str:
        places = {"store": recorded_store, "output": tmp_path / "artefact", "tracking": tmp_path / "tracking"}
        loaded, said = TrainSettings.load(None, {**QUICK, **places, **settings}), io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(module, function, ctrl_c)
            with pytest.raises(KeyboardInterrupt):
                train(loaded, Console(file=said, width=1000))
        return said.getvalue()

    return run


def ctrl_c(*_: Any, **__: Any) -> ScoreNetwork:
    raise KeyboardInterrupt


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stages that were trained, in order; PPO and MARWIL only change the weights a little, without Ray."""
    done: list[str] = []

    def first(*arguments: Any, **options: Any) -> ScoreNetwork:
        done.append("all_action")
        return train_all_action(*arguments, **options)

    def later(name: str) -> Callable[..., ScoreNetwork]:
        def stage(network: ScoreNetwork, *_: Any, **__: Any) -> ScoreNetwork:
            done.append(name)
            weights = network.state_to_numpy()
            changed = {key: array + np.float32(1e-3) for key, array in weights.items()}
            return rebuilt(network.architecture, {**changed, "candidates": weights["candidates"]})

        return stage

    monkeypatch.setattr(training, "train_all_action", first)
    monkeypatch.setattr(training, "refine", later("ppo"))
    monkeypatch.setattr(training, "imitate", later("marwil"))
    return done


def test_after_ctrl_c_the_same_command_goes_on_to_the_same_networks(
    interrupted: Callable[..., str], stages: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "artefact" / FOLDER
    said = interrupted(training, "imitate")
    assert f"Finished and kept in {folder}: all_action, ppo; the same command goes on from there." in said
    assert stages == ["all_action", "ppo"]
    said = interrupted(train_module, "fit_baselines", ray_address="10.0.0.5:6379")  # where it runs changes nothing
    assert said.count("kept from the run before") == 2
    assert f"Finished and kept in {folder}: all_action, marwil, ppo;" in said
    assert stages == ["all_action", "ppo", "marwil"]
    interrupted(train_module, "fit_baselines", output=tmp_path / "at_once")
    assert stages == 2 * ["all_action", "ppo", "marwil"]
    kept, at_once = (
        {path.name: path.read_bytes() for path in place.iterdir()} for place in (folder, tmp_path / "at_once" / FOLDER)
    )
    assert kept == at_once


def test_other_settings_are_trained_anew(interrupted: Callable[..., str], stages: list[str]) -> None:
    interrupted(training, "refine")
    interrupted(training, "refine", **{"all_action.learning_rate": 2e-3})
    assert stages == ["all_action", "all_action"]


def test_run_that_was_ended_is_told_apart_in_mlflow(interrupted: Callable[..., str], stages: list[str]) -> None:
    for function in ("refine", "imitate"):
        interrupted(training, function)
    assert stages == ["all_action", "ppo"]
    second, first = mlflow.search_runs(search_all_experiments=True, output_format="list")
    assert [run.info.status for run in (first, second)] == ["KILLED", "KILLED"]
    assert "all_action.kept" not in first.data.tags
    assert second.data.tags["all_action.kept"] == "from a run that was ended"


def test_ctrl_c_before_a_stage_is_finished_promises_nothing(interrupted: Callable[..., str], tmp_path: Path) -> None:
    assert "kept" not in interrupted(training, "train_all_action")
    assert [*(tmp_path / "artefact").iterdir()] == []


def test_address_of_ray_goes_to_both_algorithms_unless_they_have_their_own() -> None:
    here, other = "10.0.0.5:6379", "10.0.0.6:6379"
    settings = TrainSettings.load(None, {"ray_address": here, "ppo.ray.cpus": 3})
    assert (settings.ppo.ray, settings.marwil.ray) == (RaySettings(address=here, cpus=3), RaySettings(address=here))
    settings = TrainSettings.load(None, {"ray_address": here, "marwil.ray.address": other})
    assert (settings.ppo.ray.address, settings.marwil.ray.address) == (here, other)
    settings = TrainSettings.load(None, {})
    assert (settings.ppo, settings.marwil) == (PpoSettings(), MarwilSettings())
