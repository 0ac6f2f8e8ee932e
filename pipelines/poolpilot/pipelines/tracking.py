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
from urllib.parse import unquote, urlsplit

import mlflow
import pandas as pd
from mlflow.entities import Run
from mlflow.exceptions import MlflowException
from pydantic import BaseModel
from requests import RequestException
from sqlalchemy.exc import SQLAlchemyError

from poolpilot.env.output import json_text
from poolpilot.errors import ServerError, StoreError

EXPERIMENT = "poolpilot"
"""Name of the experiment that holds all runs."""

RESULT_FILE = "result.json"
"""The file of a run that holds all that came of it."""

LONGEST_SAID = 300
"""Characters of what MLflow says that are told: a refused statement comes with all of its SQL."""

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
                with _artifact_errors_told(run):
                    yield run
            except KeyboardInterrupt:
                mlflow.end_run("KILLED")
                raise


@contextmanager
def _artifact_errors_told(run: Run) -> Iterator[None]:
    """Turns what the artifact root refuses into a sentence; what other files and servers refuse stays as it is.

    The client writes artifacts itself: a root on another machine's disk is refused here, while MLflow answers.
    """
    root, _, _ = run.info.artifact_uri.partition(f"/{run.info.run_id}")
    try:
        yield
    except OSError as error:
        if not (isinstance(error, RequestException) or _of_root(error, root)):
            raise
        refused = f" ({error.filename}: {error.strerror})" if error.filename else f" ({_in_short(str(error))})"
        raise ServerError(
            f"MLflow has the run {run.info.run_name!r}, and its files cannot be written to the artifact root {root} of "
            f"the experiment {EXPERIMENT!r}{refused}: make that writable from here, or name another store with "
            "--tracking or MLFLOW_TRACKING_URI"
        ) from error


def _of_root(error: OSError, root: str) -> bool:
    """Whether the file that is refused lies under a folder of artifacts, or that under it."""
    if error.filename is None or not root.startswith(("/", "file:")):
        return False
    refused, folder = Path(os.fsdecode(error.filename)), Path(unquote(urlsplit(root).path))
    return refused.is_relative_to(folder) or folder.is_relative_to(refused)


def _in_short(said: str) -> str:
    """One line of what another program says."""
    line = " ".join(said.split())
    return line if len(line) <= LONGEST_SAID else f"{line[:LONGEST_SAID]}..."


def _interrupt_within(error: BaseException) -> KeyboardInterrupt | None:
    """The interrupt that a failure came of: a transaction that a signal has cut short cannot be ended either."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, KeyboardInterrupt):
        found = found.__cause__ or found.__context__
    return found


@contextmanager
def mlflow_errors_told(name: str) -> Iterator[None]:
    """Turns what MLflow raises while a run is logged into a sentence.

    Args:
        name: Name of the run.

    Raises:
        ServerError: MLflow does not answer, or refuses.
        KeyboardInterrupt: The user ended it, which may be why it refuses.
    """
    try:
        yield
    except (MlflowException, SQLAlchemyError) as error:
        if (interrupt := _interrupt_within(error)) is not None:
            raise interrupt from None
        where = mlflow.get_tracking_uri()
        raise ServerError(f"MLflow could not log the run {name!r} to {where}: {_in_short(str(error))}") from error


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
