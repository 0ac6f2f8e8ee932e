"""Production: the command and the prediction service.

Examples:
    >>> from poolpilot.serve import PredictorByKind, create_app
    >>> application = create_app(PredictorByKind.load())  # for any ASGI server
    >>> application.title
    'PoolPilot'
"""

from typing import TYPE_CHECKING

from poolpilot.errors.lazy_names import lazy_names

if TYPE_CHECKING:
    from poolpilot.serve.commands.main import main
    from poolpilot.serve.service.application import create_app
    from poolpilot.serve.service.predictor_by_kind import PredictorByKind
    from poolpilot.serve.service.service_settings import ServeSettings
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "commands.main": ("main",),
            "service.application": ("create_app",),
            "service.predictor_by_kind": ("PredictorByKind",),
            "service.service_settings": ("ServeSettings",),
        },
    )

__all__ = [
    "PredictorByKind",
    "ServeSettings",
    "create_app",
    "main",
]
