"""One MLflow run with a child for every stage, which goes on where it was stopped; nothing without MLflow."""

import importlib.util
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.pipelines.learn.conftest import FROM_RECORDS

from poolpilot.errors import ServerError
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.pipelines.learn import learn as learn_module
from poolpilot.pipelines.learn.learn import LearnReport
from poolpilot.pipelines.learn.learn_settings import LearnSettings
from poolpilot.pipelines.learn.learning_journal import LearningJournal
from poolpilot.pipelines.learn.run_tree import RunTree
from poolpilot.pipelines.production.learned_registry import CURVES_TAG, IN_FORCE, LEARNED_NAME
from poolpilot.pipelines.production.model_shelf import ModelShelf

Run = Callable[..., LearnReport]

pytestmark = [
    pytest.mark.filterwarnings("ignore:The ``noload``"),  # SQLAlchemy warns of what MLflow still uses
    pytest.mark.usefixtures("recorded"),
]


def test_one_tree_even_when_it_is_stopped(
    run_learn: Run, small_library: ResponseCurves, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)

    def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    tracked = {"track": True, "tracking": tmp_path / "tracking", **FROM_RECORDS}
    with monkeypatch.context() as patch:
        patch.setattr(learn_module, "objections_to_learned", stopped)
        with pytest.raises(KeyboardInterrupt):
            run_learn(**tracked)
    report = run_learn(**tracked)
    client = MlflowClient(f"sqlite:///{tmp_path / 'tracking' / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("poolpilot")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    (root,) = (run for run in runs if "mlflow.parentRunId" not in run.data.tags)
    assert (root.info.run_name, root.info.status) == ("learn", "FINISHED")
    children = [(run.info.run_name, run.info.status) for run in runs if run.info.run_id != root.info.run_id]
    assert sorted(children) == [
        ("check", "FINISHED"),
        ("curves 1", "FINISHED"),
        ("evaluation 1", "FINISHED"),
        ("gate", "FINISHED"),
        ("gate", "KILLED"),
        ("simulated 1", "FINISHED"),
    ]
    (curves,) = (run for run in runs if run.info.run_name == "curves 1")
    assert curves.data.metrics["own_curves"] == 6.0
    assert report.promoted
    kept = {file.path for file in client.list_artifacts(root.info.run_id, "model")}
    assert "model/MANIFEST.json" in kept
    version = client.get_model_version_by_alias(LEARNED_NAME, IN_FORCE)
    assert (version.tags[CURVES_TAG], version.run_id) == (report.digest, root.info.run_id)
    assert report.digest is not None
    assert digests_of_exported(tmp_path) == {report.digest}
    ModelShelf(report.out).roll_back("it lost")  # with track=false, say; before, the alias stayed where it was
    assert run_learn(**{**tracked, "minutes": 0.0}).in_force == small_library.digest
    with pytest.raises(MlflowException, match="alias"):  # what ships is no version
        client.get_model_version_by_alias(LEARNED_NAME, IN_FORCE)


def digests_of_exported(folder: Path) -> set[str]:
    """Digests of the curves that a service answers by which is given what the alias points to."""
    from mlflow.artifacts import download_artifacts

    exported = download_artifacts(
        artifact_uri=f"models:/{LEARNED_NAME}@{IN_FORCE}",
        dst_path=str(folder / "exported"),
        tracking_uri=f"sqlite:///{folder / 'tracking' / 'mlflow.db'}",
    )
    return {parts["curves"] for parts in Model.load(Path(exported)).digests().values()}


def left_running(settings: LearnSettings) -> list[str]:
    """A run and the run of a stage that are under way, or that nobody has ended: a killed process could not."""
    from mlflow import MlflowClient

    from poolpilot.pipelines.tracking import EXPERIMENT, use_tracking

    use_tracking(settings.tracking)
    client = MlflowClient()
    experiment = client.get_experiment_by_name(EXPERIMENT)
    assert experiment is not None
    root = client.create_run(experiment.experiment_id, run_name="learn").info.run_id
    within = {"mlflow.parentRunId": root}
    return [root, client.create_run(experiment.experiment_id, tags=within, run_name="native 1").info.run_id]


def statuses(run_ids: list[str]) -> list[str]:
    from mlflow import MlflowClient

    return [MlflowClient().get_run(run_id).info.status for run_id in run_ids]


@pytest.mark.parametrize(("anew", "meanwhile", "after"), [(False, "RUNNING", "FINISHED"), (True, "KILLED", "KILLED")])
def test_what_a_killed_process_left_running_is_ended_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anew: bool, meanwhile: str, after: str
) -> None:
    """Before, its stages stayed RUNNING for ever, and so did the run above them where it was given up."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    settings = LearnSettings.load(None, {"out": tmp_path / "killed", "tracking": tmp_path / "tracking"})
    killed, of_others = left_running(settings), left_running(settings)
    LearningJournal(settings.out, settings.decisive()).tracked_as(killed[0])
    tree = RunTree(settings, LearningJournal(settings.out, settings.decisive(), anew=anew))
    with tree.root(), tree.child("native 1", {}):
        assert statuses(killed) == [meanwhile, "KILLED"]
    assert statuses(killed) == [after, "KILLED"]
    assert statuses(of_others) == ["RUNNING", "RUNNING"]


def test_without_mlflow_it_works_all_the_same(run_learn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "mlflow" else found(name))
    assert run_learn(track=True, tracking=tmp_path / "tracking", **FROM_RECORDS).promoted
    assert not (tmp_path / "tracking").exists()


def test_mlflow_that_does_not_answer_is_named(run_learn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{port}")
    with pytest.raises(ServerError, match=f"MLflow could not log the run 'learn' to http://127.0.0.1:{port}: "):
        run_learn(track=True, tracking=tmp_path / "tracking", **FROM_RECORDS)
