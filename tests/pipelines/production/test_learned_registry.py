"""Versions of learned models: one for each run that has judged them, and an alias on the latest of what is in force."""

from pathlib import Path

import mlflow
import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from poolpilot.pipelines.production.learned_registry import IN_FORCE, LEARNED_NAME, move_alias, register_learned
from poolpilot.pipelines.tracking import use_tracking

pytestmark = [
    # SQLAlchemy, which MLflow stores with, warns of a loader strategy that MLflow still uses.
    pytest.mark.filterwarnings("ignore:The ``noload``"),
    pytest.mark.filterwarnings("ignore:Operation with range is deprecated"),
]


@pytest.fixture(autouse=True)
def _registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    use_tracking(tmp_path / "tracking")


def judged_run(folder: Path, evaluation: str) -> str:
    """A run that keeps a model folder with its evaluation; returns its identifier."""
    folder.mkdir(exist_ok=True)
    (folder / "evaluation.json").write_text(evaluation)
    with mlflow.start_run() as run:
        mlflow.log_artifacts(str(folder), "model")
    return str(run.info.run_id)


def test_a_later_judgement_of_the_same_curves_is_what_the_alias_leads_to(tmp_path: Path) -> None:
    """Before, whoever exported the alias got what the curves were judged by at first."""
    first = register_learned("digest", judged_run(tmp_path / "model", "first"))
    assert move_alias("digest") == first
    later = register_learned("digest", judged_run(tmp_path / "model", "later"))
    assert move_alias("digest") == later != first
    exported = mlflow.artifacts.download_artifacts(
        artifact_uri=f"models:/{LEARNED_NAME}@{IN_FORCE}", dst_path=str(tmp_path / "exported")
    )
    assert (Path(exported) / "evaluation.json").read_text() == "later"


def test_a_run_that_goes_on_is_one_version(tmp_path: Path) -> None:
    run_id = judged_run(tmp_path / "model", "first")
    assert register_learned("digest", run_id) == register_learned("digest", run_id)
    assert len(MlflowClient().search_model_versions(f"name = '{LEARNED_NAME}'")) == 1


def test_what_has_no_version_has_no_alias(tmp_path: Path) -> None:
    register_learned("digest", judged_run(tmp_path / "model", "first"))
    assert move_alias("digest") is not None
    assert move_alias("what ships") is None
    with pytest.raises(MlflowException, match="alias"):
        MlflowClient().get_model_version_by_alias(LEARNED_NAME, IN_FORCE)
