"""Metrics of several replicas in one text, each sample with the name of its replica."""

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector, CollectorRegistry
from typing_extensions import override

REPLICA = "replica"
"""The label."""


class GatheredMetrics(Collector):
    """Joins what replicas have collected: a family of metrics stands once, with the samples of all.

    Args:
        collected: The families of each replica by its name.
    """

    def __init__(self, collected: Mapping[str, Iterable[Metric]]) -> None:
        self._collected = collected

    @override
    def collect(self) -> Iterator[Metric]:
        """The families, each once."""
        joined: dict[str, Metric] = {}
        for replica, families in self._collected.items():
            for family in families:
                whole = joined.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                for sample in family.samples:
                    whole.samples.append(sample._replace(labels={**sample.labels, REPLICA: replica}))
        yield from joined.values()

    def text(self) -> bytes:
        """All of them in the text format of Prometheus."""
        registry = CollectorRegistry()
        registry.register(self)
        return generate_latest(registry)
