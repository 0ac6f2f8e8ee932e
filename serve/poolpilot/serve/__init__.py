"""Production: the command and the prediction service.

Examples:
    >>> from poolpilot.models import Advisor
    >>> from poolpilot.serve import create_app
    >>> application = create_app(Advisor.load())  # for any ASGI server
    >>> sorted(route.path for route in application.routes)[:2]
    ['/healthz', '/metrics']
"""

from typing import TYPE_CHECKING

from poolpilot.errors.lazy_names import lazy_names

if TYPE_CHECKING:
    from poolpilot.serve.commands.main import main
    from poolpilot.serve.service.application import create_app
    from poolpilot.serve.service.service_settings import ServeSettings
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "commands.main": ("main",),
            "service.application": ("create_app",),
            "service.service_settings": ("ServeSettings",),
        },
    )

__all__ = [
    "ServeSettings",
    "create_app",
    "main",
]
