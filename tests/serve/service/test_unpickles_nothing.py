"""Nothing is unpickled, and no code is made of bytes, from the first import of the service to its last answer."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

WATCH = """
import sys

seen = []

def imports():
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap_external>":
            return True
        frame = frame.f_back
    return False

def hook(event, _):
    if event.startswith("pickle.") or event.startswith("marshal.load") and not imports():
        seen.append(event)

sys.addaudithook(hook)
"""

SERVE = """
import json
from pathlib import Path
from starlette.testclient import TestClient
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.models.advisor.advisor import Advisor

prediction, outcome = (json.loads(Path(path).read_bytes()) for path in sys.argv[1:3])
with OutcomeLog(Path(sys.argv[3]), 2**20) as log:
    client = TestClient(create_app(Advisor.load(), outcomes=log))
    answers = [
        client.post("/v1/predict", json=prediction),
        client.post("/v1/outcomes", json=outcome),
        client.post("/v1/model"),
        client.get("/readyz"),
        client.get("/metrics"),
        client.post("/v1/predict", content=b"\\x80\\x04N."),
        client.post("/v1/predict", json=prediction),
    ]
print(json.dumps([[answer.status_code for answer in answers], seen]))
"""

UNPICKLE = """
import json, marshal, pickle
pickle.loads(pickle.dumps(pickle.Pickler))
marshal.loads(marshal.dumps(1))
print(json.dumps(seen))
"""


def told(code: str, *arguments: object) -> Any:
    command = [sys.executable, "-W", "ignore", "-c", WATCH + code, *map(str, arguments)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])


def test_service_unpickles_nothing(
    tmp_path: Path, request_values: dict[str, Any], outcome_values: dict[str, Any]
) -> None:
    body, report = tmp_path / "body.json", tmp_path / "report.json"
    body.write_text(json.dumps(request_values), encoding="utf-8")
    report.write_text(json.dumps(outcome_values), encoding="utf-8")
    statuses, seen = told(SERVE, body, report, tmp_path / "outcomes")
    assert statuses == [200, 201, 200, 200, 200, 415, 200]
    assert seen == []


def test_the_hook_would_have_seen_it() -> None:
    assert set(told(UNPICKLE)) >= {"pickle.find_class", "marshal.loads"}
