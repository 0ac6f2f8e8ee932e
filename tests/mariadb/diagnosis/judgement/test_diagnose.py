"""Who holds what others wait for is named with what frees it; what else goes on is told; the worst comes first."""

from dataclasses import replace
from typing import Any

import pytest
from tests.mariadb.diagnosis.conftest import SMALL, facts_of, group

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import Finding, Severity
from poolpilot.mariadb.diagnosis.judgement.diagnose import diagnose, no_login
from poolpilot.mariadb.diagnosis.listed_session import ListedSession
from poolpilot.mariadb.diagnosis.lock_reading import HeldLock, Locks, OpenTransaction, RowWait
from poolpilot.mariadb.diagnosis.pool_reading import QueuedRequest
from poolpilot.mariadb.diagnosis.replica_status import ReplicaStatus

HOLDER, WAITER = 7, 9
IDLE = ListedSession(HOLDER, "shop@web1", "Sleep", 30.0, query=100)
RUNS = ListedSession(HOLDER, "shop@web1", "Query", 30.0, "Sending data", "SELECT password FROM secrets", 100)
UPDATES = ListedSession(WAITER, "app@web2", "Query", 12.0, "Updating", "UPDATE t SET a = 1", 200)
HELD = Locks(
    (OpenTransaction(HOLDER, 40, table="shop.orders"), OpenTransaction(WAITER, 12, waits_s=12, table="shop.orders")),
    frozenset({RowWait(WAITER, HOLDER)}),
)


def waits_for(state: str, text: str = "SELECT a FROM orders", number: int = WAITER) -> ListedSession:
    return ListedSession(number, "app@web2", "Query", 12.0, state, text, 200 + number)


def rows(*sessions: ListedSession, locks: Locks = HELD, earlier: Locks = HELD, **further: Any) -> Facts:
    return facts_of(sessions=sessions, locks=locks, earlier_locks=earlier, row_waits=1, **further)


def only(facts: Facts) -> Finding:
    """What is found beside how the pool is."""
    (found,) = (
        one
        for one in diagnose(facts).findings
        if one.kind not in ("fine", "unjudged", "saturated", "stuck", "stall_limit")
    )
    return found


def test_all_is_well() -> None:
    diagnosis = diagnose(facts_of())
    assert diagnosis.verdict == "fine"
    assert len(diagnosis.findings) == 1


def test_the_idle_holder_of_a_row_is_named_with_its_account_age_and_the_line_that_ends_it() -> None:
    found = only(rows(IDLE, UPDATES))
    assert (found.kind, found.severity, found.sessions) == ("lock_holder_idle", Severity.WARNING, (HOLDER,))
    assert "session 7 of shop@web1 has been idle for 30 s in a transaction that is 40 s old" in found.sentence
    assert "1 session waits for rows that it has locked in shop.orders, the longest for 12 s" in found.sentence
    assert "KILL 7;" in found.remedies
    assert any("COMMIT" in remedy for remedy in found.remedies)


def test_a_holder_whose_next_statement_is_queued_is_told_from_an_idle_one() -> None:
    found = only(rows(IDLE, UPDATES, queue=(QueuedRequest(0, HOLDER, 3.5),)))
    assert (found.kind, found.severity, found.sessions) == ("lock_holder_queued", Severity.CRITICAL, (HOLDER,))
    assert "in the pool's queue for 3.5 s" in found.sentence


def test_a_holder_whose_next_statement_has_just_come_is_no_alarm() -> None:
    found = only(rows(IDLE, UPDATES, queue=(QueuedRequest(0, HOLDER, 0.1),)))
    assert (found.kind, found.severity) == ("lock_holder_running", Severity.NOTICE)


def test_an_idle_holder_is_not_ended_where_to_end_it_takes_a_thread_too() -> None:
    one = group(threads=4, active=0, standby=0, queued=2)
    seen = (IDLE, UPDATES)
    facts = facts_of(one, dequeued=0, limits=SMALL, server_share=0.0, sessions=seen, locks=HELD, earlier_locks=HELD)
    (found,) = diagnose(facts).of_kind("lock_holder_queued")
    assert "no thread would take up what it sends" in found.sentence


def in_a_stuck_pool(*, queued: bool) -> Facts:
    one = group(threads=4, active=0, standby=0, queued=int(queued), listens=queued)
    queue = (QueuedRequest(0, HOLDER, 3.5),) if queued else ()
    return facts_of(
        one,
        dequeued=0,
        queue=queue,
        limits=SMALL,
        server_share=0.0,
        sessions=(IDLE, UPDATES),
        locks=HELD,
        earlier_locks=HELD,
    )


