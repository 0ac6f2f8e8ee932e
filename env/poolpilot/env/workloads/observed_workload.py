"""A workload rebuilt from a window by its moments: what to simulate where only a profile is known.

What a window tells of its requests is means: processor time, waits told and not told of, latencies by class. From these
one step program for each class is made that has the same means. How long a latch is held, and what its waiters cost,
cannot be seen in one window; it is found by simulating until throughput and latch waits are those that were measured.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import MOST_POOL_SIZE, SimulatedServer
from poolpilot.env.servers.simulated_measurement import SimulatedMeasurement, measure_all
from poolpilot.errors import FeatureError
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.simulation import Machine
from poolpilot.native_pool.workload import RequestClass, Step, WaitKind, Workload

SHORTEST_CPU_US = 1.0
SHORTEST_WAIT_US = 20.0
"""Silent waits shorter than this are the blur of the clocks."""

SHORTEST_THINK_SHARE = 0.05
"""Share of a request's cycle below which a pause of the client is the time its answer and question travel."""

LEAST_WEIGHT = 0.02
"""Processor time of the light classes beside the mean, at least."""

FEWEST_LATCH_WAITS = 0.02
"""Latch waits a request below which no latch is modelled."""

SPIN_US = 100

SILENT_WAIT = "silent_wait_us_per_round"
"""The feature that tells how long requests wait without telling the pool."""

WAIT_KINDS: tuple[WaitKind, ...] = ("sleep", "disk_io", "row_lock", "net")

FEWEST_WAITS = 0.01
"""Reported waits of a kind a request below which none is modelled."""

MOST_WAITS = 62
"""Steps that wait, of each kind: with the six others at most the 256 that a program may have. Where requests wait more
often, each of these is longer."""


@dataclass(frozen=True)
class _Latch:
    """A guess at a latch.

    Attributes:
        hold_share: Share of the processor time that is spent under it.
        cpu_share: Share of the measured processor time that the program itself needs; waiters cost the rest.
        waiter_cost_us: What the holder pays for each waiter.
    """

    hold_share: float
    cpu_share: float
    waiter_cost_us: float


GUESSES = tuple(
    _Latch(*values)
    for values in product(np.geomspace(0.02, 0.95, 10).tolist(), (0.4, 0.6, 0.75, 0.9, 1.0), (0.5, 5.0, 20.0))
)

SHORT = SimulatedMeasurement(requests=4000, most_s=5.0)
"""How long each guess is simulated."""


def observed_workload(window: Window, limits: KnobSpace, objective: Objective, machine: Machine) -> Workload:
    """Rebuilds what a server was doing in a window; the loop is closed.

    Args:
        window: The window, with the tuple it was measured under.
        limits: The server's processors and ranges.
        objective: Targets and weights of its classes.
        machine: The machine it is to be simulated on; its own costs are taken off the measured times.

    Raises:
        FeatureError: A feature that is needed is missing, such as the processor time of a request; or neither the
            server nor its clients tell how long requests wait.
    """
    _check_waits_are_known(window)
    seen = _Seen(window, machine)
    if seen.latch_waits < FEWEST_LATCH_WAITS:
        return seen.workload(limits, objective, None)
    return _nearest([seen.workload(limits, objective, guess) for guess in GUESSES], seen, window, limits, machine)


def assumptions(window: Window) -> tuple[str, ...]:
    """What a window does not tell of its requests and a rebuilt workload takes for granted, as sentences."""
    if window.profile.features[SILENT_WAIT] is not None:
        return ()
    return ("requests wait for nothing but the processor and the pool's queue: the server does not time its rounds",)


def _check_waits_are_known(window: Window) -> None:
    """Refuses a window from which a request would come out as pure processor time for want of anything else."""
    if window.profile.features[SILENT_WAIT] is None and window.p99_ms is None:
        raise FeatureError(
            "classes",
            f"the window of a {window.server_kind} server tells neither the latency of requests (classes) nor how long "
            f"they wait ({SILENT_WAIT}), so they would be simulated as processor time alone; give a window with the "
            "latencies of its clients (`poolpilot lab load --json`), or try configurations in staging "
            "(`poolpilot climb --sweep`)",
        )


