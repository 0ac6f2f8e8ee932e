"""An artefact logged to MLflow comes back as a version that predicts the same tuple."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mlflow
import pandas as pd
import pytest
from tests.models.mlflow.conftest import Registered

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import ArtefactError, FeatureError
from poolpilot.featurizer.window import Window
from poolpilot.models.artefact import Artefact, load
from poolpilot.models.body import as_body
from poolpilot.models.mlflow.packaging import log_artefact_model
from poolpilot.models.predictor import ScorePredictor

# MLflow and its dependencies warn about their own deprecations.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_registered_version_predicts_the_same_tuple(
    registered: Registered, tmp_path: Path, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    unanimous = registered.artefact
    model = mlflow.pyfunc.load_model(registered.address)
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
    folder = Path(mlflow.artifacts.download_artifacts(registered.address, dst_path=str(tmp_path / "back")))
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


def test_version_predicts_where_this_program_is_not_installed(
    registered: Registered, tmp_path: Path, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    unanimous, info = registered.artefact, registered.info
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


def test_version_needs_published_packages_alone_and_pins_them(registered: Registered, tmp_path: Path) -> None:
    folder = Path(mlflow.artifacts.download_artifacts(registered.info.model_uri, dst_path=str(tmp_path / "back")))
    named = (folder / "requirements.txt").read_text().split()
    assert {one.partition("==")[0] for one in named} == {"mlflow", "numpy", "pandas", "pydantic", "safetensors"}
    assert all("==" in one for one in named)
    stated = [path.read_text() for path in folder.glob("*.y*ml")]
    assert stated
    assert not any(re.search(r"^\s*- poolpilot", text, re.MULTILINE) for text in stated)


def test_input_of_another_shape_is_refused_by_the_signature(registered: Registered) -> None:
    unanimous, info = registered.artefact, registered.info
    assert info.signature is not None
    with pytest.raises(mlflow.exceptions.MlflowException, match="body"):
        mlflow.pyfunc.load_model(info.model_uri).predict(pd.DataFrame({"features": [1.0]}))
    assert (info.metadata or {})["digest"] == unanimous.digest


def test_damaged_artefact_is_not_logged(
    registered: Registered, artefact: Artefact, tmp_path: Path, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    assert artefact.digest
    (tmp_path / "random" / "model.json").write_text("{}")
    with pytest.raises(ArtefactError, match="digest"):
        log_artefact_model(tmp_path / "random", [window_of(1)], limits, Objective())
    (logged,) = mlflow.search_logged_models([registered.experiment], output_format="list")
    assert logged.model_id == registered.info.model_id


def test_version_gives_no_advice_for_another_kind_of_server(
    registered: Registered, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    assert registered.artefact.card.kind == "native"
    model = mlflow.pyfunc.load_model(registered.info.model_uri)
    foreign = as_body([replace(window_of(1), server_kind="mariadb")], limits, Objective())
    with pytest.raises(FeatureError, match="for servers of the kind 'native': ask a version for 'mariadb'"):
        model.predict(pd.DataFrame({"body": [json.dumps(foreign)]}))
