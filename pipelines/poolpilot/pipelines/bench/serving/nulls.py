"""Requests that ask for nothing: the pool beside a bare epoll loop, Redis and MariaDB, each on one processor.

What a server does for its request differs: ours reads a frame, queues it, looks at a program of no steps; the bare loop
answers at once; Redis parses and answers PING; MariaDB parses and runs `DO 1`. The load of each is its own, so a server
may be left idle by it: requests a second of the server's processor time is the figure to compare.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial

from poolpilot.native_pool.load import Load
from poolpilot.pipelines.bench.serving.calls import system_calls
from poolpilot.pipelines.bench.serving.foreign import Foreign, mariadb, redis
from poolpilot.pipelines.bench.serving.rounds import Cell, Contender
from poolpilot.pipelines.bench.serving.served import Served, ServerProcess
from poolpilot.pipelines.bench.serving.settings import PoolBenchSettings
from poolpilot.pipelines.bench.serving.trial import Measures, costs
from poolpilot.pipelines.bench.serving.usage import ProcessUsage
from poolpilot.pipelines.bench.serving.works import closed_loop

ECHO = "epoll echo loop"


def null_cells(settings: PoolBenchSettings) -> Iterator[Cell]:
    """Every server at some numbers of connections."""
    pools = {
        handler: Served("pool", settings.server_cpus, options={"handler": handler, "class_names": ["null"]})
        for handler in ("pool", "hybrid", "per_connection")
    }
    ours = {**pools, ECHO: Served("echo", settings.server_cpus)}
    for connections in settings.null_connections:
        pinned = (connections, settings.server_cpus, settings.load_cpus)
        contenders: dict[str, Contender] = {
            **{name: partial(of_ours, settings, connections, served) for name, served in ours.items()},
            "Redis PING": partial(of_others, settings, partial(redis, *pinned)),
            "MariaDB DO 1": partial(of_others, settings, partial(mariadb, *pinned, settings.lab)),
        }
        yield Cell("null", f"{connections} connections", contenders)


def of_ours(settings: PoolBenchSettings, connections: int, served: Served) -> Measures:
    """A server of this project under our load."""
    load = closed_loop("null", connections)
    with ServerProcess(served) as server, Load(server.address, load, cpus=settings.load_cpus) as running:
        return window(settings, server.pid, lambda: running.report().completed)


def of_others(settings: PoolBenchSettings, opened: Callable[[], AbstractContextManager[Foreign]]) -> Measures:
    """A server of others under theirs."""
    with opened() as server:
        return window(settings, server.pid, server.completed)


def window(settings: PoolBenchSettings, pid: int, completed: Callable[[], int]) -> Measures:
    """Requests a second, and what one costs the process."""
    time.sleep(settings.settle_s)
    begun_s, first, before = time.monotonic(), completed(), ProcessUsage.of(pid)
    calls = system_calls(pid, settings.window_s)
    requests, after = completed() - first, ProcessUsage.of(pid)
    seconds = time.monotonic() - begun_s
    rate_per_s = requests / seconds
    return {
        "throughput_per_s": rate_per_s,
        **costs(before, after, requests, seconds),
        "system_calls_a_request": calls / settings.window_s / rate_per_s if requests else float("nan"),
    }
