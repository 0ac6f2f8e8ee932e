"""Requests that ask for nothing: the pool beside a bare epoll loop, Redis and MariaDB, each on one processor.

What a server does for its request differs: ours reads a frame, queues it, looks at a program of no steps; the bare loop
answers at once; Redis parses and answers PING; MariaDB parses and runs `DO 1`. The load of each is its own, so a server
may be left idle by it: requests a second of the server's processor time is the figure to compare.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial

from poolpilot.native_pool.load import Load
from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings
from poolpilot.pipelines.bench.serving.foreign import Foreign, mariadb, redis
from poolpilot.pipelines.bench.serving.load_switch import LoadSwitch
from poolpilot.pipelines.bench.serving.served import PoolProcess, Served
from poolpilot.pipelines.bench.serving.sliced import Opening, SlicedCell, slices_for
from poolpilot.pipelines.bench.serving.trial import Measures, costs
from poolpilot.pipelines.bench.serving.usage import ProcessUsage, system_calls
from poolpilot.pipelines.bench.serving.works import closed_loop

ECHO = "epoll echo loop"


def null_cells(settings: PoolBenchSettings) -> Iterator[SlicedCell]:
    """Every server at some numbers of connections."""
    pools = {
        handler: Served("pool", settings.server_cpus, options={"handler": handler, "class_names": ["null"]})
        for handler in ("pool", "hybrid", "per_connection")
    }
    ours = {**pools, ECHO: Served("echo", settings.server_cpus)}
    for connections in settings.null_connections:
        pinned = (connections, settings.server_cpus, settings.load_cpus)
        contenders: dict[str, Opening] = {
            **{name: partial(of_ours, settings, connections, served) for name, served in ours.items()},
            "Redis PING": partial(of_others, settings, connections, partial(redis, *pinned)),
            "MariaDB DO 1": partial(of_others, settings, connections, partial(mariadb, *pinned, settings.lab)),
        }
        yield SlicedCell("null", f"{connections} connections", contenders, settings.window_s, slices_for(connections))


@dataclass
class RunningNulls:
    """A server under requests for nothing.

    Attributes:
        switch: Stops its load, and lets it go on.
        requests: Answered in all slices.
        seconds: How long these were.
        calls: System calls of the server in them.
        usages: What the server had used at the beginning and at the end of each.
    """

    switch: LoadSwitch
    requests: int = 0
    seconds: float = 0.0
    calls: float = 0.0
    usages: list[tuple[ProcessUsage, ProcessUsage]] = field(default_factory=list)

    def measure(self, seconds: float) -> None:
        """Requests a second, and what one costs the process.

        Raises:
            ServerError: The load has ended.
            LoadError: It has ended, and is ours.
        """
        self.switch.go_on()
        begun_s, first, before = time.monotonic(), self.switch.completed(), ProcessUsage.of(self.switch.server)
        called = system_calls(self.switch.server, seconds)
        answered, after = self.switch.completed() - first, ProcessUsage.of(self.switch.server)
        lasted_s = time.monotonic() - begun_s
        self.switch.stop()
        self.requests += answered
        self.seconds += lasted_s
        self.calls += called * lasted_s / seconds  # counted for a part of the slice alone
        self.usages.append((before, after))

    def measures(self) -> Measures:
        """What was measured, all slices together."""
        return {
            "throughput_per_s": self.requests / self.seconds,
            **costs(self.usages, self.requests, self.seconds),
            "system_calls_a_request": self.calls / self.requests if self.requests else float("nan"),
        }


@contextmanager
def of_ours(settings: PoolBenchSettings, connections: int, served: Served) -> Iterator[RunningNulls]:
    """A server of this project under our load."""
    workload = closed_loop("null", connections)
    with (
        PoolProcess(served) as server,
        Load(server.address, workload, cpus=settings.load_cpus) as load,
        standing(settings, server.pid, load.pids, connections, lambda: load.report().completed) as running,
    ):
        yield running


@contextmanager
def of_others(
    settings: PoolBenchSettings, connections: int, opened: Callable[[], AbstractContextManager[Foreign]]
) -> Iterator[RunningNulls]:
    """A server of others under theirs."""
    with (
        opened() as server,
        standing(settings, server.pid, [server.load.pid], connections, server.completed) as running,
    ):
        yield running


@contextmanager
def standing(
    settings: PoolBenchSettings, server: int, senders: Sequence[int], connections: int, completed: Callable[[], int]
) -> Iterator[RunningNulls]:
    """A server whose load has begun, and stands still."""
    switch = LoadSwitch(server, senders, connections, completed)
    time.sleep(settings.settle_s)
    switch.stop()
    try:
        yield RunningNulls(switch)
    finally:
        switch.release()
