"""The code that MLflow stores and runs as the model ("models from code"); `packaging.py` logs it."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
from mlflow.models import set_model
from mlflow.pyfunc.model import PythonModel, PythonModelContext
from typing_extensions import override

from poolpilot.errors import FeatureError
from poolpilot.models.artefact import load
from poolpilot.models.body import from_body
from poolpilot.models.champion import model_for
from poolpilot.models.predictor import ScorePredictor

BODY_COLUMN = "body"
ARTEFACT = "artefact"


class ScoreModel(PythonModel):
    """A `ScorePredictor` over rows of request bodies."""

    @override
    def load_context(self, context: PythonModelContext) -> None:
        """Loads the artefact folder that was logged with the model."""
        self.predictor = ScorePredictor(load(Path(context.artifacts[ARTEFACT])))

    @override
    def predict(
        self, context: PythonModelContext, model_input: pd.DataFrame, params: dict[str, Any] | None = None
    ) -> pd.DataFrame:
        """Answers each row's JSON text of a request body with one row of a prediction's fields.

        Raises:
            FeatureError: A body is malformed, or of a kind of server that the model does not know.
        """
        return pd.DataFrame([self._row(text) for text in model_input[BODY_COLUMN]])

    def _row(self, text: str) -> dict[str, Any]:
        windows, limits, objective = from_body(json.loads(text))
        known, asked = self.predictor.artefact.card.kind, windows[0].server_kind
        if model_for(asked) != known:
            raise FeatureError(
                "server_kind",
                f"server_kind is {asked!r}, and this model is for servers of the kind {known!r}: ask a version for "
                f"{model_for(asked)!r}",
            )
        prediction = self.predictor.predict(windows, limits, objective)
        core = ("pool_size", "oversubscribe", "timer_interval_ms")
        return {
            **dict(zip(core, prediction.pool_tuple.core, strict=True)),
            "abstained": prediction.abstained,
            "expected_gain": prediction.expected_gain,
            "gain_low": prediction.gain_low,
            "gain_high": prediction.gain_high,
            "reasons": "; ".join(prediction.reasons),
            "model_digest": prediction.model_digest,
        }


set_model(ScoreModel())
