"""Ctrl-C that waits for a good moment."""

import signal
import threading
from types import FrameType
from typing import Self


class Interrupts:
    """Within its block Ctrl-C waits for `check`, so that no statement to a server is cut in two; a second does not.

    Outside the main thread, or where Ctrl-C is ignored or handled by somebody else, it changes nothing.
    """

    def __init__(self) -> None:
        self._asked = False
        self._ours = False

    def check(self) -> None:
        """Ends the block if Ctrl-C was pressed.

        Raises:
            KeyboardInterrupt: It was.
        """
        if self._asked:
            raise KeyboardInterrupt

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._ours:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
