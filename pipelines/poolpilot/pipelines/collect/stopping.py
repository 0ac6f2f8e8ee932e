"""A clean stop: the first Ctrl-C or a spent time budget ends after the window being measured."""

import time

from poolpilot.env.interrupts import Interrupts


class Stopped(Exception):
    """Raised between two windows; everything measured so far is kept."""


class StopRequest(Interrupts):
    """Interrupts, or a spent time budget, that are honoured between two windows; a second signal ends at once.

    Args:
        budget_s: Seconds after which a stop is requested by itself; None is no limit.
    """

    def __init__(self, budget_s: float | None = None) -> None:
        super().__init__()
        self._ends_s = None if budget_s is None else time.monotonic() + budget_s

    @property
    def reason(self) -> str | None:
        """Why to stop, in words; None while there is no reason."""
        if self.asked:
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
