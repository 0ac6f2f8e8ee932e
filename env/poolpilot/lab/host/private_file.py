"""Files that their owner alone may read: passwords, and what is written where another account may write too."""

import os
from pathlib import Path


def write_private(path: Path, text: str, owner: tuple[int, int] = (-1, -1)) -> None:
    """Writes a new file of mode 0600; one that is there is replaced, and a link that is there is not followed.

    Args:
        path: The file.
        text: What it shall hold.
        owner: User and group id that it is given to; -1 leaves them.
    """
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w") as file:
        os.fchown(descriptor, *owner)
        file.write(text)
