"""An artefact logged to MLflow comes back as a version that predicts the same tuple."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import mlflow
import pandas as pd
import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import ArtefactError, FeatureError
from poolpilot.featurizer.window import Window
from poolpilot.models.artefact import Artefact, load
from poolpilot.models.body import as_body
from poolpilot.models.mlflow.packaging import REGISTERED_NAME, log_artefact_model
from poolpilot.models.predictor import ScorePredictor

# MLflow and its dependencies warn about their own deprecations.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def _registry(tmp_path: Path) -> Iterator[None]:
    before = mlflow.get_tracking_uri()
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    mlflow.set_tracking_uri(uri)
    experiment = mlflow.create_experiment("packaging", artifact_location=(tmp_path / "store").as_uri())
    with mlflow.start_run(experiment_id=experiment):
        yield
    mlflow.set_tracking_uri(before)


@pytest.mark.usefixtures("_registry")
def test_registered_version_predicts_the_same_tuple(
    unanimous: Artefact, tmp_path: Path, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    windows = [window_of(1)]
    info = log_artefact_model(tmp_path / "unanimous", windows, limits, Objective())
    uri = f"models:/{REGISTERED_NAME}/{info.registered_model_version}"
    model = mlflow.pyfunc.load_model(uri)
    bodies = pd.DataFrame({"body": [json.dumps(as_body([window_of(seed)], limits, Objective())) for seed in range(3)]})
    answered = model.predict(bodies)
    predictor = ScorePredictor(unanimous)
    for row, seed in zip(answered.to_dict("records"), range(3), strict=True):
        expected = predictor.predict([window_of(seed)], limits, Objective())
        assert (row["pool_size"], row["oversubscribe"], row["timer_interval_ms"]) == expected.pool_tuple.core
        assert row["abstained"] == expected.abstained
        assert row["model_digest"] == unanimous.digest
    assert model.metadata.signature.inputs.input_names() == ["body"]
    assert model.input_example is not None
    folder = Path(mlflow.artifacts.download_artifacts(uri, dst_path=str(tmp_path / "back")))
    assert load(folder / "artifacts" / "artefact").digest == unanimous.digest


ANSWER_ELSEWHERE = """
import json, sys
sys.path.append(sys.argv[1])
import mlflow, pandas
model = mlflow.pyfunc.load_model(sys.argv[2])
answer = model.predict(pandas.DataFrame({"body": [sys.stdin.read()]})).to_dict("records")[0]
ours = {name: module.__file__ for name, module in sys.modules.items() if name.startswith("poolpilot.")}
json.dump([answer["pool_size"], answer["model_digest"], ours], sys.stdout)
"""


@pytest.mark.usefixtures("_registry")
def test_version_predicts_where_this_program_is_not_installed(
    unanimous: Artefact, tmp_path: Path, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    info = log_artefact_model(tmp_path / "unanimous", [window_of(1)], limits, Objective())
    folder = mlflow.artifacts.download_artifacts(info.model_uri, dst_path=str(tmp_path / "elsewhere"))
    third_parties = str(Path(mlflow.__file__).parents[1])
    isolated = [sys.executable, "-I", "-S", "-c", ANSWER_ELSEWHERE, third_parties, folder]
    body = json.dumps(as_body([window_of(2)], limits, Objective()))
    done = subprocess.run(isolated, input=body, capture_output=True, text=True, check=True)
    size, digest, ours = json.loads(done.stdout)
    assert size == ScorePredictor(unanimous).predict([window_of(2)], limits, Objective()).pool_tuple.pool_size
    assert digest == unanimous.digest
    assert [name for name, path in ours.items() if not Path(path).is_relative_to(folder)] == []
    assert "poolpilot.models.predictor" in ours
    assert "poolpilot.native_pool" not in ours


@pytest.mark.usefixtures("_registry")
def test_version_needs_published_packages_alone_and_pins_them(
    unanimous: Artefact, tmp_path: Path, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    assert unanimous.digest
    info = log_artefact_model(tmp_path / "unanimous", [window_of(1)], limits, Objective())
    folder = Path(mlflow.artifacts.download_artifacts(info.model_uri, dst_path=str(tmp_path / "back")))
    named = (folder / "requirements.txt").read_text().split()
    assert {one.partition("==")[0] for one in named} == {"mlflow", "numpy", "pandas", "pydantic", "safetensors"}
    assert all("==" in one for one in named)
    stated = [path.read_text() for path in folder.glob("*.y*ml")]
    assert stated
    assert not any(re.search(r"^\s*- poolpilot", text, re.MULTILINE) for text in stated)


@pytest.mark.usefixtures("_registry")
def test_input_of_another_shape_is_refused_by_the_signature(
    unanimous: Artefact, tmp_path: Path, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    info = log_artefact_model(tmp_path / "unanimous", [window_of(1)], limits, Objective())
    assert info.signature is not None
    with pytest.raises(mlflow.exceptions.MlflowException, match="body"):
        mlflow.pyfunc.load_model(info.model_uri).predict(pd.DataFrame({"features": [1.0]}))
    assert (info.metadata or {})["digest"] == unanimous.digest


@pytest.mark.usefixtures("_registry")
def test_damaged_artefact_is_not_logged(
    artefact: Artefact, tmp_path: Path, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    assert artefact.digest
    (tmp_path / "random" / "model.json").write_text("{}")
    with pytest.raises(ArtefactError, match="digest"):
        log_artefact_model(tmp_path / "random", [window_of(1)], limits, Objective())
    assert mlflow.search_logged_models(output_format="list") == []


@pytest.mark.usefixtures("_registry")
def test_version_gives_no_advice_for_another_kind_of_server(
    unanimous: Artefact, tmp_path: Path, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    assert unanimous.card.kind == "native"
    info = log_artefact_model(tmp_path / "unanimous", [window_of(1)], limits, Objective())
    model = mlflow.pyfunc.load_model(info.model_uri)
    foreign = as_body([replace(window_of(1), server_kind="mariadb")], limits, Objective())
    with pytest.raises(FeatureError, match="for servers of the kind 'native': ask a version for 'mariadb'"):
        model.predict(pd.DataFrame({"body": [json.dumps(foreign)]}))
