"""Predictions a second of the service on one processor, how long each takes, and what a long run leaves behind.

The service runs as `poolpilot serve` has it in a process on one processor, the client on another; each kept connection
asks again as soon as it was answered. The bodies are the windows of every sweep that comes with the package, so that
networks and curves both answer.
"""

import gc
import json
import multiprocessing
import os
import selectors
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.measurement.sample_sweeps import sample_families, sample_sweeps
from poolpilot.env.measurement.steal import IDLE_FIELDS, ticks_so_far
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.body import as_body
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.http_server import http_server, listening_socket
from poolpilot.serve.service.service_settings import ServeSettings

PATH = "/v1/predict"
CONNECTIONS = 4

WARM_UP = 500
"""Requests that do not count: curves are placed when a server is seen for the first time."""

UNLIMITED = {
    "rate_per_s": 1e6,
    "rate_burst": 1_000_000,
    # On a machine that is kept busy by others the client may not come to ask again within seconds.
    **dict.fromkeys(("header_timeout_s", "body_timeout_s"), 600),
}


def serve(told: Connection) -> None:
    """Runs a service and tells its port."""
    import logging

    import structlog

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))
    settings = ServeSettings.load(None, UNLIMITED)
    listener = listening_socket("127.0.0.1", 0)
    server = http_server(create_app(Advisor.load(), settings), settings)
    gc.freeze()  # as `poolpilot serve` does
    told.send(listener.getsockname()[1])
    with suppress(KeyboardInterrupt):  # the end of the measurement
        server.run(listener)


@dataclass(frozen=True)
class ServiceProcess:
    """A service on a processor of its own.

    Attributes:
        port: Where it listens.
        process_id: The process it runs in.
    """

    port: int
    process_id: int

    def cpu_s(self) -> float:
        """Processor time taken so far."""
        fields = Path(f"/proc/{self.process_id}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mb(self) -> float:
        """Memory in use."""
        pages = int(Path(f"/proc/{self.process_id}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def descriptors(self) -> int:
        """Files and sockets open."""
        return len(list(Path(f"/proc/{self.process_id}/fd").iterdir()))


@contextmanager
def service(cpu: int) -> Iterator[ServiceProcess]:
    """Starts a service and ends it."""
    processes = multiprocessing.get_context("spawn")
    here, there = processes.Pipe()
    process = processes.Process(target=serve, args=(there,))
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})  # inherited before numpy counts the processors
    process.start()
    os.sched_setaffinity(0, mine)
    assert process.pid is not None
    try:
        yield ServiceProcess(here.recv(), process.pid)
    finally:
        process.terminate()
        process.join()


def recorded_requests() -> list[bytes]:
    """A whole request for the first window of every sample."""
    requests = []
    for family in sample_families():
        for sweep in sample_sweeps(family):
            entry = sweep.entries.get(sweep.limits.default_tuple().core) or next(iter(sweep.entries.values()))
            body = json.dumps(as_body([entry.windows[0]], sweep.limits, sweep.objective)).encode()
            head = f"POST {PATH} HTTP/1.1\r\nHost: service\r\nContent-Type: application/json\r\n"
            requests.append(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return requests


@dataclass
class Asker:
    """One kept connection.

    Attributes:
        socket: The connection.
        asked_s: When the request in flight was sent.
        received: What came of its answer.
    """

    socket: socket.socket
    asked_s: float = 0.0
    received: bytes = b""

    def ask(self, request: bytes) -> None:
        """Sends a request."""
        self.asked_s, self.received = time.perf_counter(), b""
        self.socket.sendall(request)

    def status(self) -> int | None:
        """Reads on; the status of the answer once it is whole."""
        self.received += self.socket.recv(65_536) or sys.exit("the service closed a connection")
        head, end, body = self.received.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split()[0]) if end else 0
        return int(head.split()[1]) if end and len(body) >= length else None


@dataclass
class Load:
    """Closed loop over several connections.

    Attributes:
        port: Where the service listens.
        requests: What is asked in turn.
        statuses: Answers by status.
    """

    port: int
    requests: Sequence[bytes]
    statuses: Counter[int] = field(default_factory=Counter)

    def run(self, count: int, connections: int) -> NDArray[np.float64]:
        """Times in seconds of `count` requests."""
        times_s, turn = np.empty(count), cycle(self.requests)
        asked = done = 0
        with ExitStack() as opened, selectors.DefaultSelector() as ready:
            for _ in range(min(connections, count)):
                asker = Asker(opened.enter_context(socket.create_connection(("127.0.0.1", self.port))))
                asker.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                ready.register(asker.socket, selectors.EVENT_READ, asker)
                asker.ask(next(turn))
                asked += 1
            while done < count:
                for key, _ in ready.select():
                    status = key.data.status()
                    if status is None:
                        continue
                    times_s[done] = time.perf_counter() - key.data.asked_s
                    self.statuses[status] += 1
                    done += 1
                    if asked < count:
                        key.data.ask(next(turn))
                        asked += 1
        return times_s


def others_s(running: ServiceProcess) -> float:
    """Processor time that neither client nor service has taken so far, what the host took included."""
    ticks = ticks_so_far() or sys.exit("the kernel does not tell what its processors do: there is no /proc/stat")
    used = sum(ticks) - sum(ticks[place] for place in IDLE_FIELDS)
    return used / os.sysconf("SC_CLK_TCK") - time.process_time() - running.cpu_s()


def asked(running: ServiceProcess, count: int) -> dict[str, Any]:
    """What a run of requests took, and what the service held before and after it."""
    load = Load(running.port, recorded_requests())
    load.run(WARM_UP, CONNECTIONS)
    load.statuses.clear()
    before = {"resident_mb": running.resident_mb(), "descriptors": running.descriptors()}
    began_s, began_cpu_s, began_others_s = time.perf_counter(), running.cpu_s(), others_s(running)
    times_s = load.run(count, CONNECTIONS)
    took_s = time.perf_counter() - began_s
    return {
        "processors": os.cpu_count(),
        "others_processors": (others_s(running) - began_others_s) / took_s,
        "requests": count,
        "connections": CONNECTIONS,
        "bodies": len(load.requests),
        "predictions_per_s": count / took_s,
        "p50_ms": 1e3 * float(np.quantile(times_s, 0.5)),
        "p99_ms": 1e3 * float(np.quantile(times_s, 0.99)),
        "worst_ms": 1e3 * float(times_s.max()),
        "cpu_ms_per_request": 1e3 * (running.cpu_s() - began_cpu_s) / count,
        "statuses": {str(status): number for status, number in sorted(load.statuses.items())},
        "before": before,
        "after": {"resident_mb": running.resident_mb(), "descriptors": running.descriptors()},
    }


def answered(count: int) -> dict[str, Any]:
    """What so many requests took of a service of its own."""
    mine = os.sched_getaffinity(0)
    first, *_, last = sorted(mine)
    with service(last) as running:
        os.sched_setaffinity(0, {first})
        try:
            return asked(running, count)
        finally:
            os.sched_setaffinity(0, mine)
