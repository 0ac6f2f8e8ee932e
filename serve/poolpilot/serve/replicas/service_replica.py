"""One replica: the application with models, tokens and outcomes of its own."""

import logging
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import structlog
from fastapi import FastAPI
from prometheus_client.metrics_core import Metric
from starlette.concurrency import run_in_threadpool

from poolpilot.errors import PoolPilotError
from poolpilot.serve.replicas.every_replica import EveryReplica
from poolpilot.serve.replicas.guarded_node import check_guarded
from poolpilot.serve.replicas.replica_outcomes import open_outcomes
from poolpilot.serve.replicas.unnamed_client import UnnamedClient
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.predictor_by_kind import PredictorByKind
from poolpilot.serve.service.service_settings import ServeSettings
from poolpilot.serve.service.watch.model_watch import ModelWatch


class ServiceReplica:
    """What Ray Serve makes in each process; its paths are those of the service.

    Args:
        settings: The settings by name, fit for JSON; the paths in them are of the replica's own host.

    Raises:
        ArtefactError: A model is missing or damaged.
        SettingError: The file of tokens is refused, or anybody may talk to the Ray of this node.
        StoreError: The folder of outcomes cannot be written.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        structlog.configure(
            logger_factory=structlog.PrintLoggerFactory(sys.stderr),
            wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        )
        check_guarded()
        given = ServeSettings(**settings)
        watch = ModelWatch(given.model, given.follow_every_s)
        load = partial(PredictorByKind.load, given.model)
        self._app = create_app(
            load(), given, load=load, outcomes=_outcomes(given), in_thread=False, peers=EveryReplica()
        )
        self._app.add_middleware(UnnamedClient)
        watch.begin(self._app.state.renewal.run)  # until the process ends: each host has a folder of its own

    def __serve_build_asgi_app__(self) -> FastAPI:
        """The application, when Ray Serve asks for it."""
        return self._app

    async def renew(self) -> str | None:
        """Loads again what it was started with: None, or why something is as it was."""
        try:
            await run_in_threadpool(self._app.state.renewal.run)
        except PoolPilotError as error:
            return str(error)
        return None

    async def collected(self) -> tuple[str, list[Metric]]:
        """Its name, and its own metrics."""
        from ray import serve

        return serve.get_replica_context().replica_tag, list(self._app.state.metrics.registry.collect())


def _outcomes(settings: ServeSettings) -> OutcomeLog | None:
    if settings.outcomes is None:
        return None
    return open_outcomes(settings.outcomes, settings.outcome_segment_bytes)
