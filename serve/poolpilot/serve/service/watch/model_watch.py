"""Follows the folder that the models were loaded from: where another model lies there, all is loaded as by SIGHUP."""

import threading
from collections.abc import Callable
from pathlib import Path


class ModelWatch:
    """Checks every so many seconds whether another model lies where the service was told to load one.

    One that is still being copied is left alone: it is loaded once two checks in a row have seen the same. One that
    cannot be loaded is not tried again before something of it has changed, so that nobody loads in vain for ever.

    Args:
        folder: The folder, or a link to it; to be made before that is loaded. Nothing is checked if None.
        every_s: Seconds between two checks; 0 never checks.
    """

    def __init__(self, folder: Path | None, every_s: float) -> None:
        self._folder = folder if every_s > 0.0 else None
        self._every_s = every_s
        self._loaded = self._latest = _seen_in(self._folder)
        self._over = threading.Event()

    def begin(self, renew: Callable[[], None]) -> None:
        """Checks from now on, in a thread of its own.

        Args:
            renew: Loads everything again; where that fails it says so itself.
        """
        if self._folder is not None:
            threading.Thread(target=self._run, args=(renew,), daemon=True, name="model-watch").start()

    def end(self) -> None:
        """Checks no more."""
        self._over.set()

    def check(self, renew: Callable[[], None]) -> None:
        """Checks once; see `begin`."""
        seen = _seen_in(self._folder)
        copied, self._latest = seen == self._latest, seen
        if not seen or not copied or seen == self._loaded:
            return
        self._loaded = seen
        renew()

    def _run(self, renew: Callable[[], None]) -> None:
        while not self._over.wait(self._every_s):
            self.check(renew)


def _seen_in(folder: Path | None) -> tuple[object, ...]:
    """What tells models apart without reading them: where a link leads, and the files there; nothing if it is gone."""
    if folder is None:
        return ()
    try:
        place = folder.resolve(strict=True)
        found = [(path, path.stat()) for path in sorted(place.rglob("*"))]
    except (OSError, RuntimeError):  # Python below 3.13 tells a loop of links by the latter
        return ()
    return (place, *((path, state.st_ino, state.st_size, state.st_mtime_ns) for path, state in found))
