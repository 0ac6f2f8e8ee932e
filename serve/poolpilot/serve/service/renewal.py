"""Loads again what the service was started with: models, tokens, the files of TLS; somebody asked, or SIGHUP came."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

import structlog

from poolpilot.errors import PoolPilotError, in_words
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.serve.service.watch.service_metrics import ServiceMetrics

_LOG = structlog.get_logger(__name__)


class Renewal:
    """Renews everything; what cannot be renewed stays as it is, and the rest is renewed all the same.

    Args:
        advisor: What answers by the models.
        others: What else is renewed; each either is or raises.
        metrics: Where attempts are counted.
    """

    def __init__(self, advisor: Advisor, others: Sequence[Callable[[], None]], metrics: ServiceMetrics) -> None:
        self._advisor = advisor
        self._others = list(others)
        self._metrics = metrics
        self._running = threading.Lock()
        metrics.serving(advisor.model.digests())

    @property
    def under_way(self) -> bool:
        """Whether everything is being renewed now."""
        return self._running.locked()

    def also(self, renew: Callable[[], None]) -> None:
        """Has something else renewed from now on."""
        self._others.append(renew)

    def quietly(self) -> None:
        """The same for whom nobody tells: a failure is in the log, in the metrics and in GET /v1/model."""
        with suppress(PoolPilotError):
            self.run()

    def run(self) -> None:
        """Renews everything; blocks while models are loaded, and while another renewal is under way.

        Raises:
            PoolPilotError: Something could not be renewed and is as it was; the text says why.
        """
        with self._running:
            failures = [failure for one in (self._advisor.renew, *self._others) if (failure := failure_of(one))]
            self._metrics.loaded_again(done=not failures)
            self._metrics.serving(self._advisor.model.digests())
        if failures:
            _LOG.error("not everything was loaded again; the old stays in force", reasons=failures)
            raise PoolPilotError("; ".join(failures))
        _LOG.info("loaded again", models=self._advisor.model.digests())


def failure_of(renew: Callable[[], None]) -> str | None:
    """Renews something; why it could not be renewed, whatever that is, and None where it was."""
    try:
        renew()
    except Exception as error:
        return in_words(error)
    return None
