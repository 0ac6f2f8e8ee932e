"""Ctrl-C, SIGTERM and SIGHUP that wait for a good moment, so that what a command has set can be restored.

Three places decide what a signal does. Within `held` it waits for the end of the block: a statement to a server is
never cut in two. Outside, within the innermost patient `Interrupts`, the first one waits for `check`, such as the end
of a window. Everything else raises KeyboardInterrupt at once. Only the main thread receives signals, so only its blocks
count. Before a command begins and once it is over, a signal ends the program where it is (`leave_at_once`).
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn, Self

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals by which a user, a supervisor or a closed terminal ends a program."""

EXIT_CODE = 130
"""What a program exits with that one of them has ended."""


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # it may be in the middle of a write, or its reader gone
            stream.flush()
    os._exit(EXIT_CODE)


FREE = (signal.SIG_DFL, signal.default_int_handler, _leave)
"""Handlers that no caller has put there: only these are replaced."""


def leave_at_once() -> None:
    """From now on the three signals end the program with `EXIT_CODE`: nothing is there yet that would be restored.

    For a program's first line. What a signal raises in the middle of an import may be caught there, or be told as a
    traceback. While the interpreter is taken down the program is over, and its exit code is what it came to.
    """
    for number in ENDING:
        if signal.getsignal(number) in FREE:
            signal.signal(number, _leave)
            atexit.register(signal.signal, number, signal.SIG_IGN)


class Interrupts:
    """Within its block the three signals raise KeyboardInterrupt; where it is patient, the first waits for `check`.

    Outside the main thread, or for a signal that is ignored or handled by somebody else, it changes nothing.

    Args:
        patient: Whether the first signal waits for `check`; a second does not.
    """

    def __init__(self, *, patient: bool = True) -> None:
        self._patient = patient
        self._asked: int | None = None
        self._before: dict[signal.Signals, Any] = {}

    @property
    def asked(self) -> bool:
        """Whether a signal waits for `check`."""
        return self._asked is not None

    def check(self) -> None:
        """Ends the block if a signal has come.

        Raises:
            KeyboardInterrupt: It has.
        """
        if self._asked is not None:
            raise KeyboardInterrupt(signal.Signals(self._asked).name)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            _blocks.append(self)
            handlers = {number: signal.getsignal(number) for number in ENDING}
            self._before = {number: handler for number, handler in handlers.items() if handler in FREE}
        for number in self._before:
            signal.signal(number, _receive)
        return self

    def __exit__(self, *_: object) -> None:
        if self in _blocks:
            _blocks.remove(self)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take(self, number: int) -> None:
        if not self._patient or self._asked is not None:
            raise KeyboardInterrupt(signal.Signals(number).name)
        self._asked = number


@contextmanager
def held() -> Iterator[None]:
    """A signal that comes within the block is felt at its end; of several, the first.

    Raises:
        KeyboardInterrupt: One came.
    """
    global _holds, _waiting
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _holds += 1
    try:
        yield
    finally:
        _holds -= 1
        if _holds == 0 and (number := _waiting) is not None:
            _waiting = None
            _feel(number)


_blocks: list[Interrupts] = []
_holds = 0
_waiting: int | None = None


def _receive(number: int, _frame: FrameType | None) -> None:
    global _waiting
    if _holds:
        _waiting = number if _waiting is None else _waiting
    else:
        _feel(number)


def _feel(number: int) -> None:
    if not _blocks:  # the last one has ended within `held`
        raise KeyboardInterrupt(signal.Signals(number).name)
    _blocks[-1]._take(number)
