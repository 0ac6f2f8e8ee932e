"""Every run carries its settings and the digest of its data, in local SQLite unless a server is named."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import mlflow
import pandas as pd
import pytest
from mlflow.exceptions import MlflowException
from pydantic import BaseModel

from poolpilot.errors import ServerError, StoreError
from poolpilot.pipelines.tracking import EXPERIMENT, TrackedData, flattened, log_result, tracked_run, use_tracking

# SQLAlchemy, which MLflow stores with, warns of a loader strategy that MLflow still uses.
pytestmark = pytest.mark.filterwarnings("ignore:The ``noload``")


class Inner(BaseModel):
    """A nested model."""

    rate: float = 0.5


class Settings(BaseModel):
    """A model of settings."""

    name: str = "x"
    inner: Inner = Inner()


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


def test_a_run_carries_settings_data_and_metrics(tmp_path: Path) -> None:
    data = TrackedData(tmp_path / "records", "ab" * 32, pd.DataFrame({"workload_id": ["w"]}), "training")
    with tracked_run("train", Settings(), tmp_path, data) as run:
        mlflow.log_metric("regret", 0.1, step=3)
        mlflow.log_text("hello", "note.txt")
    stored = mlflow.get_run(run.info.run_id)
    assert stored.data.params == {"name": "x", "inner.rate": "0.5"}
    assert stored.data.metrics == {"regret": 0.1}
    assert stored.data.tags["dataset_digest"] == "ab" * 32
    assert stored.inputs is not None
    (used,) = stored.inputs.dataset_inputs
    assert used.dataset.digest == "ab" * 18
    assert stored.info.status == "FINISHED"
    assert next(tmp_path.glob("artefacts/*/artifacts/note.txt")).read_text() == "hello"
    assert (tmp_path / "mlflow.db").is_file()


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, "KILLED"), (ValueError, "FAILED")])
def test_a_run_that_does_not_end_well_says_so(tmp_path: Path, error: type[BaseException], status: str) -> None:
    with pytest.raises(error), tracked_run("train", Settings(), tmp_path) as run:
        raise error
    assert mlflow.get_run(run.info.run_id).info.status == status


def test_a_named_server_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uri = f"sqlite:///{tmp_path / 'server.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    assert use_tracking(tmp_path / "local") == uri
    assert mlflow.get_tracking_uri() == uri
    assert not (tmp_path / "local").exists()


def test_first_uses_at_once_do_not_race(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from poolpilot.env.objective import Objective;"
        "from poolpilot.pipelines.tracking import tracked_run\n"
        "with tracked_run('race', Objective(), Path(sys.argv[1])): pass"
    )
    racers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) for _ in range(3)]
    assert [racer.wait() for racer in racers] == [0, 0, 0]
    use_tracking(tmp_path)
    assert len(mlflow.search_runs(output_format="list")) == 3


def test_nested_settings_are_joined_by_dots() -> None:
    found: Callable[..., object] = flattened
    assert found({"a": {"b": {"c": 1}}, "d": [2]}) == {"a.b.c": 1, "d": [2]}


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(StoreError, match="Not a directory; name another folder with --tracking"),
        tracked_run("train", Settings(), tmp_path / "file" / "runs"),
    ):
        pass


def test_what_mlflow_refuses_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> None:
        raise MlflowException("nobody answers")

    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'runs.db'}")
    monkeypatch.setattr(mlflow, "set_experiment", refuse)
    said = r"MLflow could not log the run 'train' to .*runs\.db: nobody answers"
    with pytest.raises(ServerError, match=said), tracked_run("train", Settings(), tmp_path):
        pass


@pytest.mark.parametrize("root", ["/proc/nowhere/artefacts", "file:///proc/nowhere/artefacts", "file"])
def test_an_artifact_root_that_cannot_be_written_is_named_beside_mlflow(tmp_path: Path, root: str) -> None:
    """As root a folder's rights say nothing: /proc and a file where a folder should be refuse anybody."""
    if root == "file":
        (tmp_path / "file").touch()
        root = f"{(tmp_path / 'file').as_uri()}/artefacts"
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    mlflow.create_experiment(EXPERIMENT, artifact_location=root)
    told = "MLflow has the run 'climb', and its files cannot be written to the artifact root"
    with pytest.raises(ServerError, match=told) as refused, tracked_run("climb", Settings(), tmp_path):
        log_result({"steps": 3})
    assert f"{root} of the experiment 'poolpilot'" in str(refused.value)


def test_another_file_that_is_refused_is_not_called_an_artifact(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), tracked_run("train", Settings(), tmp_path / "runs"):
        (tmp_path / "elsewhere").read_text()


def test_a_database_that_cannot_be_written_is_a_short_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tracked_run("train", Settings(), tmp_path):
        pass
    read_only = f"sqlite:///file:{tmp_path / 'mlflow.db'}?mode=ro&uri=true"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", read_only)
    said = r"MLflow could not log the run 'train' to .*readonly"
    with pytest.raises(ServerError, match=said) as refused, tracked_run("train", Settings(), tmp_path):
        pass
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 600


def test_an_interrupt_that_makes_mlflow_fail_is_told_as_one(tmp_path: Path) -> None:
    failed = MlflowException("database is locked")
    failed.__context__ = KeyboardInterrupt("SIGTERM")
    with pytest.raises(KeyboardInterrupt, match="SIGTERM"), tracked_run("train", Settings(), tmp_path):
        raise failed