@pytest.mark.parametrize("queued", [True, False])
def test_a_holder_cut_off_in_a_stuck_pool_is_freed_by_a_thread(queued: bool) -> None:
    diagnosis = diagnose(in_a_stuck_pool(queued=queued))
    (found,) = diagnosis.of_kind("lock_holder_queued")
    assert diagnosis.verdict == "stuck"
    assert found.sessions == (HOLDER,)
    assert found.remedies[0].startswith("SET GLOBAL thread_pool_max_threads = ")
    assert f"KILL QUERY {WAITER};" in found.remedies
    assert f"KILL {HOLDER};" not in found.remedies, "to close its session takes a thread of the pool too"


def test_a_holder_that_runs_a_statement_is_a_notice_and_its_text_is_not_shown() -> None:
    found = only(rows(RUNS, UPDATES))
    assert (found.kind, found.severity) == ("lock_holder_running", Severity.NOTICE)
    assert "runs SELECT (30 s, Sending data)" in found.sentence
    assert "secrets" not in str(found)


def test_a_prepared_transaction_that_nobody_has_is_told() -> None:
    locks = Locks((OpenTransaction(0, 40), OpenTransaction(WAITER, 12, waits_s=12)), frozenset({RowWait(WAITER, 0)}))
    found = only(rows(UPDATES, locks=locks, earlier=locks))
    assert "a prepared XA transaction" in found.sentence
    assert any("XA RECOVER" in remedy for remedy in found.remedies)


@pytest.mark.parametrize(
    ("locks", "earlier"),
    [
        (HELD, Locks()),
        (HELD, replace(HELD, row_waits=frozenset({RowWait(HOLDER, 8)}) | HELD.row_waits)),
        (replace(HELD, transactions=(HELD.transactions[0], OpenTransaction(WAITER, 12, waits_s=1))), HELD),
        (replace(HELD, transactions=(OpenTransaction(HOLDER, 1), HELD.transactions[1])), HELD),
    ],
    ids=["a new wait", "a new holder", "a short wait", "a new transaction"],
)
def test_rows_that_pass_from_hand_to_hand_have_no_holder_to_name(locks: Locks, earlier: Locks) -> None:
    assert diagnose(rows(IDLE, UPDATES, locks=locks, earlier=earlier)).verdict == "fine"


def test_only_the_first_of_a_chain_is_named() -> None:
    third = OpenTransaction(11, 12, waits_s=12)
    chain = Locks((*HELD.transactions, third), HELD.row_waits | {RowWait(11, WAITER), RowWait(11, HOLDER)})
    found = only(rows(IDLE, UPDATES, locks=chain, earlier=chain))
    assert found.sessions == (HOLDER,)
    assert found.sentence.startswith("2 sessions wait for")


def test_without_process_the_number_of_waits_is_told_and_what_would_show_more() -> None:
    found = only(facts_of(row_waits=3, hidden=("not without PROCESS",)))
    assert (found.kind, found.severity) == ("lock_holder_unknown", Severity.NOTICE)
    assert found.sentence.startswith("3 transactions wait for rows")


METADATA = waits_for("Waiting for table metadata lock", "ALTER TABLE orders FORCE")


def definition(*sessions: ListedSession, held: tuple[HeldLock, ...] | None = None, age_s: int = 40) -> Finding:
    locks = Locks((OpenTransaction(HOLDER, age_s),), held=held)
    found = diagnose(facts_of(sessions=(*sessions, METADATA), locks=locks)).findings
    return next(one for one in found if one.kind.startswith("lock_holder"))


def test_the_holder_of_a_definition_is_inferred_from_older_transactions_and_said_to_be() -> None:
    found = definition(IDLE, replace(IDLE, number=6))
    assert (found.kind, found.sessions) == ("lock_holder_idle", (HOLDER,))
    assert "most likely session 7 of shop@web1" in found.sentence
    assert any("metadata_lock_info" in line for line in found.evidence)


def test_where_no_transaction_is_older_those_that_were_idle_by_then_could_hold_it() -> None:
    later = replace(IDLE, number=5, query=900)
    recent = replace(IDLE, number=6, since_s=20.0)
    found = definition(IDLE, later, recent, replace(IDLE, number=4, since_s=3.0), age_s=2)
    assert found.sessions == (6, HOLDER)


def test_where_the_server_lists_its_locks_the_holder_is_known() -> None:
    other = HeldLock(6, "MDL_SHARED_READ", "shop.customers")
    held = (HeldLock(HOLDER, "MDL_SHARED_READ", "shop.orders"), other, HeldLock(WAITER, "MDL_SHARED", "shop.orders"))
    found = definition(IDLE, replace(IDLE, number=6, since_s=99.0), held=held)
    assert found.sessions == (HOLDER,)
    assert "shop.orders" in found.sentence
    assert "most likely" not in found.sentence


