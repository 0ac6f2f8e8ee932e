"""`poolpilot evaluate`: the champion, or any model, against its baselines on held-out workloads."""

from pathlib import Path
from typing import Literal

import mlflow
import pandas as pd
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.console import Console

from poolpilot.env.output import terminal, warn
from poolpilot.errors import ArtefactError
from poolpilot.models.artefact import Artefact
from poolpilot.models.champion import load_champion
from poolpilot.pipelines.evaluate.baselines import UNGUARDED, fit_baselines, methods_of
from poolpilot.pipelines.evaluate.evaluation import Evaluation
from poolpilot.pipelines.evaluate.evaluation_tables import regret_figure, risk_coverage_figure
from poolpilot.pipelines.evaluate.record_settings import RecordSettings
from poolpilot.pipelines.evaluate.replayed_methods import evaluate_methods
from poolpilot.pipelines.progress_bars import progress_bars
from poolpilot.pipelines.store.dataset import SweepDataset, read_dataset
from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck
from poolpilot.pipelines.tracking import TrackedData, tracked_run


class EvaluateSettings(RecordSettings):
    """Settings of `poolpilot evaluate`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_EVALUATE_")

    split: Literal["test", "validation"] = Field(default="test", description="Split to evaluate on; test is sealed.")
    model: Path | None = Field(default=None, description="Folder of a model artefact; the champion if not given.")


def evaluate(settings: EvaluateSettings, console: Console | None = None) -> tuple[Evaluation, Artefact, SweepDataset]:
    """Compares a model with its baselines on one split and logs the result as an MLflow run.

    The baselines are fitted on the training split of the same store. Regrets are taken against the oracle's J as
    re-measured; see `Evaluation`.

    Args:
        settings: Which model, on which records.
        console: Where progress is shown.

    Returns:
        The evaluation, the model and the data it was evaluated on.

    Raises:
        StoreError: The store lacks the training split or the one to evaluate on, or `poolpilot records --check` finds a
            fault in it.
        ArtefactError: The model is missing, damaged or of another grid.
    """
    artefact, shown = load_champion(settings.model), console or terminal()
    stores = [CheckedStore(settings.store, ("train", settings.split))]
    # A model is judged by records of its own kind, be they of the older timer.
    warn(RecordCheck.of(stores, older_timer=True).refuse(), shown)
    dataset = read_dataset(settings.store, "train", settings.split)
    check_grid(artefact, dataset)
    with tracked_run("evaluate", settings, settings.tracking, tracked_data(dataset, settings.split)):
        mlflow.set_tag("artefact_digest", artefact.digest)
        with progress_bars(shown) as bars:
            baselines = fit_baselines(dataset.of_split("train"), dataset.grid, settings.baselines, bars)
            methods = methods_of(artefact, baselines, settings.decisions, settings.comparison)
            judged = dataset.of_split(settings.split)
            evaluation = evaluate_methods(judged, methods, settings.comparison, settings.split, bars)
        log_evaluation(evaluation)
    return evaluation, artefact, dataset


def log_evaluation(evaluation: Evaluation) -> None:
    """Logs statistics, plots and the whole evaluation as JSON in the active run."""
    mlflow.log_metrics(flat_metrics(evaluation))
    mlflow.log_figure(regret_figure(evaluation), "regrets.png")
    mlflow.log_figure(risk_coverage_figure(evaluation.outcomes[UNGUARDED]), "risk_coverage.png")
    mlflow.log_dict(evaluation.as_dict(), "evaluation.json")


def flat_metrics(evaluation: Evaluation) -> dict[str, float]:
    """Statistics by `method.statistic`; those that do not exist are left out."""
    return {
        f"{evaluation.split}.{name}.{statistic}": value
        for name, statistics in evaluation.methods().items()
        for statistic, value in statistics.items()
        if value is not None
    }


def tracked_data(dataset: SweepDataset, context: str) -> TrackedData:
    """What a run says of its data."""
    return TrackedData(dataset.source, dataset.digest, pd.DataFrame(dataset.summary()), context)


def check_grid(artefact: Artefact, dataset: SweepDataset) -> None:
    """Refuses to evaluate a model on tuples it cannot choose.

    Raises:
        ArtefactError: The model was trained on another grid than the records were measured on.
    """
    if artefact.card.grid != dataset.grid:
        raise ArtefactError(
            f"the model chooses from another grid of configurations than the store {dataset.source} was measured on; "
            "train it again on this store"
        )
