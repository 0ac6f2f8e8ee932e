"""The sessions of a server as its process list shows them."""

import re
from dataclasses import dataclass

from poolpilot.mariadb.diagnosis.statement_kind import backs_up, changes_tables, kind_of
from poolpilot.mariadb.diagnosis.table_use import TableUse, table_use
from poolpilot.mariadb.session import Session
from poolpilot.mariadb.tuner_lock import OWN, OWN_HOST

BACKUP_LOCK = "Waiting for backup lock"
"""The state of a session that FLUSH TABLES WITH READ LOCK or a stage of a backup holds off, from MariaDB 10.4 on."""

READ_LOCKS = (BACKUP_LOCK, "Waiting for global read lock", "Waiting for commit lock")
TABLE_LOCKS = ("Waiting for table level lock", "Waiting for table flush")
USER_LOCK = "User lock"
LONGEST_TEXT = 1000
"""Characters of a statement that are read: enough to tell its kind behind a comment."""

OF_THE_SERVER = ("Daemon", "Binlog Dump", "Slave_IO", "Slave_SQL", "Slave_worker")
"""Commands of sessions that no client holds, and that no thread of the pool serves."""

COLUMNS = f"ID, USER, HOST, COMMAND, TIME_MS / 1000, STATE, LEFT(INFO, {LONGEST_TEXT}), QUERY_ID, DB"
SESSIONS_QUERY = f"SELECT {COLUMNS} FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()"
GRANT_ON_ALL = re.compile(r"GRANT (?P<privileges>.+?) ON \*\.\* TO ")
REPLICATES = "system user"
"""The user of threads that carry out what other servers have done; those of Galera sleep, by the list, at work too."""

BUSY_QUERY = f"{SESSIONS_QUERY} AND (COMMAND <> 'Sleep' OR USER = '{REPLICATES}') AND INFO IS NOT NULL"


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session other than ours.

    Attributes:
        number: What KILL takes.
        account: Its account, as user@host.
        command: What it does in the protocol: Query, Execute, Sleep.
        since_s: For how long it has been doing that, in seconds.
        state: What its statement does or waits for, in the server's words.
        text: Its statement, cut off; None where it has none. Never to be shown.
        query: Number of its present or last statement; those that began later have greater ones.
        schema: Its default database; empty where it has none.
    """

    number: int
    account: str
    command: str
    since_s: float
    state: str = ""
    text: str | None = None
    query: int = 0
    schema: str = ""

    @property
    def kind(self) -> str:
        """The kind of its statement, such as `ALTER TABLE`; empty while it has none."""
        return kind_of(self.text)

    @property
    def is_idle(self) -> bool:
        """Whether it waits for its client."""
        return self.command == "Sleep"

    @property
    def of_a_client(self) -> bool:
        """Whether a client holds it, and not the server itself."""
        return self.command not in OF_THE_SERVER and self.account.rpartition("@")[0] != REPLICATES

    @property
    def waits_for_metadata(self) -> bool:
        """Whether it waits for the lock of a table's definition, or of another object's."""
        return self.state.endswith("metadata lock")

    @property
    def waits_for_table(self) -> bool:
        """Whether it waits for a whole table that another statement uses: its lock, or its end of use."""
        return self.state in TABLE_LOCKS

    @property
    def waits_for_read_lock(self) -> bool:
        """Whether it is held off by a lock on all tables."""
        return self.state in READ_LOCKS

    @property
    def waits_for_user_lock(self) -> bool:
        """Whether it waits in GET_LOCK."""
        return self.state == USER_LOCK

    @property
    def use(self) -> TableUse:
        """Which tables its statement uses, and how."""
        return table_use(self.text, self.schema)

    @property
    def is_whole(self) -> bool:
        """Whether all of its statement has been read."""
        return len(self.text or "") < LONGEST_TEXT

    @property
    def changes_tables(self) -> bool:
        """Whether its statement changes or rebuilds a table that others use."""
        return changes_tables(self.text)

    @property
    def locks_all(self) -> bool:
        """Whether its statement takes a lock on all tables, as those of a backup do that do not only read."""
        return self.backs_up and self.kind.startswith(("BACKUP", "FLUSH"))

    @property
    def backs_up(self) -> bool:
        """Whether its statement belongs to a backup."""
        return backs_up(self.text)

    def __str__(self) -> str:
        """Who it is, for messages."""
        return f"session {self.number} of {self.account}"


def read_sessions(session: Session, *, busy: bool = False) -> tuple[ListedSession, ...]:
    """Reads the sessions that the account may see: with PROCESS all, else its own.

    Args:
        session: Where to ask.
        busy: Only those that run a statement.

    Raises:
        LostServerError: The server is gone.
    """
    return tuple(
        ListedSession(
            number=int(number),
            account=f"{user}@{_without_port(str(host))}",
            command=str(command),
            since_s=max(float(since_s or 0.0), 0.0),
            state=str(state or ""),
            text=None if text is None else str(text),
            query=int(query or 0),
            schema=str(schema or ""),
        )
        for number, user, host, command, since_s, state, text, query, schema in session.rows(
            BUSY_QUERY if busy else SESSIONS_QUERY
        )
    )


def sees_all(session: Session) -> bool:
    """Whether the account may see the sessions of others: whether it has PROCESS, itself or by a role.

    Raises:
        LostServerError: The server is gone.
    """
    granted = [GRANT_ON_ALL.match(str(grant)) for (grant,) in session.rows("SHOW GRANTS")]
    privileges = {one for match in granted if match for one in match["privileges"].split(", ")}
    return bool(privileges & {"PROCESS", "ALL PRIVILEGES"})


def hidden_sessions(session: Session) -> tuple[str, ...]:
    """What an account without PROCESS does not see, and the statement that shows it, as a sentence; else nothing.

    Raises:
        LostServerError: The server is gone.
    """
    if sees_all(session):
        return ()
    return (
        "other accounts' sessions, transactions and locks cannot be seen without PROCESS: "
        f"GRANT PROCESS ON *.* TO {quoted_account(session)};",
    )


def quoted_account(session: Session) -> str:
    """The account of a session, as a statement names it.

    Raises:
        LostServerError: The server is gone.
    """
    (account,) = session.row(f"SELECT CONCAT('`', REPLACE({OWN}, '`', '``'), '`@`', {OWN_HOST}, '`')")
    return str(account)


def _without_port(host: str) -> str:
    """The host of a client as the server lists it, with its port; of IPv6 without brackets, and of a socket alone."""
    return host.rpartition(":")[0] or host
