"""Who waits for whose lock, as far as the server shows it: rows, definitions of tables, all tables, names of users."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from poolpilot.errors import LostServerError, ServerError
from poolpilot.mariadb.diagnosis.listed_session import ListedSession
from poolpilot.mariadb.diagnosis.table_use import Access
from poolpilot.mariadb.session import Session

TRANSACTIONS_QUERY = (
    "SELECT trx_id, trx_mysql_thread_id, TIMESTAMPDIFF(SECOND, trx_started, NOW()), "
    "TIMESTAMPDIFF(SECOND, trx_wait_started, NOW()), trx_lock_structs, trx_rows_modified "
    "FROM information_schema.INNODB_TRX"
)
ROW_WAITS_QUERY = "SELECT DISTINCT requesting_trx_id, blocking_trx_id FROM information_schema.INNODB_LOCK_WAITS"
ROW_TABLES_QUERY = "SELECT lock_trx_id, MIN(lock_table) FROM information_schema.INNODB_LOCKS GROUP BY lock_trx_id"

PLUGIN_QUERY = (
    "SELECT COUNT(*) FROM information_schema.PLUGINS "
    "WHERE PLUGIN_NAME = 'METADATA_LOCK_INFO' AND PLUGIN_STATUS = 'ACTIVE'"
)
LOCK_INFO_QUERY = (
    "SELECT THREAD_ID, LOCK_TYPE, LOCK_MODE, TABLE_SCHEMA, TABLE_NAME, 0 FROM information_schema.METADATA_LOCK_INFO"
)
INSTRUMENTED_QUERY = (
    "SELECT t.PROCESSLIST_ID, l.OBJECT_TYPE, l.LOCK_TYPE, l.OBJECT_SCHEMA, l.OBJECT_NAME, l.LOCK_STATUS = 'PENDING' "
    "FROM performance_schema.metadata_locks l "
    "JOIN performance_schema.threads t ON t.THREAD_ID = l.OWNER_THREAD_ID WHERE t.PROCESSLIST_ID <> CONNECTION_ID()"
)
INSTRUMENT_QUERY = (
    "SELECT COUNT(*) FROM performance_schema.setup_instruments "
    "WHERE NAME = 'wait/lock/metadata/sql/mdl' AND ENABLED = 'YES'"
)

OF_STATEMENTS = ("DML", "TRANS_DML", "SYS_DML", "DDL", "COMMIT", "ALTER_COPY")
"""Modes of the backup lock that statements take, each for itself; every other mode holds such statements off."""

HOLD_READERS_OFF = ("EXCLUSIVE", "SHARED_NO_READ_WRITE")
HOLD_WRITERS_OFF = ("SHARED_NO_WRITE", "SHARED_READ_ONLY")
"""Modes of locks on definitions by what cannot be had beside them (`m_granted_incompatible` of the server's source)."""

LOCKED_NAME = re.compile(r"GET_LOCK\s*\(\s*(['\"])(?P<name>[^'\"\\]+)\1", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction of InnoDB.

    Attributes:
        session: Its session; 0 where it is prepared and nobody has it.
        age_s: Since when it is open, in whole seconds.
        waits_s: Since when it waits for a lock; None where it does not.
        table: A table of which it holds or wants rows that somebody waits for; empty where nobody does.
        writes: Whether it has changed rows.
    """

    session: int
    age_s: int
    waits_s: int | None = None
    table: str = ""
    writes: bool = False


@dataclass(frozen=True, slots=True)
class RowWait:
    """A session that waits for rows which another one has locked, or wants before it."""

    waiter: int
    holder: int


@dataclass(frozen=True, slots=True)
class HeldLock:
    """A lock on the definition of a table, or on all tables.

    Attributes:
        session: Who has it, or wants it.
        mode: In which mode.
        table: `schema.table`; empty where it is on all tables.
        is_wanted: Whether the session still waits for it.
    """

    session: int
    mode: str
    table: str
    is_wanted: bool = False

    @property
    def holds_off(self) -> Access:
        """The least that it holds off: reading, and so everything; or writing; or a change of the table alone."""
        mode = self.mode.upper().removeprefix("MDL_")
        if mode in HOLD_READERS_OFF:
            return Access.READ
        return Access.WRITE if mode in HOLD_WRITERS_OFF else Access.CHANGE

    @property
    def holds_off_all(self) -> bool:
        """Whether it is the lock of FLUSH TABLES WITH READ LOCK, or of a stage of a backup."""
        mode = self.mode.upper().removeprefix("MDL_")
        return mode.startswith("BACKUP") and mode.removeprefix("BACKUP_") not in OF_STATEMENTS


@dataclass(frozen=True, slots=True)
class Locks:
    """All that was seen at one moment.

    Attributes:
        transactions: Open transactions of InnoDB.
        row_waits: Who waits for whose rows.
        held: Locks on definitions and on all tables; None where the server does not list them.
    """

    transactions: tuple[OpenTransaction, ...] = ()
    row_waits: frozenset[RowWait] = frozenset()
    held: tuple[HeldLock, ...] | None = None


def read_locks(session: Session) -> Locks:
    """Reads what the account may see; without PROCESS that is next to nothing.

    InnoDB keeps what it shows of its locks for as long as somebody reads it at least every 0.1 s, so that what is read
    right after another reader may be older.

    Raises:
        LostServerError: The server is gone.
    """
    rows = _seen(session, TRANSACTIONS_QUERY)
    if not rows:
        return Locks(held=read_held_locks(session))
    owner = _owners(rows)
    waits = _seen(session, ROW_WAITS_QUERY) if any(row[3] is not None for row in rows) else []
    tables = {str(trx): str(table) for trx, table in _seen(session, ROW_TABLES_QUERY)} if waits else {}
    return Locks(
        transactions=tuple(
            OpenTransaction(
                session=int(number or 0),
                age_s=int(age_s or 0),
                waits_s=None if waits_s is None else int(waits_s),
                table=tables.get(str(trx), "").replace("`", "").replace('"', ""),
                writes=bool(written),
            )
            for trx, number, age_s, waits_s, _, written in rows
        ),
        row_waits=frozenset(
            RowWait(owner[str(waiter)], owner[str(holder)])
            for waiter, holder in waits
            if str(waiter) in owner and str(holder) in owner
        ),
        held=read_held_locks(session),
    )


def _owners(rows: Sequence[tuple[Any, ...]]) -> Mapping[str, int]:
    """The session of each transaction, by the number that waits for locks name it by.

    Transactions that have neither written nor locked a row for that share the number 0. It stands for one of them only
    where no other one holds a lock; who else has it is not known, and nobody is named.
    """
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for trx, number, _, _, locks, _ in rows:
        found[str(trx)].append((int(number or 0), int(locks or 0)))
    locking = {trx: each if len(each) == 1 else [one for one in each if one[1] > 0] for trx, each in found.items()}
    return {trx: each[0][0] for trx, each in locking.items() if len(each) == 1}


def read_held_locks(session: Session) -> tuple[HeldLock, ...] | None:
    """Locks on definitions and on all tables, by the plugin METADATA_LOCK_INFO or by performance_schema.

    Returns:
        None where the server has neither, or does not show it to the account.

    Raises:
        LostServerError: The server is gone.
    """
    if session.row(PLUGIN_QUERY)[0]:
        return _held_locks(_seen(session, LOCK_INFO_QUERY))
    instrumented = _seen(session, INSTRUMENT_QUERY) if session.row("SELECT @@performance_schema")[0] else []
    return _held_locks(_seen(session, INSTRUMENTED_QUERY)) if instrumented and instrumented[0][0] else None


def _held_locks(rows: Sequence[tuple[Any, ...]]) -> tuple[HeldLock, ...]:
    return tuple(
        HeldLock(
            session=int(number),
            mode=f"BACKUP_{mode}" if str(kind).upper() == "BACKUP" and "BACKUP" not in str(mode).upper() else str(mode),
            table=f"{schema}.{table}" if schema and table else "",
            is_wanted=bool(is_wanted),
        )
        for number, kind, mode, schema, table, is_wanted in rows
        if number is not None
    )


def read_user_locks(session: Session, sessions: Sequence[ListedSession]) -> Mapping[int, int]:
    """Who has the named lock that a session waits for in GET_LOCK, by the number of the waiting one.

    Raises:
        LostServerError: The server is gone.
    """
    holders: dict[int, int] = {}
    for one in sessions:
        named = LOCKED_NAME.search(one.text or "") if one.waits_for_user_lock else None
        if named and (number := session.row("SELECT IS_USED_LOCK(%s)", (named["name"],))[0]) is not None:
            holders[one.number] = int(number)
    return holders


def _seen(session: Session, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query; none where the account may not ask."""
    try:
        return session.rows(query)
    except LostServerError:
        raise
    except ServerError:
        return []