class _Seen:
    """Means of a request, less what the machine itself adds."""

    def __init__(self, window: Window, machine: Machine) -> None:
        self.features: Mapping[str, float | None] = window.profile.features
        self.connections = round(self._needed("connections"))
        self.cpu_us = max(self._cpu_us(machine), SHORTEST_CPU_US)
        self.cpu_variation = min(self._or("round_cpu_us_cv", 0.5), 3.0) if len(window.classes) < 2 else 0.2
        self.latch_waits = self._or("latch_waits_per_request", 0.0)
        self.latch_wait_us = self._or("latch_wait_us_per_request", 0.0)
        rounds = self._or("active_rounds_mean", 1.0)
        silent_us = self._or(SILENT_WAIT, 0.0) * rounds - self.latch_wait_us - machine.timer_slack_us
        self.silent_us = silent_us if silent_us >= SHORTEST_WAIT_US else 0.0
        self.waits = {kind: self._or(f"waits_{kind}_per_request", 0.0) for kind in WAIT_KINDS}
        self.wait_us = max(self._or("wait_round_us_mean", 0.0) - machine.timer_slack_us, 0.0)
        self.wait_variation = min(self._or("wait_round_us_cv", 0.5), 3.0)
        self.think_us = self._think_us(window)
        self.scales, self.shares = self._by_class(window)

    def _think_us(self, window: Window) -> float:
        """Pause of a client by Little's law: connections are in a request or between two.

        The pool's own measure runs from the answer to when the next request is read, which a busy group does late.
        """
        latency_us = _mean_latency_us(window)
        if latency_us is None or window.throughput_per_s <= 0.0:
            return self._or("think_us_mean", 0.0)
        cycle_us = 1e6 * self.connections / window.throughput_per_s
        pause_us = cycle_us - latency_us
        return pause_us if pause_us > SHORTEST_THINK_SHARE * cycle_us else 0.0

    def _by_class(self, window: Window) -> tuple[dict[str, float], dict[str, float]]:
        """How heavy the requests of each class are beside the mean one, and its share of the connections.

        The share is told by Little's law. The weights are told by the spread of the processor time: it is put down to
        the class of the longest latency being heavier than the others. (Latencies alone tell little: where all wait in
        one queue of a closed loop, they are alike.)
        """
        rates = {
            name: of_class.throughput_per_s
            for name, of_class in window.classes.items()
            if of_class.throughput_per_s > 0.0
        }
        if not rates:
            return {"all": 1.0}, {"all": 1.0}
        means = {name: window.classes[name].latency.mean for name in rates}
        shares = {name: rates[name] * (means[name] + self.think_us) for name in rates}
        heavy = max(means, key=means.__getitem__)
        share = rates[heavy] / sum(rates.values())
        spread = self._or("round_cpu_us_cv", 0.0)
        if len(rates) < 2 or spread <= 0.0:
            return dict.fromkeys(rates, 1.0), shares
        # Two values of this mean and spread: the light one must stay above nothing.
        light = max(1.0 - spread * np.sqrt(share / (1.0 - share)), LEAST_WEIGHT)
        scales = dict.fromkeys(rates, float(light))
        scales[heavy] = float((1.0 - (1.0 - share) * light) / share)
        return scales, shares

    def workload(self, limits: KnobSpace, objective: Objective, latch: _Latch | None) -> Workload:
        """The workload, with a guess at its latch."""
        total = sum(self.shares.values())
        classes = tuple(
            RequestClass(
                name,
                tuple(self._steps(scale, latch)),
                share=self.shares[name] / total,
                target_ms=objective.targets_ms.get(name),
                weight=objective.weights.get(name, 1.0),
                think_ms=self.think_us / 1e3,
            )
            for name, scale in self.scales.items()
        )
        connections = max(self.connections, len(classes))
        return Workload("rebuilt from a window", "observed", classes, connections=connections, cpus=limits.cpus)

    def _steps(self, scale: float, latch: _Latch | None) -> Iterator[Step]:
        cpu_us = self.cpu_us * scale * (1.0 if latch is None else latch.cpu_share)
        held_us = 0.0 if latch is None else latch.hold_share * cpu_us
        free = Step("cpu", us=(cpu_us - held_us) / 2, variation=self.cpu_variation)
        yield free
        if self.silent_us:
            yield Step("wait", us=self.silent_us * scale, variation=0.5)
        if latch is not None:
            yield Step("acquire", spin_us=SPIN_US, waiter_cost_us=latch.waiter_cost_us)
            yield Step("cpu", us=held_us, variation=0.2)
            yield Step("release")
        for kind, per_request in self.waits.items():
            if per_request <= FEWEST_WAITS:
                continue
            times = min(max(round(per_request), 1), MOST_WAITS)
            wait_us = self.wait_us * per_request / times
            yield from [Step("wait", us=wait_us, variation=self.wait_variation, kind=kind, reported=True)] * times
        yield free

    def _cpu_us(self, machine: Machine) -> float:
        own_us = self.features.get("thread_cpu_us_per_request")
        if own_us is not None:
            return own_us
        return self._needed("process_cpu_us_per_request") - machine.overhead_us

    def _or(self, name: str, missing: float) -> float:
        value = self.features.get(name)
        return missing if value is None else value

    def _needed(self, name: str) -> float:
        value = self.features.get(name)
        if value is None:
            raise FeatureError(name, f"the profile lacks {name}, without which its workload cannot be rebuilt")
        return value


def _mean_latency_us(window: Window) -> float | None:
    """Mean latency of all classes; None where nothing completed or the server knows no classes."""
    total = sum(of_class.throughput_per_s for of_class in window.classes.values())
    if total <= 0.0:
        return None
    return sum(of_class.throughput_per_s * of_class.latency.mean for of_class in window.classes.values()) / total


def _nearest(guesses: list[Workload], seen: _Seen, window: Window, limits: KnobSpace, machine: Machine) -> Workload:
    """The guess whose throughput and latch waits come nearest to those measured, under the same tuple."""
    most = min(int(limits.knobs["pool_size"].high), MOST_POOL_SIZE)
    servers = [
        SimulatedServer(workload, machine, initial=window.pool_tuple, max_pool_size=most) for workload in guesses
    ]
    windows = measure_all(servers, [window.pool_tuple] * len(servers), SHORT)
    rates = np.array([max(simulated.throughput_per_s, 1e-3) for simulated in windows])
    waits_us = np.array([simulated.profile.features.get("latch_wait_us_per_request") or 0.0 for simulated in windows])
    distances = 2.0 * np.abs(np.log(rates / max(window.throughput_per_s, 1e-3)))
    distances += np.abs(np.log1p(waits_us) - np.log1p(seen.latch_wait_us))
    return guesses[int(np.argmin(distances))]
