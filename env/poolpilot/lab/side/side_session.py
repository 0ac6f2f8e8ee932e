"""The session that does a side job on a test server, in a thread of its own, until it is stopped."""

import threading
from contextlib import suppress

from poolpilot.errors import LostServerError, ServerError
from poolpilot.lab.side.side_job import STATEMENTS, SideJob, Statements
from poolpilot.mariadb.login.dsn import Account
from poolpilot.mariadb.login.failed_login import code_of
from poolpilot.mariadb.session import Session

WAIT_FOR_LOCKS_S = 5
"""Seconds that a statement waits for a lock; what is given up is tried again in the next cycle."""

GIVEN_UP = (1205, 1213)
"""Errors of a lock that could not be had: it was waited for too long, or the wait closed a circle (deadlock)."""

STOP_WITHIN_S = 15.0
"""More than one statement takes: a session gives up an answer after ten seconds."""


class SideSession:
    """Runs a side job again and again, through the pool, as an administrator's client would.

    Args:
        job: What it does.
        account: The administrator's.

    Raises:
        ServerError: The server cannot be reached.
    """

    def __init__(self, job: SideJob, account: Account) -> None:
        self.job = job
        self.done = 0
        """Cycles begun so far."""
        self._failed: ServerError | None = None
        self._stopped = threading.Event()
        self._session = Session(account)
        try:
            self._session.execute(f"SET SESSION lock_wait_timeout = {WAIT_FOR_LOCKS_S}")
        except ServerError:
            self._session.close()
            raise
        self._thread = threading.Thread(target=self._run, name="side-session", daemon=True)
        self._thread.start()

    @property
    def connection_id(self) -> int:
        """The server's number of its connection."""
        return self._session.connection_id

    def check(self) -> None:
        """Says what ended it.

        Raises:
            ServerError: It has ended.
        """
        if self._failed is not None:
            raise ServerError(f"the side job {self.job.kind} has stopped: {self._failed}")

    def stop(self) -> None:
        """Ends it and gives back what it holds; a second call does nothing."""
        self._stopped.set()
        self._thread.join(STOP_WITHIN_S)
        self._session.close()  # a lock that is still held goes with the connection

    def _run(self) -> None:
        statements = STATEMENTS[self.job.kind]
        try:
            while not self._stopped.wait(self.job.rest_s):
                self._once(statements)
        except ServerError as error:
            if not self._stopped.is_set():
                self._failed = error

    def _once(self, statements: Statements) -> None:
        """One cycle; a lock that could not be had in time costs that cycle only."""
        try:
            for statement in statements.begin:
                self._session.execute(statement)
            self.done += 1
            self._stopped.wait(self.job.hold_s)
        except LostServerError:
            raise
        except ServerError as error:
            if not isinstance(error.__cause__, Exception) or code_of(error.__cause__) not in GIVEN_UP:
                raise
        finally:
            for statement in statements.end:
                with suppress(ServerError):  # nothing is held where the begin was given up
                    self._session.execute(statement)
