"""Servers that take turns under their loads: a load is stopped and goes on where it was.

Only the processes that send are stopped. Their server answers what it has and is idle then, so that the next one has
the processor for itself. After it has gone on, a load waits until as many requests are answered as there are
connections: those that were under way when it stopped are none of the measured ones.
"""

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from poolpilot.pipelines.bench.serving.usage import ProcessUsage

POLL_S = 0.02
IDLE_SHARE = 0.5
"""A server that uses less of a processor than this while its load stands still has answered everything."""
PATIENCE_S = 5.0


@dataclass(frozen=True)
class LoadSwitch:
    """See the head of this file.

    Attributes:
        server: Process id of the server.
        senders: Process ids of its load.
        connections: Connections that the load has.
        completed: Requests answered so far; called while the load runs.
    """

    server: int
    senders: Sequence[int]
    connections: int
    completed: Callable[[], int]

    def stop(self) -> None:
        """Stops the load and waits until the server is idle."""
        for pid in self.senders:
            os.kill(pid, signal.SIGSTOP)
        deadline_s = time.monotonic() + PATIENCE_S
        busy = True
        while busy and time.monotonic() < deadline_s:
            before_s = ProcessUsage.of(self.server).cpu_s
            time.sleep(POLL_S)
            busy = ProcessUsage.of(self.server).cpu_s - before_s >= IDLE_SHARE * POLL_S

    def go_on(self) -> None:
        """Lets the load go on, until every connection has had an answer."""
        self.release()
        deadline_s = time.monotonic() + PATIENCE_S
        enough = self.completed() + self.connections
        while self.completed() < enough and time.monotonic() < deadline_s:
            time.sleep(POLL_S)

    def release(self) -> None:
        """Lets the load go on, to be ended."""
        for pid in self.senders:
            os.kill(pid, signal.SIGCONT)
