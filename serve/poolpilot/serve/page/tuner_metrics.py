"""What tuners do, in the text format of Prometheus; only names of servers are labels not known beforehand."""

from collections.abc import Callable, Iterator, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from poolpilot.serve.page.page_row import Core, PageRow
from poolpilot.serve.page.server_history import ServerHistory, named_apart
from poolpilot.serve.tuner.machine.decision import State

PREFIX = "poolpilot_tuner_"

KNOBS = ("pool_size", "oversubscribe", "stall_limit_ms")

LATENCY = (
    "Latency of the last window: 95th percentile, in the geometric mean over classes, where clients report classes; "
    "elsewhere, as on a MariaDB, the mean time that requests spend in the system."
)
"""Help of the metric of latency."""

COUNTED = {
    State.TRIAL: ("trials", "Trials begun"),
    State.ROLL_BACK: ("roll_backs", "Trials rolled back"),
    State.STAND_DOWN: ("stand_downs", "Times a person has set the pool or thrown the switch"),
    State.OPEN_CIRCUIT: ("open_circuits", "Times nothing was tried for long, after several roll-backs"),
}
"""States that are counted as they are entered: name and help of the metric."""


class TunerMetrics(Collector):
    """What is told of some servers at one time.

    Args:
        histories: The servers.
    """

    def __init__(self, histories: Sequence[ServerHistory]) -> None:
        self._servers = named_apart(histories)

    def text(self) -> bytes:
        """All metrics."""
        registry = CollectorRegistry()
        registry.register(self)
        return generate_latest(registry)

    def collect(self) -> Iterator[Metric]:
        """The metrics, as prometheus_client asks for them."""
        yield from self._states()
        yield from self._tuples()
        yield self._gauge("throughput_per_second", "Requests completed a second.", lambda row: row.throughput_per_s)
        yield self._gauge("latency_seconds", LATENCY, lambda row: _seconds(row.latency_ms))
        yield self._gauge("last_window_timestamp_seconds", "The last decision, by its clock.", lambda row: row.unix_s)
        yield self._gauge("reached", "1 where it reached its server, else 0.", lambda row: float(bool(row.in_force)))
        yield from self._counters()
        yield from self._of_logs()

    def _states(self) -> Iterator[Metric]:
        family = GaugeMetricFamily(f"{PREFIX}state", "1 for the state that it is in.", labels=("server", "state"))
        for server, history in self._servers:
            for state in State:
                now = history.latest is not None and history.latest.state is state
                family.add_metric((server, state.value), float(now))
        yield family

    def _tuples(self) -> Iterator[Metric]:
        labels = ("server", "knob")
        in_force = GaugeMetricFamily(f"{PREFIX}in_force", "Knobs of the configuration in force.", labels=labels)
        incumbent = GaugeMetricFamily(
            f"{PREFIX}incumbent", "Knobs of the verified configuration that a roll-back restores.", labels=labels
        )
        for server, history in self._servers:
            if history.latest is not None:
                _add_knobs(in_force, server, history.latest.in_force)
                _add_knobs(incumbent, server, history.latest.incumbent)
        yield in_force
        yield incumbent

    def _gauge(self, name: str, text: str, value_of: Callable[[PageRow], float | None]) -> Metric:
        family = GaugeMetricFamily(f"{PREFIX}{name}", text, labels=("server",))
        for server, history in self._servers:
            if history.latest is not None and (value := value_of(history.latest)) is not None:
                family.add_metric((server,), value)
        return family

    def _counters(self) -> Iterator[Metric]:
        """They count from when this process had read what was in the logs, which Prometheus would take for new."""
        for state, (name, text) in COUNTED.items():
            family = CounterMetricFamily(f"{PREFIX}{name}", f"{text}.", labels=("server",))
            for server, history in self._servers:
                family.add_metric((server,), float(history.entered_since[state]))
            yield family

    def _of_logs(self) -> Iterator[Metric]:
        named = ("server",)
        lost = GaugeMetricFamily(f"{PREFIX}lost_requests", "What trials cost; negative is a gain.", labels=named)
        dropped = CounterMetricFamily(f"{PREFIX}lost_log_lines", "Decisions not kept: the disk was full.", labels=named)
        gain = GaugeMetricFamily(f"{PREFIX}expected_gain_ratio", "What was last promised.", labels=named)
        silent = GaugeMetricFamily(f"{PREFIX}seconds_since_decision", "By this host's clock.", labels=named)
        for server, history in self._servers:
            lost.add_metric((server,), history.lost_requests)
            dropped.add_metric((server,), float(history.lost_lines_since))
            if history.expected_gain is not None:
                gain.add_metric((server,), history.expected_gain)
            if (silent_s := history.silent_s()) is not None:
                silent.add_metric((server,), silent_s)
        yield lost
        yield dropped
        yield gain
        yield silent


def _add_knobs(family: GaugeMetricFamily, server: str, core: Core | None) -> None:
    for knob, value in zip(KNOBS, core or (), strict=False):
        family.add_metric((server, knob), float(value))


def _seconds(latency_ms: float | None) -> float | None:
    return None if latency_ms is None else latency_ms / 1e3
