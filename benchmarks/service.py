"""What the service answers on one processor over one kept connection, with and without TCP_NODELAY on its listener.

How to run: `python benchmarks/service.py [--pairs 10] [--json PATH]` (a minute, nothing beside). Two services run on
one processor and the client on another; runs of requests alternate between the services, the order changing from pair
to pair, and only one of them is asked at a time. A pair beside which other programs took their share of the processors
does not count and is measured again. Results to expect: without it every answer waits 40 ms for the delayed
acknowledgement of its first part; with it there are more than ten times as many a second.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

import numpy as np
import structlog

from poolpilot.env.output import write_json
from poolpilot.models.body import as_body
from poolpilot.models.champion import load_champion
from poolpilot.models.predictor import ScorePredictor
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.http_server import http_server, listening_socket
from poolpilot.serve.service.service_settings import ServeSettings

REQUESTS = {"without": 30, "with": 400}
"""Requests in a run, by variant: each takes a second or two."""

WARM_UP = 20
"""Requests of a run that do not count: at first Linux acknowledges at once."""

MOST_OTHERS = 0.05
"""Share of the machine's processor time that other programs may take of a pair that counts."""

GLANCE_S = 1.0
"""Time for which the machine must be quiet before a pair."""

T = TypeVar("T")


def serve(variant: str, told: Connection) -> None:
    """Runs a service and tells its port."""
    with Path(os.devnull).open("w") as nowhere:
        structlog.configure(logger_factory=structlog.PrintLoggerFactory(nowhere))
        settings = ServeSettings()
        listener = listening_socket("127.0.0.1", 0)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, variant == "with")
        told.send(listener.getsockname()[1])
        http_server(create_app(ScorePredictor(load_champion()), settings), settings).run(sockets=[listener])


class Client:
    """Asks a service over kept connections.

    Args:
        port: Where the service listens.
        process_id: The process it runs in.
        body: What is asked, again and again.
    """

    def __init__(self, port: int, process_id: int, body: bytes) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._stat = Path(f"/proc/{process_id}/stat")
        self._body = body

    def run(self, requests: int) -> list[float]:
        """Times in seconds that requests took, one after the other over a new connection."""
        self._connection.close()
        return [self._ask() for _ in range(WARM_UP + requests)][WARM_UP:]

    def cpu_s(self) -> float:
        """Processor time that the service has taken so far."""
        fields = self._stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _ask(self) -> float:
        began_s = time.perf_counter()
        self._connection.request("POST", "/v1/predict", self._body, {"content-type": "application/json"})
        response = self._connection.getresponse()
        response.read()
        assert response.status == 200, response.status
        return time.perf_counter() - began_s


@contextmanager
def service(variant: str, cpu: int, body: bytes) -> Iterator[Client]:
    """A service in a process on a processor of its own, and its client."""
    processes = multiprocessing.get_context("spawn")
    here, there = processes.Pipe()
    process = processes.Process(target=serve, args=(variant, there))
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})  # inherited before numpy counts the processors
    process.start()
    os.sched_setaffinity(0, mine)
    assert process.pid is not None
    try:
        yield Client(here.recv(), process.pid, body)
    finally:
        process.terminate()
        process.join()


def recorded_body(store: Path) -> bytes:
    """A request with one recorded window."""
    sweep = read_dataset(store, "validation").of_split("validation")[0]
    window = next(iter(sweep.entries.values())).windows[0]
    return json.dumps(as_body([window], sweep.limits, sweep.objective)).encode()


@dataclass
class Runs:
    """What was measured of one variant: times of all requests, and rate and processor time a request of every run."""

    s: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)

    def as_dict(self) -> dict[str, float]:
        """Their summary."""
        return {
            "requests_per_s": float(np.median(self.rate)),
            "p50_ms": 1e3 * float(np.quantile(self.s, 0.5)),
            "p99_ms": 1e3 * float(np.quantile(self.s, 0.99)),
            "cpu_ms_per_request": 1e3 * float(np.mean(self.cpu_s)),
            "requests": len(self.s),
        }


def busy_s() -> float:
    """Time that all processors of the machine were not idle, what the host took included."""
    user, nice, system, _, _, *interrupts_and_steal = Path("/proc/stat").read_text().split()[1:9]
    return sum(map(int, (user, nice, system, *interrupts_and_steal))) / os.sysconf("SC_CLK_TCK")


def one_run(client: Client, variant: str) -> tuple[list[float], float]:
    """Times of the requests of one run, and processor time a request."""
    before_s = client.cpu_s()
    times_s = client.run(REQUESTS[variant])
    return times_s, (client.cpu_s() - before_s) / (len(times_s) + WARM_UP)


def with_others_share(clients: dict[str, Client], measure: Callable[[], T]) -> tuple[T, float]:
    """What a measurement gives, and the share of the machine's processor time that others took meanwhile."""

    def others_s() -> float:
        return busy_s() - time.process_time() - sum(client.cpu_s() for client in clients.values())

    began_s, before_s = time.monotonic(), others_s()
    found = measure()
    return found, (others_s() - before_s) / (time.monotonic() - began_s) / (os.cpu_count() or 1)


def one_pair(clients: dict[str, Client], number: int) -> dict[str, tuple[list[float], float]]:
    """A run of every variant, each second time in the other order."""
    return {name: one_run(clients[name], name) for name in sorted(clients, reverse=bool(number % 2))}


def measured(clients: dict[str, Client], pairs: int, patience_s: float) -> tuple[dict[str, Runs], int]:
    """What was measured of the variants, and how many pairs did not count."""
    found = {name: Runs() for name in clients}
    began_s, tried = time.monotonic(), 0
    while len(found["with"].rate) < pairs:
        if time.monotonic() - began_s > patience_s:
            sys.exit(f"other programs were busy for {patience_s:g} s: measure on a quiet machine")
        if with_others_share(clients, partial(time.sleep, GLANCE_S))[1] > MOST_OTHERS:
            continue
        tried += 1
        runs, share = with_others_share(clients, partial(one_pair, clients, tried))
        if share <= MOST_OTHERS:
            for name, (times_s, cpu_s) in runs.items():
                found[name].s += times_s
                found[name].rate.append(len(times_s) / sum(times_s))
                found[name].cpu_s.append(cpu_s)
    return found, tried - pairs


def main() -> None:
    """Measures pairs, prints and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--patience", type=float, default=600.0, help="seconds to wait for undisturbed pairs")
    parser.add_argument("--store", type=Path, default=Path("pipelines/records"))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    client_cpu, service_cpu = sorted(os.sched_getaffinity(0))[:2]
    body = recorded_body(given.store)
    with ExitStack() as running:
        clients = {name: running.enter_context(service(name, service_cpu, body)) for name in REQUESTS}
        os.sched_setaffinity(0, {client_cpu})
        found, disturbed = measured(clients, given.pairs, given.patience)
    ratios = np.array(found["with"].rate) / np.array(found["without"].rate)
    report = {
        **{name: runs.as_dict() for name, runs in found.items()},
        "ratio": {"median": float(np.median(ratios)), "least": float(ratios.min()), "pairs": given.pairs},
        "disturbed_pairs": disturbed,
    }
    print(json.dumps(report, indent=1))
    write_json(given.json, report)


if __name__ == "__main__":
    main()
