"""`poolpilot advise --windows FILE`: what the model for their server would set for given windows, and why."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.table import Table

from poolpilot.env.output import terminal, write_json
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.errors import FeatureError, SettingError
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.prediction_request import RequestError, parse
from poolpilot.serve.commands.presentation.neutral_choice import neutral_choice
from poolpilot.serve.commands.presentation.verdict import FIND_OUT, trials, verdict_rows


class PredictSettings(ProgramSettings):
    """Settings of `poolpilot advise --windows FILE`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_PREDICT_")

    windows: Path = Field(
        description="JSON file: the body of POST /v1/predict, or what advise, climb or lab load wrote.",
    )
    model: Path | None = Field(
        default=None, description="Folder that `poolpilot learn` has left, or of a network; `network` is what ships."
    )


def predict(settings: PredictSettings, json_path: Path | None) -> None:
    """Predicts and shows the prediction.

    Raises:
        SettingError: The file cannot be read, is no request, or comes from a server that no model knows.
        ArtefactError: The model is missing, damaged, or for another kind of server.
    """
    windows = settings.windows
    try:
        request = parse(windows.read_bytes())
    except OSError as error:
        raise SettingError(f"cannot read {windows}: {error.strerror}") from error
    except RequestError as error:
        raise SettingError(f"{windows}: {error}") from error
    try:
        advisor = Advisor.load(settings.model, request.windows[-1].server_kind)
    except FeatureError as error:
        raise SettingError(f"{windows}: {error}") from error
    prediction = advisor.predict(*request)
    console = terminal()
    console.print(prediction_table(prediction, neutral_choice(prediction, *request, advisor.curves)))
    if prediction.verdict == "no advice":
        console.print(FIND_OUT, *trials("DSN"), sep="\n", soft_wrap=True)
    write_json(json_path, prediction.as_dict())


def prediction_table(prediction: Prediction, neutral: str | None = None) -> Table:
    """Returns a prediction as people read it; gains are relative to the configuration of the first window.

    Args:
        prediction: The prediction.
        neutral: What may be set untried where there is no advice.
    """
    table = Table(title="Prediction", show_header=False, title_justify="left")
    table.add_row("in force", f"{prediction.in_force} (pool size, oversubscribe, timer interval ms)")
    for row in verdict_rows(prediction):
        table.add_row(*row)
    if neutral is not None:
        table.add_row("untried", neutral)
    table.add_row("model", prediction.model_digest[:12])
    if prediction.verdict == "change":
        table.caption = "expected: against the configuration of the first window"
    return table
