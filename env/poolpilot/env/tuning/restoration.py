"""What a command found on a server comes back when the command is done, however that ends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from rich.console import Console

from poolpilot.env.interrupts import Interrupts, held
from poolpilot.env.server import Tunable
from poolpilot.errors import NotBroughtBackError, ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple

Say = Callable[[str], None]
"""Shows a sentence to the user."""


class Restoration(Protocol):
    """How a server gets back to where it was."""

    def begin(self, command: str, say: Say) -> PoolTuple:
        """Takes note of the tuple in force, before anything is set, and returns it.

        Args:
            command: Which command asks, such as "climb".
            say: Shows what an earlier command has left.

        Raises:
            PoolPilotError: Nothing may be set; the text says why.
        """

    def commit(self, pool_tuple: PoolTuple) -> None:
        """Takes the tuple in force for the one that comes back from now on; nothing where nothing had begun.

        Raises:
            JournalError: That cannot be noted, so that nothing more may be set.
        """

    def return_to(self, pool_tuple: PoolTuple) -> None:
        """Takes a tuple that need not be in force for the one that comes back; nothing where nothing had begun.

        Raises:
            JournalError: That cannot be noted; it comes back all the same, unless this process dies before.
        """

    def reach_again(self) -> bool:
        """Opens a lost connection again, once; returns whether the server was restarted meanwhile.

        What a restarted server has in force is what comes back from now on. Where nothing had begun, it is only opened.

        Raises:
            ServerError: It cannot be reached.
        """

    def bring_back(self, say: Say) -> str:
        """Brings that tuple back, and returns what is in force, in a sentence; none where nothing had begun.

        Raises:
            ServerError: It could not be done; the text says what is in force and how to bring it back by hand.
        """

    def keep(self) -> str:
        """Leaves what is in force, and returns it, in a sentence."""

    def close(self) -> None:
        """Lets others at the server."""


@contextmanager
def restoring(restoration: Restoration, command: str, console: Console, *, keep: bool = False) -> Iterator[PoolTuple]:
    """Gives the initial configuration, and brings it back at the end: a good one, an error, or a signal.

    Ctrl-C, SIGTERM and SIGHUP end the block between two statements; while the tuple is brought back they wait.

    Args:
        restoration: How the server gets back.
        command: Which command asks, such as "climb".
        console: Where it is said what is in force at the end.
        keep: Whether what is in force at a good end stays; after an error the initial one returns all the same.

    Raises:
        NotBroughtBackError: It could not be restored; the text says what is in force.
        PoolPilotError: Nothing may be set.
    """

    def say(sentence: str) -> None:
        with suppress(OSError):  # a terminal that is gone must not keep the server from going back
            if sentence:
                console.print(sentence, soft_wrap=True, markup=False, highlight=False)

    try:
        with Interrupts(patient=False):
            try:
                yield restoration.begin(command, say)
            except BaseException:
                _return(restoration, say)
                raise
            if not keep:
                return _return(restoration, say)
            with held():
                say(restoration.keep())
    finally:
        restoration.close()


def _return(restoration: Restoration, say: Say) -> None:
    """Restores, and says what is in force.

    Raises:
        NotBroughtBackError: It could not be gone, which is told apart from what the work met, and told even where a
            signal has come meanwhile: nobody else knows what is in force.
        KeyboardInterrupt: A signal has come, and it is restored.
    """
    failure: ServerError | None = None
    try:
        with held():
            try:
                say(restoration.bring_back(say))
            except ServerError as error:
                failure = error
    except KeyboardInterrupt:
        if failure is None:
            raise
    if failure is not None:
        raise NotBroughtBackError(str(failure)) from failure


class ApplyFirst:
    """The restoration of a server in this process, which ends with it: nothing outlives it, and nobody else is there.

    Args:
        server: The server.
    """

    def __init__(self, server: Tunable) -> None:
        self._server = server
        self._first: PoolTuple | None = None

    def begin(self, command: str, say: Say) -> PoolTuple:  # noqa: ARG002
        """See `Restoration.begin`."""
        self._first = self._server.tuple_in_force()
        return self._first

    def commit(self, pool_tuple: PoolTuple) -> None:
        """See `Restoration.commit`."""
        self._first = pool_tuple

    def return_to(self, pool_tuple: PoolTuple) -> None:
        """See `Restoration.return_to`."""
        self._first = pool_tuple

    def reach_again(self) -> bool:
        """See `Restoration.reach_again`; what ended within this process cannot be reached again."""
        raise ServerError("a server in this process has ended: start it again")

    def bring_back(self, say: Say) -> str:  # noqa: ARG002
        """See `Restoration.bring_back`."""
        if self._first is None:
            return ""
        try:
            self._server.apply(self._first)
        except ServerError as error:
            raise ServerError(
                f"the initial configuration, {self._first}, could not be brought back: {error}"
            ) from error
        return self.keep()

    def keep(self) -> str:
        """See `Restoration.keep`."""
        return f"In force now: {self._server.tuple_in_force()}."

    def close(self) -> None:
        """See `Restoration.close`."""
