"""`poolpilot evaluate`."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from poolpilot.env.output import json_text, terminal, write_json

if TYPE_CHECKING:
    from poolpilot.pipelines.evaluate.live.live_evaluate import EvaluateAnywhereSettings


def run(settings: "EvaluateAnywhereSettings", json_path: Path | None) -> None:
    """Evaluates, on records or live, and shows the table of methods."""
    console = terminal()
    if settings.workloads is not None:
        return run_files(settings, settings.workloads, console, json_path)
    from poolpilot.pipelines.evaluate.evaluate import evaluate
    from poolpilot.pipelines.evaluate.evaluation_tables import evaluation_table

    evaluation, artefact, dataset = evaluate(settings, console)
    console.print(evaluation_table(evaluation))
    digests = {"model_digest": artefact.digest, "dataset_digest": dataset.digest}
    write_json(json_path, {**digests, **evaluation.as_dict()})


def run_files(settings: "EvaluateAnywhereSettings", folder: Path, console: Console, json_path: Path | None) -> None:
    """Evaluates every method live on workload files."""
    import mlflow

    from poolpilot.pipelines.evaluate.live.live_evaluate import evaluate_files
    from poolpilot.pipelines.tracking import tracked_run

    with tracked_run("evaluate-workloads", settings, settings.tracking):
        report = evaluate_files(folder, settings.model, settings.files, console)
        write_json(json_path, report.as_dict())  # first: where MLflow fails now, what took hours is not lost
        console.print(report.table())
        mlflow.log_text(json_text(report.as_dict(), indent=1), "evaluation.json")
