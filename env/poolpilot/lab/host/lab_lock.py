"""A test server's folder, which one program at a time may use."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from poolpilot.durability.folder_lock import lock_folder
from poolpilot.errors import ServerError, StoreError, TakenFolderError, TakenLabError
from poolpilot.lab.host.folder import LabFolder


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
        ServerError: The folder cannot be made, written to or locked.
    """
    make_lab_folder(places)
    try:
        descriptor = lock_folder(places.top, "uses the test server", name=places.lock.name)
    except TakenFolderError as error:
        raise TakenLabError(f"another program uses the test server in {places.top}; name another folder") from error
    except StoreError as error:
        raise ServerError(str(error)) from error
    try:
        yield
    finally:
        os.close(descriptor)
