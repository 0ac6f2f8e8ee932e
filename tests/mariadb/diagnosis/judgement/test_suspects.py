"""Who may hold a table is ruled in or out by what it can hold, and only who is shown to hold it is to be ended."""

from dataclasses import dataclass, replace

import pytest
from tests.mariadb.diagnosis.conftest import facts_of

from poolpilot.mariadb.diagnosis.finding import Finding, FindingKind, Severity
from poolpilot.mariadb.diagnosis.judgement.diagnose import diagnose
from poolpilot.mariadb.diagnosis.listed_session import ListedSession
from poolpilot.mariadb.diagnosis.lock_reading import HeldLock, Locks, OpenTransaction

METADATA, LEVEL, FLUSH = (
    "Waiting for table metadata lock",
    "Waiting for table level lock",
    "Waiting for table flush",
)
LOCKS_DEFINITION: tuple[FindingKind, ...] = ("lock_holder_idle", "lock_holder_running", "lock_holder_unknown")


def runs(number: int, text: str, since_s: float, state: str = "Sending data") -> ListedSession:
    """A session that runs a statement; who has run longer has begun earlier."""
    return ListedSession(number, "app@web1", "Query", since_s, state, text, 10_000 - int(10 * since_s), "shop")


def idle(number: int, since_s: float) -> ListedSession:
    return ListedSession(number, "app@web1", "Sleep", since_s, query=10_000 - int(10 * since_s), schema="shop")


READER = runs(20, "SELECT * FROM orders", 10.0, METADATA)
WRITER = runs(21, "UPDATE orders SET a = 1", 10.0, METADATA)
ALTER = runs(22, "ALTER TABLE orders FORCE", 12.0, METADATA)
LONG_ON_IT, LONG_ELSEWHERE = runs(3, "SELECT * FROM orders o", 60.0), runs(4, "SELECT * FROM items", 90.0)
COPIES = runs(5, "ALTER TABLE orders ADD b INT", 60.0, "copy to tmp table")
CALLS = runs(6, "CALL nightly()", 60.0)
IN_TRANSACTION, RESTS, CAME_LATER = idle(7, 60.0), idle(8, 30.0), idle(9, 3.0)


@dataclass(frozen=True)
class Case:
    """Sessions, the open transactions among them by number and age, and who is to be named, how surely."""

    sessions: tuple[ListedSession, ...]
    named: tuple[int, ...]
    how: str
    kills: tuple[str, ...] = ()
    transactions: tuple[OpenTransaction, ...] = ()


OPEN = (OpenTransaction(7, 61),)
CASES = {
    "a reader of another table holds no reader off": Case((READER, LONG_ELSEWHERE), (), "is not known"),
    "nor does a reader of the same": Case((READER, LONG_ON_IT), (), "is not known"),
    "an open transaction holds no reader off, LOCK TABLES does": Case(
        (READER, IN_TRANSACTION, RESTS), (8,), "most likely session 8", transactions=OPEN
    ),
    "nor a writer": Case((WRITER, IN_TRANSACTION), (), "is not known", transactions=OPEN),
    "several may have locked the table": Case(
        (READER, RESTS, replace(RESTS, number=10, since_s=40.0), CAME_LATER), (8, 10), "each of them possible"
    ),
    "a change that runs holds writers off": Case((WRITER, COPIES), (5,), ": session 5", ("KILL 5;",)),
    "a reader of it holds a change off": Case((ALTER, LONG_ON_IT, LONG_ELSEWHERE), (3,), ": session 3", ("KILL 3;",)),
    "an open transaction may hold a change off": Case(
        (ALTER, IN_TRANSACTION, RESTS, LONG_ELSEWHERE), (7,), "most likely session 7", transactions=OPEN
    ),
    "several open ones may": Case(
        (ALTER, IN_TRANSACTION, RESTS), (8, 7), "each of them likely", transactions=(*OPEN, OpenTransaction(8, 90))
    ),
    "a younger one cannot": Case((ALTER, CAME_LATER), (), "is not known", transactions=(OpenTransaction(9, 4),)),
    "one that now reads elsewhere may": Case(
        (ALTER, LONG_ELSEWHERE), (4,), "most likely session 4", transactions=(OpenTransaction(4, 300),)
    ),
    "what a procedure uses is not known": Case((ALTER, CALLS), (6,), "most likely session 6"),
    "readers behind a change wait for who holds that off": Case(
        (ALTER, READER, IN_TRANSACTION), (7,), "most likely session 7", ("KILL QUERY 22;",), OPEN
    ),
    "a thread that no client has may": Case((ALTER,), (44,), "session 44", transactions=(OpenTransaction(44, 61),)),
    "rows as a whole are held off by a statement on them": Case(
        (replace(WRITER, state=LEVEL), LONG_ON_IT, LONG_ELSEWHERE), (3,), ": session 3", ("KILL 3;",)
    ),
    "and readers of them by a writer alone": Case((replace(READER, state=LEVEL), LONG_ON_IT), (), "is not known"),
    "no transaction keeps rows as a whole": Case(
        (replace(READER, state=LEVEL), IN_TRANSACTION), (), "is not known", transactions=OPEN
    ),
    "a flush waits for who uses the table": Case(
        (runs(23, "FLUSH TABLES orders", 10.0, FLUSH), LONG_ON_IT, LONG_ELSEWHERE), (3,), ": session 3", ("KILL 3;",)
    ),
    "a flush of all may wait for anybody": Case(
        (runs(23, "FLUSH TABLES", 10.0, FLUSH), LONG_ON_IT, LONG_ELSEWHERE), (4, 3), "each of them possible"
    ),
}


