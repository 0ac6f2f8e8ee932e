"""`poolpilot predict`: which tuple the champion would set for given windows, and why."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from poolpilot.featurizer.errors import SettingError
from poolpilot.models.champion import load_champion
from poolpilot.models.predictor import Prediction, ScorePredictor
from poolpilot.models.reasons import percent
from poolpilot.serve.prediction_request import RequestError, parse


def predict(
    windows: Annotated[
        Path, typer.Option(help="JSON file: the body of POST /v1/predict.", dir_okay=False, show_default=False)
    ],
    model: Annotated[Path | None, typer.Option(help="Folder of a model artefact instead of the champion.")] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="Write the prediction to this file.")] = None,
) -> None:
    """Say which tuple the model would set for given windows, and why."""
    try:
        request = parse(windows.read_bytes())
    except OSError as error:
        raise SettingError(f"cannot read {windows}: {error.strerror}") from error
    except RequestError as error:
        raise SettingError(f"{windows}: {error}") from error
    prediction = ScorePredictor(load_champion(model)).predict(*request)
    Console().print(prediction_table(prediction))
    if json_path is not None:
        write_json(json_path, prediction.as_dict())


def prediction_table(prediction: Prediction) -> Table:
    """Returns a prediction as people read it; gains are relative to the tuple of the first window."""
    table = Table(title="Prediction", show_header=False, title_justify="left")
    table.add_row("in force", f"{prediction.in_force} (pool size, oversubscribe, timer interval ms)")
    table.add_row("advice", f"leave it at {prediction.pool_tuple}" if prediction.keeps else f"{prediction.pool_tuple}")
    table.add_row("expected gain", _gain(prediction))
    table.add_row("abstained", "yes: climb from the tuple in force" if prediction.abstained else "no")
    for number, reason in enumerate(prediction.reasons):
        table.add_row("because" if number == 0 else "", reason)
    table.add_row("model", prediction.model_digest[:12])
    return table


def write_json(path: Path, values: dict[str, object]) -> None:
    """Writes what a table shows for a program to read.

    Raises:
        SettingError: The file cannot be written.
    """
    try:
        path.write_text(json.dumps(values, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise SettingError(f"cannot write {path}: {error.strerror}") from error


def _gain(prediction: Prediction) -> str:
    if prediction.expected_gain is None:
        return "not estimated"
    if prediction.gain_low is None or prediction.gain_high is None:
        return percent(prediction.expected_gain)
    low, high = percent(prediction.gain_low), percent(prediction.gain_high)
    return f"{percent(prediction.expected_gain)} (between {low} and {high}) over the first window's tuple"
