"""An artefact as a version in an MLflow registry; production loads the artefact itself, never through MLflow.

The version carries the packages of this program that predict, in Python alone, and names what else it needs from a
package index. This program is not among that: under its name an index may offer somebody else's package.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models import artefact_folder
from poolpilot.models.artefact import load
from poolpilot.models.body import as_body

if TYPE_CHECKING:
    from mlflow.models import ModelSignature
    from mlflow.models.model import ModelInfo
    from pandas import DataFrame

REGISTERED_NAME = "poolpilot"
"""Name of the model in the registry."""

CARRIED = ("errors", "durability", "featurizer", "env", "mariadb", "models")
"""Packages of this program that go with the model: the floors up to the predictor's, without the extension in C++."""

REQUIRED = ("numpy", "pandas", "pydantic", "safetensors")
"""Distributions that these and `mlflow_model.py` need; MLflow adds itself."""


def log_artefact_model(
    folder: Path,
    windows: Sequence[Window],
    limits: KnobSpace,
    objective: Objective,
    *,
    name: str = "model",
    registered_name: str = REGISTERED_NAME,
) -> "ModelInfo":
    """Logs and registers an artefact in the active MLflow run, or in one of its own.

    The stored model is code that reads the artefact folder inside it; its input is a table with the column
    `body`, the JSON text of a prediction request, its output one row of a prediction's fields per request.

    Args:
        folder: Folder written by `artefact.save`.
        windows: Windows of one workload: the input example.
        limits: Knobs of the server of the example.
        objective: Objective of the example.
        name: Name of the logged model.
        registered_name: Name in the registry, of which this becomes a new version.

    Returns:
        MLflow's description with the new `registered_model_version`.

    Raises:
        ArtefactError: The folder holds no sound artefact.
    """
    from mlflow.pyfunc import log_model

    artefact = load(folder)
    with _parts(folder) as parts:
        info: ModelInfo = log_model(
            **parts,
            name=name,
            input_example=_example(windows, limits, objective),
            registered_model_name=registered_name,
            metadata={"digest": artefact.digest, "training_digest": artefact.card.training_digest},
        )
    return info


@contextmanager
def _parts(folder: Path) -> Iterator[dict[str, Any]]:
    """The model's code, a copy of the artefact, what it carries and what it needs, for the duration of the block."""
    with TemporaryDirectory() as made, as_file(files("poolpilot.models.mlflow") / "python_model.py") as model:
        copied = Path(made) / "artefact"
        artefact_folder.write(copied, artefact_folder.read(folder))
        yield {
            "python_model": str(model),
            "artifacts": {copied.name: str(copied)},
            "code_paths": [str(_carried_code(Path(made)))],
            "signature": _signature(),
            "pip_requirements": [f"{one}=={version(one)}" for one in REQUIRED],
        }


def _example(windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> "DataFrame":
    import pandas as pd

    return pd.DataFrame({"body": [json.dumps(as_body(windows, limits, objective))]})


def _carried_code(parent: Path) -> Path:
    """Copies the carried packages below `parent`, as the namespace they are parts of, and returns its folder."""
    namespace = parent / "poolpilot"
    for package in CARRIED:
        with as_file(files(f"poolpilot.{package}")) as source:
            copytree(source, namespace / package, ignore=ignore_patterns("__pycache__", "champion", "champion_*"))
    return namespace


def _signature() -> "ModelSignature":
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, Schema, TensorSpec

    outputs: list[ColSpec | TensorSpec] = [
        *(ColSpec(DataType.long, column) for column in ("pool_size", "oversubscribe", "timer_interval_ms")),
        ColSpec(DataType.boolean, "abstained"),
        *(ColSpec(DataType.double, column) for column in ("expected_gain", "gain_low", "gain_high")),
        *(ColSpec(DataType.string, column) for column in ("reasons", "model_digest")),
    ]
    return ModelSignature(inputs=Schema([ColSpec(DataType.string, "body")]), outputs=Schema(outputs))