def found_in(case: Case, held: tuple[HeldLock, ...] | None = None) -> Finding:
    found = diagnose(facts_of(sessions=case.sessions, locks=Locks(case.transactions, held=held))).findings
    (one,) = (one for one in found if one.kind in LOCKS_DEFINITION)
    return one


def lines_that_kill(found: Finding) -> tuple[str, ...]:
    return tuple(line for line in found.remedies if line.startswith("KILL"))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_who_can_hold_a_table(case: Case) -> None:
    found = found_in(case)
    assert found.sessions == case.named
    assert case.how in found.sentence
    assert lines_that_kill(found) == case.kills


def test_who_cannot_hold_it_is_told_to_be_ruled_out() -> None:
    found = found_in(Case((READER, LONG_ELSEWHERE, IN_TRANSACTION), (), "", transactions=OPEN))
    ruled_out = [line for line in found.evidence if line.startswith("ruled out")]
    assert ["session 4" in line for line in ruled_out] == [True, False]
    assert "session 7 of app@web1, which has been idle for 60 s in a transaction" in ruled_out[1]
    assert any("LOCK TABLES" in line for line in found.evidence)


def test_those_who_pile_up_are_a_warning() -> None:
    assert found_in(CASES["readers behind a change wait for who holds that off"]).severity is Severity.WARNING


@pytest.mark.parametrize(
    ("mode", "named"),
    [
        ("MDL_SHARED_READ", False),
        ("SHARED_WRITE", False),
        ("MDL_SHARED_NO_WRITE", False),
        ("SHARED_NO_READ_WRITE", True),
    ],
)
def test_of_the_locks_that_the_server_lists_only_those_hold_it_off_that_do_not_go_together(
    mode: str, named: bool
) -> None:
    held = (HeldLock(8, mode, "shop.orders"), HeldLock(7, "MDL_EXCLUSIVE", "shop.items"))
    found = found_in(Case((READER, RESTS), (), ""), held)
    assert (lines_that_kill(found) == ("KILL 8;",)) is named


def test_two_who_share_what_a_change_waits_for_are_both_shown() -> None:
    held = (HeldLock(8, "MDL_SHARED_READ", "shop.orders"), HeldLock(7, "MDL_SHARED_WRITE", "shop.orders"))
    found = found_in(Case((ALTER, RESTS, IN_TRANSACTION), (), ""), held)
    assert found.sessions == (7, 8)
    assert lines_that_kill(found) == ("KILL 7;", "KILL 8;")
    assert any(line.startswith("shown too: session 8") for line in found.evidence)


def test_who_waits_for_different_tables_waits_for_different_holders() -> None:
    other = runs(24, "ALTER TABLE items FORCE", 12.0, METADATA)
    facts = facts_of(sessions=(ALTER, other, LONG_ON_IT, LONG_ELSEWHERE))
    found = [one for one in diagnose(facts).findings if one.kind == "lock_holder_running"]
    assert {one.sessions for one in found} == {(3,), (4,)}


def test_all_tables_are_not_locked_by_who_has_changed_rows() -> None:
    waits = runs(25, "UPDATE orders SET a = 1", 10.0, "Waiting for backup lock")
    locks = Locks((OpenTransaction(7, 61, writes=True),))
    (found,) = diagnose(facts_of(sessions=(waits, IN_TRANSACTION, RESTS), locks=locks)).of_kind("backup_lock")
    assert found.sessions == (8,)
    assert "most likely session 8" in found.sentence
    assert lines_that_kill(found) == ()
