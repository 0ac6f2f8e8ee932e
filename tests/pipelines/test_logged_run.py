"""Commands that somebody wants in MLflow are there with settings, result and how they ended; others leave nothing."""

import json
from contextlib import suppress
from pathlib import Path

import mlflow
import pytest
from mlflow.entities import Run
from mlflow.exceptions import MlflowException
from pydantic import BaseModel

from poolpilot.errors import ServerError, SettingError
from poolpilot.pipelines import tracking
from poolpilot.pipelines.logged_run import logged_run
from poolpilot.pipelines.tracking import EXPERIMENT, use_tracking

# SQLAlchemy, which MLflow stores with, warns of a loader strategy that MLflow still uses.
pytestmark = pytest.mark.filterwarnings("ignore:The ``noload``")


class Settings(BaseModel):
    """A model of settings."""

    seconds: float = 3.0


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


def runs_in(store: Path) -> list[Run]:
    use_tracking(store)
    experiment = mlflow.get_experiment_by_name(EXPERIMENT)
    assert experiment is not None
    return list(mlflow.MlflowClient().search_runs([experiment.experiment_id]))


def test_settings_numbers_and_the_whole_result_are_logged(tmp_path: Path) -> None:
    with logged_run("climb", Settings(), tmp_path) as logged:
        logged.result = {"steps": [{"goodput_per_s": 5.0}], "outcome": "better"}
        logged.numbers = {"after": {"goodput_per_s": 7.0, "when": "after"}}
    (run,) = runs_in(tmp_path)
    assert (run.info.run_name, run.info.status) == ("climb", "FINISHED")
    assert run.data.params == {"seconds": "3.0"}
    assert run.data.metrics == {"after.goodput_per_s": 7.0}
    kept = next(tmp_path.glob(f"artefacts/{run.info.run_id}/artifacts/{tracking.RESULT_FILE}"))
    assert json.loads(kept.read_text()) == {"steps": [{"goodput_per_s": 5.0}], "outcome": "better"}


def test_one_that_was_ended_early_is_logged_as_killed(tmp_path: Path) -> None:
    with suppress(KeyboardInterrupt), logged_run("search", Settings(), tmp_path) as logged:
        logged.result = {"windows": 4}
        raise KeyboardInterrupt
    (run,) = runs_in(tmp_path)
    assert (run.info.status, run.data.metrics) == ("KILLED", {"windows": 4.0})


def test_one_that_an_error_has_ended_is_logged_as_failed(tmp_path: Path) -> None:
    with suppress(ServerError), logged_run("climb", Settings(), tmp_path) as logged:
        logged.result = {"windows": 4}
        raise ServerError("it is gone")
    (run,) = runs_in(tmp_path)
    assert run.info.status == "FAILED"


def test_what_came_to_nothing_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="gone"), logged_run("climb", Settings(), tmp_path):
        raise ServerError("gone")
    with logged_run("climb", Settings(), None) as logged:
        logged.result = {"windows": 4}
    assert not list(tmp_path.iterdir())


def test_a_missing_mlflow_is_told_before_anything_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(SettingError, match="the extra `train`"), logged_run("climb", Settings(), tmp_path):
        raise AssertionError("the body has run")


def test_a_store_that_fails_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise MlflowException("no room")

    monkeypatch.setattr(tracking, "use_tracking", refuse)
    said = "the climb is over, but MLflow could not log the run 'climb' to .*: no room"
    with pytest.raises(ServerError, match=said), logged_run("climb", Settings(), tmp_path) as logged:
        logged.result = {}
