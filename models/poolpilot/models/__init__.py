"""Models: the advisor that says what to set, and what it knows: networks, their artefacts, response curves.

Examples:
    >>> from poolpilot.env import sample_sweeps
    >>> from poolpilot.models import Advisor
    >>> sweep = sample_sweeps("page_faults")[0]
    >>> windows = sweep.entries[sweep.limits.default_tuple().core].windows
    >>> prediction = Advisor.load().predict(windows[:1], sweep.limits, sweep.objective)
    >>> prediction.verdict, prediction.pool_tuple.pool_size > 8
    ('change', True)
"""

from typing import TYPE_CHECKING

from poolpilot.errors.lazy_names import lazy_names

if TYPE_CHECKING:
    from poolpilot.models.advice.prediction import Prediction, Predictor, ProbingPredictor, Ranking
    from poolpilot.models.advisor.advisor import Advisor, Purpose
    from poolpilot.models.advisor.model import Model
    from poolpilot.models.artefact import Artefact
    from poolpilot.models.body import Request, as_body
    from poolpilot.models.card import ModelCard, PredictorSettings
    from poolpilot.models.champion import load_champion, load_for
    from poolpilot.models.prediction_request import RequestError, parse
    from poolpilot.models.predictor import ScorePredictor
    from poolpilot.models.workload_repository import WorkloadRepository
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "artefact": ("Artefact",),
            "body": ("Request", "as_body"),
            "card": ("ModelCard", "PredictorSettings"),
            "champion": ("load_champion", "load_for"),
            "prediction_request": ("RequestError", "parse"),
            "advice.prediction": ("Prediction", "Predictor", "ProbingPredictor", "Ranking"),
            "advisor.advisor": ("Advisor", "Purpose"),
            "advisor.model": ("Model",),
            "predictor": ("ScorePredictor",),
            "workload_repository": ("WorkloadRepository",),
        },
    )

__all__ = [
    "Advisor",
    "Artefact",
    "Model",
    "ModelCard",
    "Prediction",
    "Predictor",
    "PredictorSettings",
    "ProbingPredictor",
    "Purpose",
    "Ranking",
    "Request",
    "RequestError",
    "ScorePredictor",
    "WorkloadRepository",
    "as_body",
    "load_champion",
    "load_for",
    "parse",
]
