"""A clean stop: the first Ctrl-C or a spent time budget ends after the window being measured."""

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any, Self


class Stopped(Exception):
    """Raised between two windows; everything measured so far is kept."""


class StopRequest:
    """Turns SIGINT and SIGTERM into a request that is honoured between two windows; a second SIGINT ends at once.

    Args:
        budget_s: Seconds after which a stop is requested by itself; None is no limit.
    """

    def __init__(self, budget_s: float | None = None) -> None:
        self._ends_s = None if budget_s is None else time.monotonic() + budget_s
        self._signalled = False
        self._before: dict[signal.Signals, Any] = {}

    @property
    def reason(self) -> str | None:
        """Why to stop, in words; None while there is no reason."""
        if self._signalled:
            return "interrupted"
        if self._ends_s is not None and time.monotonic() >= self._ends_s:
            return "the time budget is spent"
        return None

    def check(self) -> None:
        """Ends the work in hand if a stop is requested.

        Raises:
            Stopped: It is.
        """
        if self.reason is not None:
            raise Stopped(self.reason)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for one in (signal.SIGINT, signal.SIGTERM):
                self._before[one] = signal.signal(one, self._request)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)

    def _request(self, _number: int, _frame: FrameType | None) -> None:
        if self._signalled:
            raise KeyboardInterrupt
        self._signalled = True
