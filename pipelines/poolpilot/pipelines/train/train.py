"""`poolpilot learn train`: from the records to a model artefact and a version in the registry."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlflow
from rich.console import Console

from poolpilot.agent.baselines.sbs import SingleBestStatic
from poolpilot.agent.training.calibration import advice_error, calibrate_gain
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.output import terminal, warn
from poolpilot.errors import ArtefactError
from poolpilot.featurizer.window import Window
from poolpilot.models.artefact import Artefact, save
from poolpilot.models.card import ModelCard, Variant
from poolpilot.models.network import ScoreNetwork
from poolpilot.models.out_of_distribution import OutOfDistribution
from poolpilot.models.workload_repository import WorkloadRepository
from poolpilot.pipelines.evaluate.baselines import fit_baselines, methods_of
from poolpilot.pipelines.evaluate.evaluate import flat_metrics, log_evaluation, tracked_data
from poolpilot.pipelines.evaluate.evaluation import Evaluation
from poolpilot.pipelines.evaluate.replayed_methods import evaluate_methods
from poolpilot.pipelines.progress_bars import progress_bars
from poolpilot.pipelines.store.dataset import SweepDataset, read_dataset
from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck
from poolpilot.pipelines.tracking import tracked_run
from poolpilot.pipelines.train.registry import register
from poolpilot.pipelines.train.stage_store import StageStore
from poolpilot.pipelines.train.train_settings import TrainSettings
from poolpilot.pipelines.train.training import ALL_ACTION, Trainer

UNSAVED = "not saved yet"


@dataclass(frozen=True)
class TrainReport:
    """What a training run made.

    Attributes:
        artefact: The model.
        folder: Where it lies.
        variant: Stage its weights come from.
        scores: Validation score of every variant, the least wins.
        evaluation: The model against its baselines on the validation split.
        version: Its version in the registry.
        run_id: Its MLflow run.
    """

    artefact: Artefact
    folder: Path
    variant: Variant
    scores: dict[Variant, float]
    evaluation: Evaluation
    version: str
    run_id: str


def train(settings: TrainSettings, console: Console | None = None) -> TrainReport:
    """Trains a model on the training split, chooses and evaluates it on the validation split; test stays sealed.

    Stages that are finished when Ctrl-C comes are kept beside the output, and a second run goes on from them.

    Args:
        settings: What to train on, and how.
        console: Where progress is shown.

    Raises:
        StoreError: The store lacks one of the two splits, or `poolpilot records --check` finds a fault in it.
        TakenFolderError: Another run trains with this output.
        ArtefactError: The artefact cannot be written.
    """
    shown = console or terminal()
    warn(RecordCheck.of(checked_stores(settings), older_timer=settings.older_timer).refuse(), shown)
    dataset = read_records(settings)
    seen = dataset.hiding(settings.hidden_features)
    training, validation = seen.of_split("train"), seen.of_split("validation")
    _make(settings.output)
    stages = StageStore(settings.output, _data(settings, dataset))
    tracked = tracked_run("train", settings, settings.tracking, tracked_data(dataset, "training"))
    with stages.taken(), stages.told(shown), tracked as run:
        trainer = Trainer(training, validation, dataset.grid, settings, shown, stages=stages)
        variant, network = trainer.run()
        if variant != ALL_ACTION:  # only the others move the scale of the gains
            mlflow.log_metric("gain_slope", calibrate_gain(network, validation, dataset.grid))
        card = _card(settings, seen, network, variant)
        evaluation = _judged(settings, dataset, Artefact(network.state_to_numpy(), card, UNSAVED), shown)
        log_evaluation(evaluation)
        card = card.model_copy(update={"metrics": flat_metrics(evaluation)})
        repository = None
        if settings.server == "mariadb":
            repository = WorkloadRepository.of(as_reported(dataset.of_split("train")))
        artefact = save(settings.output, network.state_to_numpy(), card, repository)
        stages.clear()
        mlflow.set_tag("artefact_digest", artefact.digest)
        version = register(settings.output, validation)
        return TrainReport(artefact, settings.output, variant, trainer.scores, evaluation, version, run.info.run_id)


def _make(output: Path) -> None:
    """Makes the output's folder, before there is anything to lose."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArtefactError(
            f"the model cannot be written to {output}: {error.strerror}; name another folder with --output"
        ) from error


def checked_stores(settings: TrainSettings) -> list[CheckedStore]:
    """What is learned from and chosen by, with the workloads that nothing may learn from."""
    if not settings.training_stores:
        return [CheckedStore(settings.store, ("train", "validation"))]
    held_out = CheckedStore(settings.store, ("validation",), ("validation", "test"))
    return [held_out, *(CheckedStore(one, ("train",), ("train",)) for one in _training_stores(settings))]


def _training_stores(settings: TrainSettings) -> list[Path]:
    """The stores to learn from, each once, however often and in however many ways it is named."""
    return list({store.resolve(): store for store in reversed(settings.training_stores)}.values())[::-1]


def read_records(settings: TrainSettings) -> SweepDataset:
    """What is learned from and chosen by."""
    if settings.training_stores:
        others = [read_dataset(store, "train") for store in _training_stores(settings)]
        dataset = read_dataset(settings.store, "validation").learning_from(others)
    else:
        dataset = read_dataset(settings.store, "train", "validation")
    return dataset.with_server_views() if settings.server_views else dataset


def _data(settings: TrainSettings, dataset: SweepDataset) -> dict[str, Any]:
    """What all stages learn from."""
    return {
        "records": dataset.digest,
        "server_views": settings.server_views,
        "grid": dataset.grid.as_dict(),
        "hidden_features": settings.hidden_features,
    }


def _card(settings: TrainSettings, dataset: SweepDataset, network: ScoreNetwork, variant: Variant) -> ModelCard:
    training, validation = dataset.of_split("train"), dataset.of_split("validation")
    return ModelCard(
        architecture=network.architecture,
        grid=dataset.grid,
        training_digest=dataset.digest,
        residual_std=advice_error(network, validation, dataset.grid),
        out_of_distribution=OutOfDistribution.fit(
            windows_of(training),
            windows_of(validation),
            {sweep.limits.cpus for sweep in training},
            settings.familiarity,
        ),
        static_tuple=SingleBestStatic.fit(training, settings.baselines.sbs, dataset.grid).pool_tuple.core,
        hidden_features=settings.hidden_features,
        settings=settings.predictor,
        server_kind=settings.server,
        variant=variant,
    )


def _judged(settings: TrainSettings, dataset: SweepDataset, artefact: Artefact, console: Console) -> Evaluation:
    with progress_bars(console) as bars:
        baselines = fit_baselines(dataset.of_split("train"), dataset.grid, settings.baselines, bars)
        methods = methods_of(artefact, baselines, settings.decisions, settings.comparison)
        return evaluate_methods(dataset.of_split("validation"), methods, settings.comparison, "validation", bars)


def as_reported(sweeps: Sequence[WorkloadSweep]) -> list[WorkloadSweep]:
    """The sweeps whose windows know the clients' classes, without the server's views of them."""
    return [sweep for sweep in sweeps if any(one.classes for entry in sweep.entries.values() for one in entry.windows)]


def windows_of(sweeps: Sequence[WorkloadSweep]) -> list[Window]:
    """All windows of some sweeps."""
    return [window for sweep in sweeps for entry in sweep.entries.values() for window in entry.windows]
