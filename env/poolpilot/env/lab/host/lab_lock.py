"""A test server's folder, which one program at a time may use."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from poolpilot.env.lab.host.folder import LabFolder
from poolpilot.errors import ServerError, TakenLabError


def make_lab_folder(places: LabFolder) -> None:
    """Makes the folder; one that is there stays.

    Raises:
        ServerError: It cannot be made.
    """
    try:
        places.top.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise ServerError(f"the test server cannot be in {places.top}: that is a file; name a folder") from error
    except OSError as error:
        raise ServerError(f"cannot make the folder {places.top}: {error.strerror}; name another one") from error


@contextmanager
def locked_lab(places: LabFolder) -> Iterator[None]:
    """Keeps other programs out for the duration of the block; the lock ends with this process, however that ends.

    Raises:
        TakenLabError: Another program uses the test server.
        ServerError: The folder cannot be made or written to.
    """
    make_lab_folder(places)
    try:
        file = places.lock.open("w")
    except OSError as error:
        raise ServerError(f"cannot write to the folder {places.top}: {error.strerror}; name one of your own") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TakenLabError(f"another program uses the test server in {places.top}; name another folder") from error
        except OSError as error:
            raise ServerError(
                f"the folder {places.top} cannot be locked: {error.strerror}; name another one"
            ) from error
        yield
