"""Whether an outcome that was acknowledged is ever lost: the service is killed with SIGKILL at random moments.

Clients report over kept connections to a service that begins a new file every few reports, and go on reporting what
nobody has acknowledged, as they should, when the next service is up in the same folder. The moment of a kill is drawn:
after so many acknowledgements and so many microseconds.
"""

import http.client
import json
import multiprocessing
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from poolpilot.env.measurement.sample_sweeps import sample_families, sample_sweeps
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.body import as_body
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.http_server import http_server, listening_socket
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.outcomes.outcome_segments import identifier_of, read_outcomes, segments
from poolpilot.serve.service.service_settings import ServeSettings

CLIENTS = 3
MOST_ACKNOWLEDGED = 40
"""Acknowledgements of one service before it is killed."""

LONGEST_WAIT_S = 0.004
"""From the last of them to the kill: about as long as a report takes."""

UP_WITHIN_S = 120.0


@dataclass
class Clients:
    """What clients have reported, and what was acknowledged to them.

    Attributes:
        request: Windows, limits and objective of every report.
        acknowledged: Identifiers that a 201 or 200 came back for.
        statuses: Answers by status; `none` where the service died first.
        left: Reports that nobody has acknowledged, to be sent again.
    """

    request: dict[str, Any]
    acknowledged: set[str] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)
    left: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def report(self, port: int) -> None:
        """Reports over one connection until it breaks."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=UP_WITHIN_S)
        while True:
            with self._lock:
                name = self.left.pop() if self.left else f"outcome-{next(self._numbers)}"
            try:
                status = self._send(connection, name)
            except (OSError, http.client.HTTPException):
                with self._lock:
                    self.left.append(name)
                    self.statuses["none"] += 1
                return
            with self._lock:
                self.statuses[str(status)] += 1
                if status in (200, 201):
                    self.acknowledged.add(name)

    def _send(self, connection: http.client.HTTPConnection, name: str) -> int:
        head = {"id": name, "server_id": "db1", "propensity": 1.0, "model_digest": "ab" * 32, "verdict": "kept"}
        body = json.dumps({**head, "request": self.request})
        connection.request("POST", "/v1/outcomes", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        return answer.status


def serve(predictor: Advisor, folder: Path, told: Connection) -> None:
    """Runs a service over a folder and tells its port."""
    flags = {"outcomes": folder, "outcome_segment_bytes": 40_000, "rate_per_s": 1e6, "rate_burst": 1_000_000}
    settings = ServeSettings.load(None, flags)
    listener = listening_socket("127.0.0.1", 0)
    log = OutcomeLog(folder, settings.outcome_segment_bytes)
    server = http_server(create_app(predictor, settings, outcomes=log), settings)
    told.send(listener.getsockname()[1])
    server.run(listener)


def started(predictor: Advisor, folder: Path) -> tuple[BaseProcess, int]:
    """A service in a process of its own, forked so that it need not load again, and its port."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=serve, args=(predictor, folder, there))
    process.start()
    if not here.poll(UP_WITHIN_S):
        process.kill()
        raise SystemExit(f"the service did not come up within {UP_WITHIN_S:g} s")
    return process, here.recv()


def killed_once(predictor: Advisor, folder: Path, clients: Clients, moments: random.Random) -> None:
    """Starts a service, lets clients report, and kills it at a moment that is drawn."""
    process, port = started(predictor, folder)
    goal = len(clients.acknowledged) + moments.randrange(MOST_ACKNOWLEDGED)
    threads = [threading.Thread(target=clients.report, args=(port,)) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    ends_s = time.monotonic() + UP_WITHIN_S
    while len(clients.acknowledged) < goal and time.monotonic() < ends_s:
        time.sleep(0.0002)
    time.sleep(moments.uniform(0.0, LONGEST_WAIT_S))
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    for thread in threads:
        thread.join()


def an_outcomes_request() -> dict[str, Any]:
    """Two recorded windows."""
    sweep = next(iter(sample_sweeps(next(iter(sample_families())))))
    window = next(iter(sweep.entries.values())).windows[0]
    return dict(as_body([window, window], sweep.limits, sweep.objective))


def outcomes_lost(kills: int, seed: int) -> dict[str, Any]:
    """Kills a service so many times and counts what was acknowledged and what is there."""
    moments, clients, torn = random.Random(seed), Clients(an_outcomes_request()), 0
    predictor = Advisor.load()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "outcomes"
        for _ in range(kills):
            killed_once(predictor, folder, clients, moments)
            torn += sum(
                not segment.read_bytes().endswith(b"\n") for segment in segments(folder) if segment.stat().st_size
            )
        OutcomeLog(folder, 40_000).close()
        found = [outcome.id for outcome in read_outcomes(folder)]
        lines = [
            identifier_of(line) for path in segments(folder) for line in path.read_bytes().splitlines(keepends=True)
        ]
    return {
        "kills": kills,
        "acknowledged": len(clients.acknowledged),
        "lost": len(clients.acknowledged - set(found)),
        "there_twice": len(lines) - len(set(lines)),
        "torn_ends": torn,
        "answers": dict(sorted(clients.statuses.items())),
    }
