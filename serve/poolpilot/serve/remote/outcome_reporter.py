"""Tells a service what became of its predictions; what it cannot be told at once is sent again under the same name."""

import queue
import re
import threading
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import PoolPilotError, RefusedForGoodError
from poolpilot.models.body import REQUEST, as_body
from poolpilot.serve.remote.remote_predictor import DIGEST
from poolpilot.serve.tuner.tried import Tried

MOST_WAITING = 64
LONGEST_SERVER = 128
AGAIN_AFTER_S = 30.0


class Receiver(Protocol):
    """What takes reports: a service, or what stands in its place."""

    def post(self, path: str, body: object, /) -> Any:
        """Takes a report; see `ServiceLink.post`."""


@dataclass(frozen=True)
class Reporting:
    """About which server is reported.

    Attributes:
        server: What it is called.
        limits: Its knobs and their ranges.
        objective: What counts on it.
    """

    server: str
    limits: KnobSpace
    objective: Objective


class OutcomeReporter:
    """Sends what became of trials from a thread of its own, so that no window waits for the service.

    Args:
        receiver: The way to the service.
        about: The server that is tuned.
        again_after_s: Seconds before what could not be sent is sent again.

    Attributes:
        lost: Reports that were dropped: too many waited, the service never takes such ones, or the end came first.
        told: Reports that the service has acknowledged.
        unanswered: Whether the end has come while one was on its way, which may have arrived or not.
        last_error: Why the last one was not acknowledged; empty where all were.
    """

    def __init__(self, receiver: Receiver, about: Reporting, again_after_s: float = AGAIN_AFTER_S) -> None:
        self._receiver, self._about, self._again_after_s = receiver, about, again_after_s
        self._session = uuid.uuid4().hex[:16]
        self._number = 0
        self._waiting: queue.Queue[dict[str, Any] | None] = queue.Queue(MOST_WAITING)
        self._ending = threading.Event()
        self.lost, self.told, self.last_error, self.unanswered = 0, 0, "", False
        self._thread = threading.Thread(target=self._run, daemon=True, name="outcomes")
        self._thread.start()

    def report(self, tried: Tried) -> None:
        """Reports a trial, where a model had asked for it; a report too many takes the place of the oldest."""
        if DIGEST.fullmatch(tried.model_digest) is None:
            return
        try:
            body = self._body(tried)
        except PoolPilotError:
            self.lost += 1
            return
        while True:
            try:
                return self._waiting.put_nowait(body)
            except queue.Full:
                self._drop_oldest()

    def close(self, within_s: float = 5.0) -> None:
        """Sends what waits, as far as the time allows."""
        self._ending.set()
        try:
            self._waiting.put(None, timeout=within_s)
            self._thread.join(within_s)
        except queue.Full:
            pass
        self.unanswered = self._thread.is_alive()
        self._drop_the_rest()

    def _body(self, tried: Tried) -> dict[str, Any]:
        self._number += 1
        return {
            "id": f"{self._session}:{self._number}",
            "server_id": re.sub(r"[\x00-\x1f\x7f]", " ", self._about.server)[:LONGEST_SERVER] or "server",
            "propensity": 1,
            "model_digest": tried.model_digest,
            "verdict": "kept" if tried.kept else "rolled back",
            REQUEST: as_body([tried.before, tried.after], self._about.limits, self._about.objective),
        }

    def _drop_oldest(self) -> None:
        try:
            self._waiting.get_nowait()
            self.lost += 1
        except queue.Empty:
            return

    def _drop_the_rest(self) -> None:
        """Counts what no time was left for; the thread, should it still wait for an answer, ends after that."""
        with suppress(queue.Empty):
            while True:
                self.lost += self._waiting.get_nowait() is not None
        self._waiting.put(None)

    def _run(self) -> None:
        while (body := self._waiting.get()) is not None:
            while not self._sent(body):
                if self._ending.wait(self._again_after_s):
                    self.lost += 0 if self._sent(body) else 1
                    break

    def _sent(self, body: dict[str, Any]) -> bool:
        """Whether a report is over: acknowledged, as one that was there before is, or refused for good."""
        try:
            self._receiver.post("/v1/outcomes", body)
        except RefusedForGoodError as error:
            self.last_error = str(error)
            self.lost += 1
            return True
        except PoolPilotError as error:
            self.last_error = str(error)
            return False
        self.told += 1
        return True
