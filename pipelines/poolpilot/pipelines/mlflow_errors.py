"""What MLflow, its store or its artifact root refuse, in a sentence that names both sides."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import mlflow
from mlflow.entities import Run
from mlflow.exceptions import MlflowException
from requests import RequestException
from sqlalchemy.exc import SQLAlchemyError

from poolpilot.errors import ServerError

LONGEST_SAID = 300
"""Characters of what MLflow says that are told: a refused statement comes with all of its SQL."""


@contextmanager
def artifact_errors_told(run: Run, experiment: str) -> Iterator[None]:
    """Turns what the artifact root refuses into a sentence; what other files and servers refuse stays as it is.

    The client writes artifacts itself: a root on another machine's disk is refused here, while MLflow answers.

    Args:
        run: The run whose body is within.
        experiment: Name of its experiment.

    Raises:
        ServerError: The artifact root cannot be written to.
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
            f"the experiment {experiment!r}{refused}: make that writable from here, or name another store with "
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
