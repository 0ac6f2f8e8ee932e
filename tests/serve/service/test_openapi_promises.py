"""What the service's OpenAPI description promises holds for whatever is drawn from it, and for what breaks it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from schemathesis.specs.openapi.schemas import OpenApiSchema

from poolpilot.models.advisor.advisor import Advisor
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.service_settings import ServeSettings

WITH_BODY = ("POST /v1/predict", "POST /v1/outcomes")
WITHOUT_BODY = ("GET /v1/model", "POST /v1/model", "GET /healthz", "GET /readyz")
POSITIVE, NEGATIVE = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE

drawn = settings(  # a body has hundreds of numbers, so that drawing one takes most of the time
    max_examples=50, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenApiSchema]:
    """A service with the shipped models, which also keeps outcomes, by its own description."""
    limits = ServeSettings(openapi=True, rate_burst=1_000_000)
    with OutcomeLog(Path(tmp_path_factory.mktemp("outcomes")), 2**30) as log:
        app = create_app(Advisor.load(), limits, outcomes=log)
        yield schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.mark.parametrize(
    ("operation", "mode"),
    [
        *((name, mode) for name in WITH_BODY for mode in (POSITIVE, NEGATIVE)),
        *((name, POSITIVE) for name in WITHOUT_BODY),
    ],
)
def test_every_answer_is_one_that_is_described(
    described: OpenApiSchema, operation: str, mode: schemathesis.GenerationMode
) -> None:
    """No failure of the service, no answer of another kind, and nothing taken that the description forbids.

    What is within the description may be refused: a window's fields, and what of them goes together, are not in it.
    """
    method, path = operation.split()
    cases = described[path][method].as_strategy(generation_mode=mode)

    @drawn
    @given(case=cases)
    def answered(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    answered()
