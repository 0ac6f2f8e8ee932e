"""One MLflow run for `poolpilot learn`, with a child for every stage; nothing where MLflow is not installed."""

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from poolpilot.errors import StoreError
from poolpilot.pipelines.learn.learn_settings import LearnSettings
from poolpilot.pipelines.learn.learning_journal import LearningJournal

Log = Callable[[Mapping[str, Any]], None]
"""Logs what came of a stage: numbers as metrics, the whole as a file."""

LOCAL_STORE = "mlflow.db"
"""The local store within its folder."""


def _nothing(_: Mapping[str, Any]) -> None:
    """Logs nothing."""


class RunTree:
    """The runs of one call of `poolpilot learn`.

    Args:
        settings: What is learned, and where runs go.
        journal: Knows the run that goes on.
    """

    def __init__(self, settings: LearnSettings, journal: LearningJournal) -> None:
        self.settings = settings
        self.journal = journal
        self.tracked = settings.track and importlib.util.find_spec("mlflow") is not None

    @contextmanager
    def root(self) -> Iterator[None]:
        """The run above all; one that was stopped goes on. Ctrl-C marks it as killed.

        What a process left running that was killed without a chance to end it is ended first.

        Raises:
            StoreError: The folder of the runs cannot be written to.
            ServerError: MLflow does not answer, or refuses, here or in a stage.
        """
        if not self.tracked:
            yield
            return
        # MLflow takes seconds to import, and the command may be without it.
        import mlflow

        from poolpilot.pipelines.mlflow_errors import mlflow_errors_told
        from poolpilot.pipelines.tracking import flattened, use_tracking

        with mlflow_errors_told("learn"):
            use_tracking(self.settings.tracking)
            for left in self.journal.tracked_runs:  # nobody else is at work on them: this process has the folder's lock
                _end_running(left)
            with mlflow.start_run(run_id=self._known_run(), run_name="learn", log_system_metrics=False) as run:
                if self.journal.run.run_id != run.info.run_id:
                    mlflow.log_params(flattened(self.settings.model_dump(mode="json")))
                    self.journal.tracked_as(run.info.run_id)
                try:
                    yield
                except KeyboardInterrupt:
                    mlflow.end_run("KILLED")
                    raise

    @contextmanager
    def child(self, name: str, parameters: Mapping[str, Any]) -> Iterator[Log]:
        """The run of a stage; gives what logs its result.

        Args:
            name: Name of the run, such as `calibration`.
            parameters: What it was done with.
        """
        if not self.tracked:
            yield _nothing
            return
        import mlflow

        from poolpilot.pipelines.tracking import log_result

        with mlflow.start_run(run_name=name, nested=True, log_system_metrics=False):
            mlflow.log_params(dict(parameters))
            try:
                yield log_result
            except KeyboardInterrupt:
                mlflow.end_run("KILLED")
                raise

    def _known_run(self) -> str | None:
        """The run that was stopped, where the tracking store still has it."""
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException

        run_id = self.journal.run.run_id
        if run_id is None:
            return None
        try:
            return str(MlflowClient().get_run(run_id).info.run_id)
        except MlflowException:
            return None


def _end_running(root: str) -> None:
    """Ends a run and its children as killed where they still count as running; one that the store lacks is over."""
    from mlflow import MlflowClient

    from poolpilot.pipelines.tracking import EXPERIMENT

    client = MlflowClient()
    experiment = client.get_experiment_by_name(EXPERIMENT)
    assert experiment is not None, "the experiment is made before"
    for belonging in (f"tags.`mlflow.parentRunId` = '{root}'", f"attributes.run_id = '{root}'"):
        running = f"{belonging} AND attributes.status = 'RUNNING'"
        for run in client.search_runs([experiment.experiment_id], running):
            client.set_terminated(run.info.run_id, "KILLED")


def log_learned(tree: RunTree, folder: Path, digest: str) -> None:
    """Keeps the folder that was learned with the run above all, as a version of the registered model."""
    if not tree.tracked:
        return
    import mlflow

    from poolpilot.pipelines.production.learned_registry import register_learned

    mlflow.log_artifacts(str(folder), "model")
    run = mlflow.active_run()
    assert run is not None, "a folder is logged within the run above all"
    register_learned(digest, run.info.run_id)


def alias_follows(settings: LearnSettings, digest: str) -> str | None:
    """Moves the registry's alias to what is in force, where runs are logged.

    Returns:
        Why it could not be moved, as a sentence; None where it was, or there is no registry: the link decides.
    """
    known = "MLFLOW_TRACKING_URI" in os.environ or (settings.tracking / LOCAL_STORE).exists()
    if not settings.track or not known or importlib.util.find_spec("mlflow") is None:
        return None
    from mlflow.exceptions import MlflowException

    from poolpilot.pipelines.production.learned_registry import move_alias
    from poolpilot.pipelines.tracking import use_tracking

    try:
        use_tracking(settings.tracking)
        move_alias(digest)
    except (MlflowException, StoreError) as error:
        return f"the alias in MLflow's registry could not be moved: {error}"
    return None
