"""`poolpilot evaluate --server mariadb`: the model beside baselines on live servers; resumes where it stopped."""

import json
from collections.abc import Iterator
from pathlib import Path

import mlflow
from rich.console import Console

from poolpilot.agent.baselines.static import StaticPredictor
from poolpilot.durability.durable_writes import write_durably
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.output import warn
from poolpilot.errors import ServerError, SettingError, StoreError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.champion import load_champion
from poolpilot.models.predictor import ScorePredictor
from poolpilot.pipelines.evaluate.baselines import fit_baselines
from poolpilot.pipelines.evaluate.evaluate import EvaluateSettings, check_grid, tracked_data
from poolpilot.pipelines.evaluate.lab_stage import lab_stage
from poolpilot.pipelines.evaluate.mariadb_cell import LiveCell, LiveMethods, run_cell
from poolpilot.pipelines.evaluate.mariadb_evaluation import PREDICTED, LiveEvaluation
from poolpilot.pipelines.progress_bars import ProgressBars, progress_bars
from poolpilot.pipelines.store.dataset import SweepDataset, read_dataset
from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck
from poolpilot.pipelines.store.records import StagingStore
from poolpilot.pipelines.tracking import tracked_run

HARDEST_STATIC = PoolTuple(16, 3, 10)
"""The static tuple that was hardest to beat on two processors, whatever the training workloads say is best."""

LEFT_OUT = ("default", "wait_ratio", "little")
"""Baselines that need what MariaDB does not show, or that are compared anyway."""


def evaluate_live(settings: EvaluateSettings, console: Console) -> LiveEvaluation:
    """Runs every workload of the split live and evaluates the methods; what was measured before is kept.

    Raises:
        StoreError: The store lacks the training split or the one to evaluate on, or `poolpilot records --check` finds a
            fault in it.
        ArtefactError: The model is missing, damaged or of another grid.
        ServerError: No workload could be measured.
    """
    artefact = load_champion(settings.model, "mariadb")
    warn(RecordCheck.of([CheckedStore(settings.store, ("train", settings.split))]).refuse(), console)
    dataset = read_dataset(settings.store, "train", settings.split)
    check_grid(artefact, dataset)
    with progress_bars(console) as bars:
        one_shot = _one_shot(ScorePredictor(artefact), dataset, settings, bars)
    relaxed = ScorePredictor.for_trials(artefact)
    with tracked_run("evaluate-mariadb", settings, settings.tracking, tracked_data(dataset, settings.split)):
        mlflow.set_tag("artefact_digest", artefact.digest)
        folder = settings.live_cells / artefact.digest[:12]
        cells = []
        for workload, sweep in _workloads(dataset, settings):
            methods = LiveMethods(one_shot, relaxed, sweep.oracle_tuple.core)
            cell = _measured(folder, workload, methods, settings, console)
            cells += [cell] if cell else []
        if not cells:
            raise ServerError(f"none of the workloads of the split {settings.split!r} could be measured")
        evaluation = LiveEvaluation(cells, settings.comparison.resamples, settings.comparison.seed)
        report = evaluation.as_dict()
        mlflow.log_dict(report, "evaluation.json")
        for name, statistics in report["methods"].items():
            mlflow.log_metrics({f"{name}.{key}": one for key, one in statistics.items() if isinstance(one, float)})
    return evaluation


def _one_shot(
    predictor: ScorePredictor, dataset: SweepDataset, settings: EvaluateSettings, bars: ProgressBars
) -> dict[str, Predictor]:
    training = [view for sweep in dataset.of_split("train") for view in (sweep, sweep.server_view())]
    baselines = fit_baselines(training, dataset.grid, settings.baselines, bars)
    kept = {name: baseline for name, baseline in baselines.items() if name not in LEFT_OUT}
    return {PREDICTED: predictor, **kept, "static_16_3_10": StaticPredictor(HARDEST_STATIC)}


def _workloads(dataset: SweepDataset, settings: EvaluateSettings) -> Iterator[tuple[SqlWorkload, WorkloadSweep]]:
    rows = StagingStore(settings.store).workload_rows()
    for sweep in dataset.of_split(settings.split):
        try:
            yield SqlWorkload.from_dict(json.loads(rows[sweep.workload_id]["workload"])), sweep
        except (ValueError, SettingError) as error:
            raise StoreError(f"workload {sweep.workload_id!r} is not one of the test server: {error}") from error


def _measured(
    folder: Path, workload: SqlWorkload, methods: LiveMethods, settings: EvaluateSettings, console: Console
) -> LiveCell | None:
    path = folder / f"{workload.name}.json"
    if path.is_file():
        return LiveCell.from_dict(json.loads(path.read_text()))
    console.print(f"{workload.name} ...", end=" ")
    try:
        cell = run_cell(lab_stage(workload, settings.live.place), methods, settings.live)
    except ServerError as error:
        console.print(f"failed: {error}", soft_wrap=True)
        return None
    folder.mkdir(parents=True, exist_ok=True)
    write_durably(path, json.dumps(cell.as_dict(), indent=1).encode())
    seconds = cell.seconds["refined"]
    arrived = "did not arrive" if seconds is None else f"after {seconds:.1f} s"
    console.print(f"predicted {cell.chosen[PREDICTED]}, oracle {cell.chosen['oracle']}, refined {arrived}")
    return cell
