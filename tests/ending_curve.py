"""A curve that ends with an error in the middle of a command."""

from typing import Any

from poolpilot.env.backends.curve import CurveServer


class EndingCurve(CurveServer):
    """Ends with an error after 20 windows of a climb or a search; `last` is the one made last."""

    error: BaseException = KeyboardInterrupt()
    runs = 20 + 3  # rest, settle and the window before
    last: "EndingCurve"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        EndingCurve.last = self
        self.first = self.tuple_in_force()

    def run_for(self, seconds: float) -> None:
        self.runs -= 1
        if self.runs < 0:
            raise self.error
        super().run_for(seconds)
