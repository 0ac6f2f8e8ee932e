"""Families of several replicas in one text, as Prometheus reads it."""

from prometheus_client.parser import text_string_to_metric_families

from poolpilot.serve.replicas.gathered_metrics import GatheredMetrics
from poolpilot.serve.service.watch.service_metrics import ServiceMetrics


def test_a_family_stands_once_with_the_samples_of_all_replicas() -> None:
    first, second = ServiceMetrics(), ServiceMetrics()
    first.predicted("native", "change")
    second.predicted("native", "change")
    second.answered("/v1/predict", 200, 0.003)
    text = GatheredMetrics({"a": first.registry.collect(), "b": second.registry.collect()}).text().decode()
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families)
    found = [sample for family in families for sample in family.samples]
    samples = {(sample.name, *sorted(sample.labels.items())): sample.value for sample in found}
    labels = (("server_kind", "native"), ("verdict", "change"))
    for replica in "ab":
        assert samples["poolpilot_predictions_total", ("replica", replica), *labels] == 1.0
    path = ("path", "/v1/predict")
    assert samples["poolpilot_request_seconds_bucket", ("le", "0.005"), path, ("replica", "b")] == 1.0
    assert ("poolpilot_request_seconds_count", path, ("replica", "a")) not in samples
    kinds = {family.name: family.type for family in families}
    assert (kinds["poolpilot_predictions"], kinds["poolpilot_request_seconds"]) == ("counter", "histogram")
