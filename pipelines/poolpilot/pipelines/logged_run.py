"""An MLflow run of a command, where somebody names a store for it: climbs, searches, collections, calibrations.

What is to be logged is kept until the command is over: MLflow takes seconds to import and to reach, in which a server
would go on under a tuple that is only tried.
"""

import importlib.util
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from poolpilot.errors import PoolPilotError, ServerError, SettingError


@dataclass
class LoggedRun:
    """What a command has to log.

    Attributes:
        result: What came of it, fit for JSON; None as long as there is nothing.
        numbers: What its metrics are taken from, where that is not the whole result.
        ending: How the run ends in MLflow's words: `FINISHED`, `KILLED` by a user, or `FAILED`.
    """

    result: Mapping[str, Any] | None = None
    numbers: Mapping[str, Any] | None = None
    ending: str = "FINISHED"


@contextmanager
def logged_run(name: str, settings: BaseModel, store: Path | None) -> Iterator[LoggedRun]:
    """Logs what the body leaves in the run that it is given, once the body is over, however that ends.

    Args:
        name: Name of the run, such as `climb`.
        settings: Logged as parameters.
        store: Folder of the local store; `MLFLOW_TRACKING_URI` names another place. None logs nothing.

    Raises:
        SettingError: MLflow is not installed.
        ServerError: What came of it could not be logged.
    """
    if store is not None and importlib.util.find_spec("mlflow") is None:
        raise SettingError("--tracking logs to MLflow, which the extra `train` brings: install it, or leave this out")
    run = LoggedRun()
    try:
        yield run
    except KeyboardInterrupt:
        run.ending = "KILLED"
        raise
    except BaseException:
        run.ending = "FAILED"
        raise
    finally:
        if store is not None and run.result is not None:
            _log(name, settings, store, run)


def _log(name: str, settings: BaseModel, store: Path, run: LoggedRun) -> None:
    import mlflow

    from poolpilot.pipelines.tracking import log_result, tracked_run

    assert run.result is not None
    try:
        with tracked_run(name, settings, store):
            log_result(run.result, run.numbers)
            if run.ending != "FINISHED":
                mlflow.end_run(run.ending)
    except PoolPilotError as error:
        raise ServerError(f"the {name} is over, but {error}") from error
