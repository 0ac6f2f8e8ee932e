"""`mlflow models serve` answers with the registered model: the scoring server in this process, and as its command."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import mlflow
import pytest
import uvicorn
from starlette.testclient import TestClient
from tests.models.mlflow.conftest import Registered

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.body import as_body
from poolpilot.models.predictor import ScorePredictor

# MLflow and its dependencies warn about their own deprecations.
pytestmark = pytest.mark.filterwarnings("ignore")

UP_WITHIN_S = 300.0


@pytest.fixture
def asked(window_of: Callable[..., Window], limits: KnobSpace) -> dict[str, Any]:
    """A body of the scoring server with two requests."""
    bodies = [json.dumps(as_body([window_of(seed)], limits, Objective())) for seed in (2, 3)]
    return {"dataframe_split": {"columns": ["body"], "data": [[body] for body in bodies]}}


@pytest.fixture
def expected(registered: Registered, window_of: Callable[..., Window], limits: KnobSpace) -> list[Prediction]:
    """What the artefact itself answers."""
    predictor = ScorePredictor(registered.artefact)
    return [predictor.predict([window_of(seed)], limits, Objective()) for seed in (2, 3)]


def check_answer(answer: Any, expected: list[Prediction]) -> None:
    """Compares an answer of the server with the predictions."""
    assert answer.status_code == 200, answer.text
    rows = answer.json()["predictions"]
    cores = [(row["pool_size"], row["oversubscribe"], row["timer_interval_ms"]) for row in rows]
    assert cores == [prediction.pool_tuple.core for prediction in expected]
    assert [row["model_digest"] for row in rows] == [prediction.model_digest for prediction in expected]


def test_scoring_server_answers_and_refuses(
    registered: Registered, asked: dict[str, Any], expected: list[Prediction]
) -> None:
    from mlflow.pyfunc import scoring_server  # warns when it is imported

    client = TestClient(scoring_server.init(mlflow.pyfunc.load_model(registered.address)))
    assert client.get("/ping").status_code == 200
    check_answer(client.post("/invocations", json=asked), expected)
    wrong = {"dataframe_split": {"columns": ["features"], "data": [[1.0]]}}
    assert client.post("/invocations", json=wrong).status_code == 400


def test_the_command_serves_the_registered_version(
    registered: Registered, asked: dict[str, Any], expected: list[Prediction], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "models", "serve", "--model-uri", registered.address]
    command += ["--env-manager", "local", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    environment = {**os.environ, "MLFLOW_TRACKING_URI": mlflow.get_tracking_uri()}
    programs = Path(uvicorn.__file__).parents[4] / "bin"  # of the environment that holds the libraries
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    log = tmp_path / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        url = f"http://127.0.0.1:{port}"
        ends_s = time.monotonic() + UP_WITHIN_S
        while not _is_up(url):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < ends_s, log.read_text()
            time.sleep(0.2)
        check_answer(httpx2.post(f"{url}/invocations", json=asked, timeout=UP_WITHIN_S), expected)
    finally:
        os.killpg(process.pid, 15)
        process.wait(60)


def _is_up(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/ping", timeout=5.0).status_code == 200
    except httpx2.HTTPError:
        return False
