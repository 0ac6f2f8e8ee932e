"""The metrics of the service, in the text format of Prometheus; every label has values from a list known beforehand."""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from poolpilot.featurizer.snapshot import ServerKind
from poolpilot.models.advice.prediction import Verdict
from poolpilot.serve.service.refusals.problem import REASONS, Reason

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

PATHS = frozenset({"/v1/predict", "/v1/outcomes", "/v1/model", "/healthz", "/readyz", "/metrics"})
"""Paths that are counted by their names."""

OTHER_PATHS = "other"
"""Counts requests for all other paths together."""

BUCKETS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class ServiceMetrics:
    """Counters of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter("poolpilot_requests", "Requests answered.", ("path", "status"), registry=self.registry)
        self._seconds = Histogram(
            "poolpilot_request_seconds",
            "Time from whole headers to the end of the answer.",
            ("path",),
            registry=self.registry,
            buckets=BUCKETS_S,
        )
        self._refusals = Counter("poolpilot_refusals", "Requests refused.", ("reason",), registry=self.registry)
        self._predictions = Counter(
            "poolpilot_predictions", "Predictions answered.", ("server_kind", "verdict"), registry=self.registry
        )
        self._outcomes = Counter("poolpilot_outcomes", "Outcomes acknowledged.", ("result",), registry=self.registry)
        self._reloads = Counter("poolpilot_model_reloads", "Models loaded again.", ("result",), registry=self.registry)
        self._model = Gauge(
            "poolpilot_model_info", "1 for what answers now.", ("kind", "part", "digest"), registry=self.registry
        )
        self._of_answers: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._begin_at_zero()
        ProcessCollector(registry=self.registry)

    def answered(self, path: str, status: int, seconds: float, refused: Reason | None = None) -> None:
        """Counts an answer, and why it refuses where it does."""
        known = path if path in PATHS else OTHER_PATHS
        labelled = self._of_answers.get((known, status))
        if labelled is None:
            labelled = self._requests.labels(known, str(status)), self._seconds.labels(known)
            self._of_answers[known, status] = labelled
        requests, times = labelled
        requests.inc()
        times.observe(seconds)
        if refused is not None:
            self._refusals.labels(refused).inc()

    def predicted(self, server_kind: ServerKind, verdict: Verdict) -> None:
        """Counts a prediction."""
        self._predictions.labels(server_kind, verdict).inc()

    def reported(self, *, written: bool) -> None:
        """Counts an outcome that was acknowledged: written, or there already."""
        self._outcomes.labels("appended" if written else "repeated").inc()

    def loaded_again(self, *, done: bool) -> None:
        """Counts an attempt to load the models again."""
        self._reloads.labels("done" if done else "failed").inc()

    def serving(self, digests: Mapping[str, Mapping[str, str]]) -> None:
        """States what answers now: kind of server to part to digest."""
        self._model.clear()
        for kind, parts in digests.items():
            for part, digest in parts.items():
                self._model.labels(kind, part, digest).set(1)

    def text(self) -> bytes:
        """All of them."""
        return generate_latest(self.registry)

    def _begin_at_zero(self) -> None:
        """A counter that appears with its first event hides that event from a rate."""
        for reason in REASONS:
            self._refusals.labels(reason)
        for result in ("appended", "repeated"):
            self._outcomes.labels(result)
        for result in ("done", "failed"):
            self._reloads.labels(result)
