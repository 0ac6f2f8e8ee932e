"""The path that serves needs neither torch nor any library of training, and unpickles nothing."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.artefact import Artefact
from poolpilot.models.body import as_body
from poolpilot.models.champion import CHAMPIONS
from poolpilot.models.predictor import ScorePredictor

SERVE_ONCE = """
import json, sys
seen = []
sys.addaudithook(lambda event, arguments: seen.append(event) if event.startswith("pickle.") else None)
from poolpilot.models.body import from_body
from poolpilot.models.champion import load_champion
from poolpilot.models.predictor import ScorePredictor
prediction = ScorePredictor(load_champion()).predict(*from_body(json.load(sys.stdin)))
training = {"torch", "ray", "mlflow", "pandas", "duckdb", "gymnasium", "sklearn", "scipy"}
json.dump([prediction.as_dict(), seen, sorted(training & set(sys.modules))], sys.stdout)
"""

UNPICKLE = """
import pickle, sys
seen = []
sys.addaudithook(lambda event, arguments: seen.append(event) if event.startswith("pickle.") else None)
pickle.loads(pickle.dumps(pickle.Pickler))
sys.exit(0 if seen else 1)
"""


def python(code: str, text: str = "", **environment: str) -> str:
    arguments = [sys.executable, "-c", code]
    done = subprocess.run(
        arguments, input=text, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_prediction_in_a_fresh_process_loads_no_training_library_and_no_pickle(
    unanimous: Artefact, tmp_path: Path, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    body = as_body([window_of(1)], limits, Objective())
    printed = python(SERVE_ONCE, json.dumps(body), **{CHAMPIONS["native"][1]: str(tmp_path / "unanimous")})
    prediction, unpickled, training = json.loads(printed)
    expected = ScorePredictor(unanimous).predict([window_of(1)], limits, Objective()).as_dict()
    for field in ("pool_tuple", "reasons", "abstained", "model_digest"):
        assert prediction[field] == expected[field]
    assert unpickled == []
    assert training == []


def test_the_audit_hook_would_have_seen_a_pickle() -> None:
    assert python(UNPICKLE) == ""
