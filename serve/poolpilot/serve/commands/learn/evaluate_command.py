"""`poolpilot evaluate`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import terminal, write_json
from poolpilot.serve.commands.options.settings_command import as_command

if TYPE_CHECKING:
    from poolpilot.pipelines.evaluate.evaluate import EvaluateSettings

HELP = "Compare a model with its baselines on workloads it has never seen."


def build() -> Callable[..., None]:
    """The command `poolpilot evaluate`."""
    from poolpilot.pipelines.evaluate.evaluate import EvaluateSettings

    return as_command(EvaluateSettings, run, HELP)


def run(settings: "EvaluateSettings", json_path: Path | None) -> None:
    """Evaluates, on records or live, and shows the table of methods."""
    console = terminal()
    if settings.server == "mariadb":
        from poolpilot.pipelines.evaluate.mariadb_evaluate import evaluate_live

        live = evaluate_live(settings, console)
        console.print(live.table())
        write_json(json_path, live.as_dict())
        return
    from poolpilot.pipelines.evaluate.evaluate import evaluate
    from poolpilot.pipelines.evaluate.evaluation_tables import evaluation_table

    evaluation, artefact, dataset = evaluate(settings, console)
    console.print(evaluation_table(evaluation))
    digests = {"model_digest": artefact.digest, "dataset_digest": dataset.digest}
    write_json(json_path, {**digests, **evaluation.as_dict()})
