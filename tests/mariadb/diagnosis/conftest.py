"""A server of which a test says what it answers, facts that a test makes up, and clients of a real server."""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from poolpilot.errors import ServerError
from poolpilot.lab.instance import Lab
from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.pool_limits import PoolLimits
from poolpilot.mariadb.diagnosis.pool_reading import PoolReading, QueuedRequest, ThreadGroup
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.session import Session

Rows = Sequence[tuple[Any, ...]]


class ScriptedSession(Session):
    """Answers a statement by the first of its texts that the statement contains; refuses what has no answer.

    Args:
        answers: Part of a statement to its rows; for `named_rows` the first row holds the names.
    """

    def __init__(self, answers: Mapping[str, Rows]) -> None:
        self.answers = dict(answers)
        self.where = "db1:3307"
        self.asked: list[str] = []
        self.sent = Counter()
        self._extra = True

    def _answer(self, statement: str, values: Sequence[object] = ()) -> tuple[list[str], list[tuple[Any, ...]]]:
        assert not values, "nothing here is asked with values"
        self.asked.append(statement)
        for part, rows in self.answers.items():
            if part in statement:
                return (list(rows[0]), list(rows[1:])) if part.startswith("SHOW") else ([], list(rows))
        raise ServerError(f"{self.where} refuses a statement")


SPAN_S = 2.0
STOCK = PoolLimits(size=2, oversubscribe=3, stall_limit_ms=500, most_threads=65_536)
SMALL = PoolLimits(size=1, oversubscribe=1, stall_limit_ms=500, most_threads=4)
SAMPLES = 20


def group(
    number: int = 0, *, threads: int = 4, active: int = 1, standby: int = 1, queued: int = 0, listens: bool = True
) -> ThreadGroup:
    """A group that has taken nothing up yet."""
    return ThreadGroup(number, 8, threads, active, standby, queued, listens, 0)


def facts_of(
    *groups: ThreadGroup,
    dequeued: int = 1000,
    queue: Sequence[QueuedRequest] = (),
    server_share: float | None = 0.3,
    idle_cpus: float = 1.0,
    row_waits: int = 0,
    unread: int = 0,
    limits: PoolLimits = STOCK,
    **further: Any,
) -> Facts:
    """What two looks at these groups saw, each of which took up `dequeued` requests in between.

    Args:
        groups: The groups, the same at both looks; two at ease if none is given.
        dequeued: Requests that each of them took up.
        queue: Queued requests at the second look.
        server_share: Share of its two processors that the server used; None where it runs on another host.
        idle_cpus: Processors of its machine that were idle.
        row_waits: Transactions that waited for a row at both looks.
        unread: Clients whose request nobody read.
        limits: What the pool may do.
        further: Other fields of `Facts`.
    """
    shown = groups or (group(0), group(1))
    is_here = server_share is not None
    looks = [
        PoolReading(
            100.0 + SPAN_S * number / SAMPLES,
            tuple(replace(one, dequeued=dequeued * number // SAMPLES) for one in shown),
            row_waits=row_waits,
            connected=sum(one.connections for one in shown),
            cpu_us=None if server_share is None else server_share * 2 * SPAN_S * 1e6 * number / SAMPLES,
            idle_us=idle_cpus * SPAN_S * 1e6 * number / SAMPLES if is_here else None,
            unread=frozenset(f"0100007F:{port:04X}" for port in range(unread)),
        )
        for number in range(SAMPLES + 1)
    ]
    return Facts(looks[0], replace(looks[-1], queue=tuple(queue)), tuple(looks[1:-1]), limits, cpus=2, **further)


PATIENCE_S = 60.0
SEER = "seer"
"""An account with PROCESS that comes in by the extra port."""


def until(is_so: Callable[[], bool]) -> None:
    """Waits until something is so; fails where it does not come to be."""
    ends_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < ends_s, "what the test waits for has not come to be"
        time.sleep(0.02)


class Clients:
    """Sessions of clients of a test server, each of which can be left waiting for an answer; all end with the block.

    Args:
        lab: The server.

    Attributes:
        seen_by: A session on the extra port, with PROCESS, which looks and sets for the test.
        file: Defaults file of that account.
    """

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self._sessions: list[Session] = []
        self._threads: list[threading.Thread] = []
        self._ended = threading.Event()
        self.file = _seers_file(lab)
        account = Dsn(defaults_file=self.file).account()
        self.seen_by = Session(account, account.extra_port)

    def session(self, *statements: str) -> Session:
        """A client that has sent these statements and has their answers."""
        opened = Session(self.lab.root)
        self._sessions.append(opened)
        for statement in statements:
            opened.execute(statement)
        return opened

    def send(self, session: Session, *statements: str) -> threading.Thread:
        """Sends statements and does not wait for their answers."""
        return self._begin(lambda: self._once(session, statements))

    def keep_sending(self, session: Session, rest_s: float, *statements: str) -> threading.Thread:
        """Sends statements again and again, with a rest after each round."""

        def send() -> None:
            while not self._ended.wait(rest_s):
                self._once(session, statements)

        return self._begin(send)

    def waiting(self, state: str) -> int:
        """How many sessions wait in a state, as the process list calls it."""
        query = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = %s"
        return int(self.seen_by.row(query, (state,))[0])

    def row_waits(self) -> int:
        """How many transactions wait for a row."""
        return int(self.seen_by.row("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        for session in self._sessions:
            with contextlib.suppress(ServerError):
                self.seen_by.execute(f"KILL {session.connection_id}")
        for thread in self._threads:
            thread.join()
        for session in self._sessions:
            session.close()
        self.seen_by.close()

    def _begin(self, work: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=work)
        self._threads.append(thread)
        thread.start()
        return thread

    def _once(self, session: Session, statements: Sequence[str]) -> None:
        with contextlib.suppress(ServerError):
            for statement in statements:
                session.execute(statement)


def _seers_file(lab: Lab) -> Path:
    """The defaults file of an account that may see everything and end sessions; made where there is none."""
    file, running = lab.folder / "seer.cnf", lab.running()
    assert running is not None
    if not file.exists():
        with Session(lab.root) as session:
            session.execute(f"CREATE OR REPLACE USER {SEER}@'127.0.0.1' IDENTIFIED BY 'of-a-test'")
            rights = "PROCESS, CONNECTION ADMIN, REPLICA MONITOR"
            session.execute(f"GRANT {rights} ON *.* TO {SEER}@'127.0.0.1'")
        file.touch(0o600)
        file.write_text(
            f"[client]\nuser={SEER}\npassword=of-a-test\nhost=127.0.0.1\nport={running.port}\n"
            f"[poolpilot]\nextra-port={running.extra_port}\n"
        )
    return file
