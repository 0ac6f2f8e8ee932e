"""The prediction service: its paths, and in which order a request passes what may refuse it."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from poolpilot.models.advisor.advisor import Advisor
from poolpilot.serve.service.access.bearer_tokens import Scope
from poolpilot.serve.service.access.body_limit import BodyLimit
from poolpilot.serve.service.access.doorkeeper import OPEN, Doorkeeper
from poolpilot.serve.service.access.known_tokens import KnownTokens
from poolpilot.serve.service.access.request_limit import RequestLimit
from poolpilot.serve.service.access.token_buckets import TokenBuckets
from poolpilot.serve.service.openapi_document import openapi
from poolpilot.serve.service.outcome_endpoint import OutcomeEndpoint
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.prediction_endpoint import PredictionEndpoint
from poolpilot.serve.service.refusals.problem_answers import ProblemAnswers, refuse_route
from poolpilot.serve.service.renewal import Renewal
from poolpilot.serve.service.service_settings import ServeSettings
from poolpilot.serve.service.state_endpoints import StateEndpoints
from poolpilot.serve.service.watch.request_watch import RequestWatch
from poolpilot.serve.service.watch.service_metrics import ServiceMetrics

METRICS = "/metrics"

SCOPES: dict[tuple[str, str], Scope] = {
    ("POST", "/v1/predict"): "predict",
    ("POST", "/v1/outcomes"): "outcomes",
    ("POST", "/v1/model"): "admin",
}
"""The scope that a path needs, where there are tokens; the others take any token."""


def create_app(
    advisor: Advisor,
    settings: ServeSettings | None = None,
    *,
    outcomes: OutcomeLog | None = None,
    in_thread: bool = True,
) -> Starlette:
    """Builds the service.

    Every refusal is a problem document (RFC 9457); any 503 means that the client leaves its server as it is.

    Args:
        advisor: What answers.
        settings: Limits of the service, and its file of tokens; its folder of outcomes is the caller's to open.
        outcomes: Where outcomes are kept; nowhere if not given.
        in_thread: Whether predictions are made in a thread of their own, so that one that takes long keeps nobody else
            waiting; those of an advisor take less time than the thread costs.

    Returns:
        The application; `state.renewal` loads models and tokens again, `state.metrics` are its own.

    Raises:
        SettingError: The file of tokens is refused.
    """
    limits = settings or ServeSettings()
    known = KnownTokens(limits.token_file)
    metrics = ServiceMetrics()
    renewal = Renewal(advisor, [known.renew], metrics)
    routes = _routes(
        PredictionEndpoint(advisor, metrics, limits.body_timeout_s, in_thread=in_thread),
        OutcomeEndpoint(outcomes, metrics, limits.body_timeout_s),
        StateEndpoints(advisor, renewal, metrics),
        describes_itself=limits.openapi,
    )
    buckets = TokenBuckets(limits.rate_per_s, limits.rate_burst)
    paths = frozenset(route.path for route in routes)
    before = [
        Middleware(RequestWatch, metrics=metrics),
        Middleware(ProblemAnswers),
        Middleware(Doorkeeper, known=known, buckets=buckets, scopes=SCOPES, paths=paths),
        Middleware(RequestLimit, most=limits.concurrency_limit, exempt={*OPEN, METRICS}),
        Middleware(BodyLimit, limit_bytes=limits.body_limit_bytes),
    ]
    app = Starlette(routes=routes, middleware=before, exception_handlers={HTTPException: refuse_route})
    app.state.renewal = renewal
    app.state.metrics = metrics
    return app


def _routes(
    predictions: PredictionEndpoint, outcomes: OutcomeEndpoint, state: StateEndpoints, *, describes_itself: bool
) -> list[Route]:
    routes = [
        Route("/v1/predict", predictions.answer, methods=["POST"]),
        Route("/v1/outcomes", outcomes.answer, methods=["POST"]),
        Route("/v1/model", state.model, methods=["GET", "POST"]),
        Route("/healthz", state.health, methods=["GET"]),
        Route("/readyz", state.readiness, methods=["GET"]),
        Route(METRICS, state.metrics, methods=["GET"]),
    ]
    return [*routes, Route("/openapi.json", openapi, methods=["GET"])] if describes_itself else routes
