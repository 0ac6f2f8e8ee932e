"""MLflow: where runs are kept, and one context manager that tracks a run the same way everywhere."""

import fcntl
import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlflow
import pandas as pd
from mlflow.entities import Run
from pydantic import BaseModel

from poolpilot.env.output import json_text
from poolpilot.errors import StoreError
from poolpilot.pipelines.mlflow_errors import artifact_errors_told, mlflow_errors_told

EXPERIMENT = "poolpilot"
"""Name of the experiment that holds all runs."""

RESULT_FILE = "result.json"
"""The file of a run that holds all that came of it."""

TALKATIVE = ("alembic", "mlflow.store.db.utils", "mlflow.pyfunc", "mlflow.utils.requirements_utils")
"""Loggers that print migrations, checks that passed, and the lack of a version in a namespace package."""


@dataclass(frozen=True, slots=True)
class TrackedData:
    """The data a run reads, as its run names it.

    Attributes:
        source: Folder of the store.
        digest: SHA-256 of the store's content.
        summary: One row per workload: what was read, never the windows themselves.
        context: What it is read for, e.g. `training`.
    """

    source: Path
    digest: str
    summary: pd.DataFrame
    context: str


def use_tracking(directory: Path) -> str:
    """Points MLflow at MLFLOW_TRACKING_URI or, without it, at SQLite in `directory`; returns the URI.

    Artefacts of the local store lie beside its database. Two first uses at once would race in the creation of
    the tables, so the local database is opened under a file lock.

    Raises:
        StoreError: The folder cannot be written to.
        MlflowException: The server does not answer, or refuses.
    """
    for talkative in TALKATIVE:
        logging.getLogger(talkative).setLevel(logging.ERROR)
    uri = os.environ.get("MLFLOW_TRACKING_URI")
    if uri:
        mlflow.set_tracking_uri(uri)
        mlflow.set_experiment(EXPERIMENT)
        return uri
    try:
        directory.mkdir(parents=True, exist_ok=True)
        root = directory.resolve()
        opened = (root / ".mlflow.lock").open("w")
    except OSError as error:
        raise StoreError(
            f"runs cannot be kept in {directory}: {error.strerror}; name another folder with --tracking"
        ) from error
    uri = f"sqlite:///{root / 'mlflow.db'}"
    with opened as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        mlflow.set_tracking_uri(uri)
        if mlflow.get_experiment_by_name(EXPERIMENT) is None:
            mlflow.create_experiment(EXPERIMENT, artifact_location=(root / "artefacts").as_uri())
        mlflow.set_experiment(EXPERIMENT)
    return uri


@contextmanager
def tracked_run(name: str, settings: BaseModel, directory: Path, data: TrackedData | None = None) -> Iterator[Run]:
    """Runs the body inside an MLflow run that carries its settings and the digest of its data.

    The body logs metrics and plots with `mlflow` itself. A body that raises marks the run as failed, a
    KeyboardInterrupt as killed.

    Args:
        name: Name of the run.
        settings: Logged as parameters, nested fields with dots.
        directory: Folder of the local store, where no server is named.
        data: What the run reads.

    Raises:
        StoreError: The folder cannot be written to.
        ServerError: MLflow does not answer or refuses, or its artifact root cannot be written to.
    """
    with mlflow_errors_told(name):
        use_tracking(directory)
        with mlflow.start_run(run_name=name, log_system_metrics=False) as run:
            mlflow.log_params(flattened(settings.model_dump(mode="json")))
            if data is not None:
                _log_data(data)
            try:
                with artifact_errors_told(run, EXPERIMENT):
                    yield run
            except KeyboardInterrupt:
                mlflow.end_run("KILLED")
                raise


def _log_data(data: TrackedData) -> None:
    with warnings.catch_warnings():
        # MLflow registers its source of local folders twice and then warns that the choice is ambiguous.
        warnings.simplefilter("ignore", UserWarning)
        # MLflow holds 36 characters of a digest; the tag holds all.
        dataset = mlflow.data.from_pandas(  # type: ignore[attr-defined]
            data.summary, source=str(data.source), name="sweeps", digest=data.digest[:36]
        )
    mlflow.log_input(dataset, context=data.context)
    mlflow.set_tag("dataset_digest", data.digest)


def log_result(result: Mapping[str, Any], numbers: Mapping[str, Any] | None = None) -> None:
    """Logs what came of the active run: the whole as a file, its numbers as metrics.

    Args:
        result: The whole, fit for JSON.
        numbers: What the metrics are taken from, where that is not the whole.
    """
    flat = flattened(result if numbers is None else numbers)
    mlflow.log_metrics({name: float(value) for name, value in flat.items() if isinstance(value, int | float)})
    mlflow.log_text(json_text(dict(result), indent=1), RESULT_FILE)


def flattened(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as one level, keys joined by dots."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= flattened(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
