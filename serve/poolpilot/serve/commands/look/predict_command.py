"""`poolpilot predict`: which tuple the model for their server would set for given windows, and why."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from poolpilot.env.output import terminal, write_json
from poolpilot.errors import FeatureError, SettingError
from poolpilot.models.champion import load_for
from poolpilot.models.prediction_request import RequestError, parse
from poolpilot.models.predictor import Prediction, ScorePredictor
from poolpilot.serve.commands.presentation.verdict import FIND_OUT, trials, verdict_rows


def predict(
    windows: Annotated[
        Path,
        typer.Option(
            help="JSON file: the body of POST /v1/predict, or what advise, climb, search, sweep or lab load wrote.",
            dir_okay=False,
            show_default=False,
        ),
    ],
    model: Annotated[
        Path | None, typer.Option(help="Folder of a model artefact, instead of the champion for the windows' server.")
    ] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="Write the prediction to this file.")] = None,
) -> None:
    """Say which tuple the model would set for given windows, and why.

    The model is the one for the kind of server that the windows come from (their server_kind); windows without a kind
    count as windows of the embedded pool.
    """
    try:
        request = parse(windows.read_bytes())
    except OSError as error:
        raise SettingError(f"cannot read {windows}: {error.strerror}") from error
    except RequestError as error:
        raise SettingError(f"{windows}: {error}") from error
    try:
        artefact = load_for(request.windows[-1].server_kind, model)
    except FeatureError as error:
        raise SettingError(f"{windows}: {error}") from error
    prediction = ScorePredictor(artefact).predict(*request)
    console = terminal()
    console.print(prediction_table(prediction))
    if prediction.verdict == "no advice":
        console.print(FIND_OUT, *trials("DSN"), sep="\n", soft_wrap=True)
    write_json(json_path, prediction.as_dict())


def prediction_table(prediction: Prediction) -> Table:
    """Returns a prediction as people read it; gains are relative to the tuple of the first window."""
    table = Table(title="Prediction", show_header=False, title_justify="left")
    table.add_row("in force", f"{prediction.in_force} (pool size, oversubscribe, timer interval ms)")
    for row in verdict_rows(prediction):
        table.add_row(*row)
    table.add_row("model", prediction.model_digest[:12])
    if prediction.verdict == "change":
        table.caption = "expected: against the tuple of the first window"
    return table
