"""Whether a folder can be written; tried where it is missing, since rights do not tell what a file system takes."""

import os
import tempfile
from pathlib import Path


def can_be_written(folder: Path) -> bool:
    """Whether a folder can be written, or made where it is missing; not where it cannot be looked at.

    A missing one is not made itself, since a tuner that starts meanwhile would lose it again: another one is, beside
    the first folder that is missing.
    """
    try:
        nearest = next(place for place in (folder, *folder.parents) if place.is_symlink() or place.exists())
        if not (nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)):
            return False
        if nearest != folder:
            _keep_something(nearest)
    except OSError:
        return False
    return True


def _keep_something(place: Path) -> None:
    """Makes a folder with a file in it, and removes both."""
    made = Path(tempfile.mkdtemp(prefix=".poolpilot-", dir=place))
    try:
        with tempfile.TemporaryFile(dir=made):
            pass
    finally:
        made.rmdir()