def test_of_two_tables_of_one_name_the_one_of_the_waiting_session_is_meant() -> None:
    """Before, the session that had last used a table of this name in any database could be named, with its KILL."""
    held = (HeldLock(6, "MDL_SHARED_READ", "other.orders"), HeldLock(HOLDER, "MDL_SHARED_READ", "shop.orders"))
    waiter = replace(METADATA, schema="shop")
    sessions = (IDLE, replace(IDLE, number=6, since_s=99.0), waiter)
    (found,) = diagnose(facts_of(sessions=sessions, locks=Locks(held=held))).of_kind("lock_holder_idle")
    assert found.sessions == (HOLDER,)
    assert "most likely" not in found.sentence


def test_a_table_that_is_being_changed_is_what_others_wait_for() -> None:
    changes = ListedSession(HOLDER, "dba@ops", "Query", 60.0, "copy to tmp table", "ALTER TABLE orders FORCE", 50)
    diagnosis = diagnose(facts_of(sessions=(changes, waits_for("Waiting for table metadata lock"))))
    assert diagnosis.of_kind("ddl")[0].sessions == (HOLDER,)
    assert diagnosis.of_kind("lock_holder_running")[0].sessions == (HOLDER,)


def test_nobody_is_accused_where_nobody_could_hold_it() -> None:
    found = only(facts_of(sessions=(waits_for("Waiting for table metadata lock"),)))
    assert (found.kind, found.sessions) == ("lock_holder_unknown", ())
    assert "lock_wait_timeout = 86400 s" in found.remedies[0]


BACKUP = waits_for("Waiting for backup lock", "INSERT INTO orders VALUES (1)")


def test_the_idle_session_that_could_hold_a_lock_on_all_tables_is_named() -> None:
    found = only(facts_of(sessions=(IDLE, BACKUP)))
    assert (found.kind, found.severity, found.sessions) == ("backup_lock", Severity.WARNING, (HOLDER,))
    assert "UNLOCK TABLES" in found.remedies[0]


def test_a_lock_on_all_tables_that_is_listed_is_known() -> None:
    held = (HeldLock(6, "MDL_BACKUP_DML", ""), HeldLock(HOLDER, "MDL_BACKUP_FTWRL2", ""))
    found = only(facts_of(sessions=(IDLE, replace(IDLE, number=6, since_s=13.0), BACKUP), locks=Locks(held=held)))
    assert found.sessions == (HOLDER,)
    assert "most likely" not in found.sentence


def test_a_lock_on_all_tables_that_waits_itself_says_for_whom() -> None:
    flush = replace(BACKUP, number=HOLDER, text="FLUSH TABLES WITH READ LOCK", since_s=20.0)
    long = ListedSession(5, "app@web2", "Query", 300.0, "Sending data", "INSERT INTO orders SELECT * FROM archive", 3)
    found = diagnose(facts_of(sessions=(long, flush, BACKUP))).of_kind("backup_lock")[0]
    assert found.sessions == (HOLDER,)
    assert any("waits for session 5" in line for line in found.evidence)


def test_the_holder_of_a_name_is_known() -> None:
    waits = waits_for("User lock", "SELECT GET_LOCK('nightly', 60)")
    found = only(facts_of(sessions=(IDLE, waits), user_locks={WAITER: HOLDER}))
    assert (found.kind, found.sessions) == ("lock_holder_idle", (HOLDER,))
    assert "GET_LOCK" in found.sentence


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ALTER TABLE orders FORCE", "ddl"),
        ("BACKUP STAGE FLUSH", "backup"),
        ("SELECT /*!40001 SQL_NO_CACHE */ * FROM `orders`", "backup"),
    ],
)
def test_what_else_goes_on_is_told_and_is_no_alarm(text: str, kind: str) -> None:
    found = only(facts_of(sessions=(replace(RUNS, text=text),)))
    assert (found.kind, found.severity, found.sessions) == (kind, Severity.NOTICE, (HOLDER,))


def test_a_replica_that_is_behind_is_told_by_the_limit() -> None:
    behind = (ReplicaStatus("", 40.0), ReplicaStatus("east", None))
    assert only(facts_of(replicas=behind)).kind == "replica_lag"
    assert diagnose(facts_of(replicas=behind), most_replica_lag_s=60.0).verdict == "fine"


def test_the_worst_comes_first_and_what_is_hidden_is_told() -> None:
    changes = ListedSession(3, "dba@ops", "Query", 60.0, "", "ALTER TABLE other FORCE", 50)
    diagnosis = diagnose(rows(changes, IDLE, UPDATES, hidden=("something",)))
    assert [one.kind for one in diagnosis.findings] == ["lock_holder_idle", "ddl", "fine"]
    assert diagnosis.as_dict()["verdict"] == "lock_holder_idle"
    assert diagnosis.as_dict()["findings"][0]["severity"] == "warning"
    assert diagnosis.as_dict()["hidden"] == ["something"]


def test_no_login_says_which_port_to_open() -> None:
    diagnosis = no_login("db1", "db1 does not answer a login")
    assert diagnosis.verdict == "no_login"
    assert "extra_port = 3307" in diagnosis.findings[0].remedies
