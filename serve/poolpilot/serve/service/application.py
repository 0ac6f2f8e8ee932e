"""The prediction service: its paths, and in which order a request passes what may refuse it."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from poolpilot.models.advisor.advisor import Advisor
from poolpilot.serve.service.access.bearer_tokens import BearerTokens
from poolpilot.serve.service.access.doorkeeper import Doorkeeper
from poolpilot.serve.service.access.token_buckets import TokenBuckets
from poolpilot.serve.service.outcome_endpoint import OutcomeEndpoint
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.prediction_endpoint import PredictionEndpoint
from poolpilot.serve.service.problem_answers import ProblemAnswers, refuse_method
from poolpilot.serve.service.renewal import Renewal
from poolpilot.serve.service.service_settings import ServeSettings
from poolpilot.serve.service.state_endpoints import StateEndpoints
from poolpilot.serve.service.watch.service_metrics import ServiceMetrics


def create_app(
    advisor: Advisor, settings: ServeSettings | None = None, *, outcomes: OutcomeLog | None = None
) -> Starlette:
    """Builds the service.

    Every refusal is a problem document (RFC 9457); any 503 means that the client leaves its server as it is.

    Args:
        advisor: What answers.
        settings: Limits of the service, and its file of tokens; its folder of outcomes is the caller's to open.
        outcomes: Where outcomes are kept; nowhere if not given.

    Returns:
        The application; `state.renewal` loads models and tokens again, `state.metrics` are its own.

    Raises:
        SettingError: The file of tokens is refused.
    """
    limits = settings or ServeSettings()
    tokens, metrics = BearerTokens(limits.token_file), ServiceMetrics()
    renewal = Renewal(advisor, [tokens.renew], metrics)
    state = StateEndpoints(advisor, renewal, metrics)
    routes = [
        Route("/v1/predict", PredictionEndpoint(advisor, metrics, limits).answer, methods=["POST"]),
        Route("/v1/outcomes", OutcomeEndpoint(outcomes, metrics, limits).answer, methods=["POST"]),
        Route("/v1/model", state.model, methods=["GET", "POST"]),
        Route("/healthz", state.health, methods=["GET"]),
        Route("/readyz", state.readiness, methods=["GET"]),
        Route("/metrics", state.metrics, methods=["GET"]),
    ]
    buckets = TokenBuckets(limits.rate_per_s, limits.rate_burst)
    paths = frozenset(route.path for route in routes)
    before = [
        Middleware(ProblemAnswers, metrics=metrics),
        Middleware(Doorkeeper, tokens=tokens, buckets=buckets, most=limits.concurrency_limit, paths=paths),
    ]
    app = Starlette(routes=routes, middleware=before, exception_handlers={HTTPException: refuse_method})
    app.state.renewal, app.state.metrics = renewal, metrics
    return app
