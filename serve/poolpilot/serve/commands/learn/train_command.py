"""`poolpilot learn train`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from poolpilot.env.output import terminal, write_json

if TYPE_CHECKING:
    from poolpilot.pipelines.train.train import TrainReport
    from poolpilot.pipelines.train.train_settings import TrainSettings


def run(settings: "TrainSettings", json_path: Path | None) -> None:
    """Trains and shows how the model does on the validation workloads."""
    from poolpilot.pipelines.evaluate.evaluation_tables import evaluation_table
    from poolpilot.pipelines.train.train import train

    console = terminal()
    report = train(settings, console)
    console.print(evaluation_table(report.evaluation))
    console.print(train_table(report))
    write_json(json_path, {**train_summary(report), **report.evaluation.as_dict()})


def train_summary(report: "TrainReport") -> dict[str, Any]:
    """What a training run made, fit for JSON."""
    return {
        "folder": str(report.folder),
        "model_digest": report.artefact.digest,
        "dataset_digest": report.artefact.card.training_digest,
        "variant": report.variant,
        "validation_scores": report.scores,
        "version": report.version,
        "run_id": report.run_id,
    }


def train_table(report: "TrainReport") -> Table:
    """What a training run made, as people read it."""
    table = Table(title="Model", show_header=False, title_justify="left")
    table.add_row("folder", str(report.folder))
    for name, score in sorted(report.scores.items(), key=lambda one: one[1]):
        chosen = ", chosen" if name == report.variant else ""
        table.add_row(f"validation score of {name}", f"{score:.4f}{chosen}")
    table.add_row("version in the registry", report.version)
    table.add_row("digest", report.artefact.digest[:12])
    return table
