"""What a command found on a server comes back when it is done."""

from collections.abc import Iterator
from contextlib import contextmanager

from poolpilot.env.server import Tunable
from poolpilot.featurizer.errors import LostServerError, ServerError, TupleChangedError
from poolpilot.featurizer.pool_tuple import PoolTuple


@contextmanager
def restoring(server: Tunable, *, keep: bool = False) -> Iterator[PoolTuple]:
    """Gives the tuple at the start, and brings it back at the end unless somebody else has set one meanwhile.

    Args:
        server: The server.
        keep: Whether what is in force at a good end stays; after an error the first tuple returns all the same.

    Raises:
        ServerError: The server is gone, or somebody else has set a tuple, which is left alone.
    """
    first = server.tuple_in_force()
    try:
        yield first
    except (LostServerError, TupleChangedError):
        raise
    except BaseException:
        _bring_back(server, first)
        raise
    if not keep:
        _bring_back(server, first)


def _bring_back(server: Tunable, first: PoolTuple) -> None:
    try:
        server.apply(first)
    except ServerError as error:
        raise ServerError(f"the tuple at the start, {first}, could not be brought back: {error}") from error
