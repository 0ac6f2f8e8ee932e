"""Each case is planted on a real server and recognised there, with the session that causes it; nothing is changed."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.conftest import short_folder
from tests.mariadb.diagnosis.conftest import PATIENCE_S, Clients, until

from poolpilot.featurizer.snapshot import HindranceKind
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.mariadb.counters import read_population
from poolpilot.mariadb.diagnosis.facts import read_facts
from poolpilot.mariadb.diagnosis.finding import Diagnosis, Finding, FindingKind
from poolpilot.mariadb.diagnosis.hindrances import hindrances
from poolpilot.mariadb.diagnosis.judgement.diagnose import diagnose
from poolpilot.mariadb.host.process import ServerProcess
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.session import Session

SMALL_POOL = ("--thread-pool-size=1", "--thread-pool-oversubscribe=1", "--thread-pool-max-threads=4")
MOST_THREADS = 4
LISTING = ("--performance-schema=ON", "--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON")
LOOK_S = 2.0
LAG_S = 30.0
UNREAD_S = 0.15
"""InnoDB shows its locks as they were until nobody has read them for 0.1 s (`CACHE_MIN_IDLE_TIME_NS` of its source)."""


def own_lab(tmp_path_factory: pytest.TempPathFactory, *options: str) -> Lab:
    return Lab(short_folder(tmp_path_factory), LabSettings(dataset="empty"), options)


@pytest.fixture(scope="module")
def small_lab(mariadb_installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:  # noqa: ARG001
    """A server whose pool has one group and four threads at most."""
    with own_lab(tmp_path_factory, *SMALL_POOL) as running:
        yield running


@pytest.fixture(scope="module")
def listing_lab(mariadb_installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:  # noqa: ARG001
    """A server that lists its metadata locks."""
    with own_lab(tmp_path_factory, *LISTING) as running:
        yield running


def with_table(clients: Clients) -> Clients:
    clients.session(
        "CREATE DATABASE IF NOT EXISTS planted",
        "CREATE OR REPLACE TABLE planted.rows (id INT PRIMARY KEY, a INT) ENGINE=InnoDB",
        "INSERT INTO planted.rows VALUES (1, 0), (2, 0)",
    )
    return clients


@pytest.fixture
def clients(lab: Lab) -> Iterator[Clients]:
    with Clients(lab) as opened:
        yield with_table(opened)


@pytest.fixture
def small(small_lab: Lab) -> Iterator[Clients]:
    with Clients(small_lab) as opened:
        opened.seen_by.execute("SET GLOBAL thread_pool_idle_timeout = 1")
        until(lambda: read_population(opened.seen_by).threads <= MOST_THREADS)  # others may have allowed more
        yield with_table(opened)
        opened.seen_by.execute(f"SET GLOBAL thread_pool_max_threads = {MOST_THREADS}")


@pytest.fixture
def listing(listing_lab: Lab) -> Iterator[Clients]:
    with Clients(listing_lab) as opened:
        opened.session("GRANT SELECT ON performance_schema.* TO seer@'127.0.0.1'")
        yield with_table(opened)


def state_of(clients: Clients) -> Mapping[str, Any]:
    """What a diagnosis must leave alone: every global variable, and how many sessions were ended."""
    counted = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_kill', 'Com_set_option')"
    return dict([*clients.seen_by.rows("SHOW GLOBAL VARIABLES"), *clients.seen_by.rows(counted)])


def seen(clients: Clients) -> Diagnosis:
    """What is found on a server through an account with PROCESS; that nothing is changed is tested each time."""
    before = state_of(clients)
    session = clients.seen_by
    process = ServerProcess.of(session)
    time.sleep(UNREAD_S)
    usable = process.cpus() if process else None
    diagnosis = diagnose(read_facts(session, process, usable.cpus if usable else None, LOOK_S))
    assert state_of(clients) == before
    return diagnosis


def one_of(diagnosis: Diagnosis, kind: FindingKind) -> Finding:
    found = diagnosis.of_kind(kind)
    assert len(found) == 1, diagnosis.as_dict()
    return found[0]


def causes(diagnosis: Diagnosis) -> set[FindingKind]:
    return {one.kind for one in diagnosis.findings} - {"fine", "unjudged"}


def test_a_healthy_busy_server_is_fine(clients: Clients) -> None:
    for _ in range(6):
        clients.keep_sending(clients.session(), 0.03, "DO BENCHMARK(500, SHA1('a'))", "SELECT * FROM planted.rows")
    diagnosis = seen(clients)
    assert diagnosis.verdict == "fine", diagnosis.as_dict()
    assert "requests a second are taken up" in diagnosis.findings[0].sentence
    assert hindrances(clients.seen_by, LAG_S) == ()


def test_rows_that_many_contend_for_accuse_nobody(clients: Clients) -> None:
    turn = ("BEGIN", "UPDATE planted.rows SET a = a + 1 WHERE id = 1", "DO SLEEP(0.005)", "COMMIT")
    for _ in range(12):
        clients.keep_sending(clients.session(), 0.0, *turn)
    until(lambda: clients.row_waits() > 3)
    assert causes(seen(clients)) <= {"saturated"}


def test_a_saturated_server_is_not_called_stuck_and_what_limits_it_is_named(clients: Clients) -> None:
    for _ in range(32):
        clients.keep_sending(clients.session(), 0.0, "SELECT BENCHMARK(300000, SHA1('a'))")
    until(lambda: read_population(clients.seen_by).queued > 8)
    found = seen(clients)
    assert causes(found) == {"saturated"}, found.as_dict()
    assert "the processors are used up" in found.findings[0].sentence
    assert hindrances(clients.seen_by, LAG_S) == ()


def test_a_pool_that_sleepers_hold_is_stuck(small: Clients) -> None:
    for session in [small.session() for _ in range(8)]:
        small.send(session, "SELECT SLEEP(60)")
    until(lambda: small.waiting("User sleep") == MOST_THREADS)
    found = one_of(seen(small), "stuck")
    assert "thread_pool_max_threads = 4" in found.sentence
    assert "4 sessions in SELECT (User sleep)" in found.evidence
    assert any(one.kind is HindranceKind.STUCK for one in hindrances(small.seen_by, LAG_S))


def test_a_pool_that_long_statements_hold_is_stuck_and_more_threads_free_it(small: Clients) -> None:
    """Before, `the pool is fine: 0 requests a second are taken up`: the threads run, and use the processors up."""
    long, short = [small.session() for _ in range(6)], [small.session() for _ in range(4)]
    for session in long:
        small.send(session, "SELECT BENCHMARK(2000000000, SHA1('a'))")
    until(lambda: read_population(small.seen_by).threads == MOST_THREADS)
    waiting = [small.send(session, "SELECT 1") for session in short]
    until(lambda: seen(small).verdict == "stuck")
    found = one_of(seen(small), "stuck")
    assert "of 4 threads are held by statements" in found.sentence
    assert set(found.sessions) < {session.connection_id for session in long}
    assert any(line.startswith("KILL QUERY") for line in found.remedies)
    (line,) = (one for one in found.remedies if one.startswith("SET GLOBAL"))
    small.seen_by.execute(line.rstrip(";"))
    for thread in waiting:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def test_requests_that_wait_for_the_timer_are_told_and_a_shorter_limit_frees_them(small: Clients) -> None:
    """Before, `no request came within 2.0 s`: without a listener nobody counts them."""
    long, short = small.session(), [small.session() for _ in range(4)]
    small.seen_by.execute("SET GLOBAL thread_pool_stall_limit = 600000")
    try:
        small.send(long, "SELECT BENCHMARK(2000000000, SHA1('a'))")
        until(lambda: read_population(small.seen_by).listeners == 0)
        waiting = [small.send(session, "SELECT 1") for session in short]
        until(lambda: seen(small).verdict == "stall_limit")
        found = one_of(seen(small), "stall_limit")
        assert found.sessions == (long.connection_id,)
        assert found.remedies[0] == "SET GLOBAL thread_pool_stall_limit = 500;"
    finally:
        small.seen_by.execute("SET GLOBAL thread_pool_stall_limit = 500")
    for thread in waiting:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def test_connections_that_are_all_in_use_are_told_over_the_extra_port(small: Clients) -> None:
    most = int(small.seen_by.row("SELECT @@GLOBAL.max_connections")[0])
    small.seen_by.execute("SET GLOBAL max_connections = 10")
    try:
        opened = int(small.seen_by.row("SHOW GLOBAL STATUS LIKE 'Threads_connected'")[1])
        for _ in range(10 - opened):
            small.session()
        found = one_of(seen(small), "max_connections")
    finally:
        small.seen_by.execute(f"SET GLOBAL max_connections = {most}")
    assert found.sentence.startswith("10 of max_connections = 10 connections are open")


def test_readers_behind_a_locked_table_accuse_no_reader_of_another(clients: Clients) -> None:
    clients.session("CREATE OR REPLACE TABLE planted.others (id INT) ENGINE=InnoDB SELECT 1 AS id")
    elsewhere = clients.session("BEGIN", "SELECT * FROM planted.others")
    reads = clients.session()
    clients.send(reads, "SELECT SLEEP(60) FROM planted.others")
    until(lambda: clients.waiting("User sleep") == 1)
    locks = clients.session("LOCK TABLES planted.rows WRITE")
    for _ in range(2):
        clients.send(clients.session(), "SELECT * FROM planted.rows")
    until(lambda: clients.waiting("Waiting for table metadata lock") == 2)
    found = one_of(seen(clients), "lock_holder_idle")
    assert locks.connection_id in found.sessions
    assert not {elsewhere.connection_id, reads.connection_id} & set(found.sessions)
    assert not any(line.startswith("KILL") for line in found.remedies)


def test_rows_locked_as_a_whole_are_held_by_who_reads_them(clients: Clients) -> None:
    clients.session("CREATE OR REPLACE TABLE planted.old (id INT) ENGINE=MyISAM SELECT 1 AS id UNION SELECT 2")
    reads = clients.session()
    clients.send(reads, "SELECT SLEEP(60) FROM planted.old")
    until(lambda: clients.waiting("User sleep") == 1)
    clients.send(clients.session(), "UPDATE planted.old SET id = 2")
    until(lambda: clients.waiting("Waiting for table level lock") == 1)
    found = one_of(seen(clients), "lock_holder_running")
    assert f"KILL {reads.connection_id};" in found.remedies


def all_wait(clients: Clients) -> bool:
    """Whether every thread that the pool may have waits for the row, or listens."""
    population = read_population(clients.seen_by)
    return population.threads == MOST_THREADS == clients.row_waits() + population.listeners


def starved(clients: Clients) -> tuple[Session, Any]:
    """A holder of a row whose COMMIT finds no thread, since those who wait for the row have all."""
    holder = clients.session()
    waiters = [clients.session() for _ in range(6)]
    holder.execute("BEGIN")
    holder.execute("UPDATE planted.rows SET a = 1 WHERE id = 1")
    for waiter in waiters:
        clients.send(waiter, "UPDATE planted.rows SET a = 2 WHERE id = 1")
    until(lambda: all_wait(clients))
    return holder, clients.send(holder, "COMMIT")


def test_a_holder_whose_commit_waits_behind_those_that_wait_for_it_is_named(small: Clients) -> None:
    holder, _ = starved(small)
    diagnosis = seen(small)
    found = one_of(diagnosis, "lock_holder_queued")
    assert diagnosis.verdict == "stuck"
    assert found.sessions == (holder.connection_id,)
    assert "root@localhost" in found.sentence
    assert "planted.rows" in found.sentence


@pytest.mark.parametrize("remedy", ["SET GLOBAL", "KILL QUERY"])
def test_what_is_said_to_free_a_starved_holder_frees_it(small: Clients, remedy: str) -> None:
    waiters, (_, committing) = 6, starved(small)
    for _ in range(waiters):  # a thread that comes free may take up another that waits before the COMMIT
        found = one_of(seen(small), "lock_holder_queued")
        (line,) = (one for one in found.remedies if one.startswith(remedy))
        assert committing.is_alive()
        small.seen_by.execute(line.rstrip(";"))
        committing.join(5.0)
        if not committing.is_alive():
            break
    assert not committing.is_alive()
    until(lambda: small.row_waits() == 0)


def test_the_idle_holder_of_a_row_is_named_and_ending_it_frees_the_row(clients: Clients) -> None:
    holder, waiter = clients.session(), clients.session()
    holder.execute("BEGIN")
    holder.rows("SELECT * FROM planted.rows WHERE id = 1 FOR UPDATE")
    waiting = clients.send(waiter, "UPDATE planted.rows SET a = 2 WHERE id = 1")
    until(lambda: clients.row_waits() == 1)
    diagnosis = seen(clients)
    found = one_of(diagnosis, "lock_holder_idle")
    assert diagnosis.verdict == "lock_holder_idle"
    assert found.sessions == (holder.connection_id,)
    assert "has been idle for" in found.sentence
    (line,) = (one for one in found.remedies if one.startswith("KILL"))
    clients.seen_by.execute(line.rstrip(";"))
    waiting.join(PATIENCE_S)
    assert not waiting.is_alive()


def test_who_has_locked_rows_for_reading_alone_is_named_and_no_bystander(clients: Clients) -> None:
    """Neither has a number of a transaction, so the server tells of both by the same one."""
    before, holder, after, waiter = (clients.session() for _ in range(4))
    for bystander in (before, after):
        bystander.execute("BEGIN")
    before.rows("SELECT * FROM planted.rows WHERE id = 2")
    holder.execute("BEGIN")
    holder.rows("SELECT * FROM planted.rows WHERE id = 1 LOCK IN SHARE MODE")
    after.rows("SELECT * FROM planted.rows WHERE id = 2")
    clients.send(waiter, "UPDATE planted.rows SET a = 2 WHERE id = 1")
    until(lambda: clients.row_waits() == 1)
    diagnosis = seen(clients)
    assert one_of(diagnosis, "lock_holder_idle").sessions == (holder.connection_id,)
    killed = [line for one in diagnosis.findings for line in one.remedies if line.startswith("KILL")]
    assert killed == [f"KILL {holder.connection_id};"]


def test_without_process_a_wait_for_a_row_is_told_and_the_grant_that_shows_more(clients: Clients, lab: Lab) -> None:
    holder, waiter = clients.session(), clients.session()
    holder.execute("BEGIN")
    holder.rows("SELECT * FROM planted.rows WHERE id = 1 FOR UPDATE")
    clients.send(waiter, "UPDATE planted.rows SET a = 2 WHERE id = 1")
    until(lambda: clients.row_waits() == 1)
    account = Dsn(defaults_file=lab.defaults_file).account()
    with Session(account, account.extra_port) as session:
        diagnosis = diagnose(read_facts(session, None, None, LOOK_S))
    assert diagnosis.verdict == "lock_holder_unknown"
    assert any("GRANT PROCESS ON *.* TO `poolpilot`@`127.0.0.1`;" in one for one in diagnosis.hidden)


def lets_a_change_wait(clients: Clients) -> Session:
    """An idle transaction that uses a table which another session wants to change, and one that reads behind that."""
    holder = clients.session()
    holder.execute("BEGIN")
    holder.rows("SELECT * FROM planted.rows")
    clients.send(clients.session(), "ALTER TABLE planted.rows FORCE, ALGORITHM=COPY")
    until(lambda: clients.waiting("Waiting for table metadata lock") == 1)
    clients.send(clients.session(), "SELECT * FROM planted.rows")
    until(lambda: clients.waiting("Waiting for table metadata lock") == 2)
    return holder


def test_the_idle_holder_of_a_definition_is_named(clients: Clients) -> None:
    holder = lets_a_change_wait(clients)
    diagnosis = seen(clients)
    found = one_of(diagnosis, "lock_holder_idle")
    assert found.sessions == (holder.connection_id,)
    assert "2 sessions wait for the metadata lock" in found.sentence
    assert one_of(diagnosis, "ddl").sentence.endswith("and waits for the table")
    told = [one.text for one in hindrances(clients.seen_by, LAG_S)]
    assert any("ALTER TABLE" in one for one in told)
    assert "2 sessions wait for metadata locks" in told


def test_a_server_that_lists_its_locks_says_who_holds_a_definition(listing: Clients) -> None:
    bystander = listing.session("BEGIN")
    bystander.rows("SELECT 1 FROM information_schema.TABLES LIMIT 1")
    holder = lets_a_change_wait(listing)
    found = one_of(seen(listing), "lock_holder_idle")
    assert found.sessions == (holder.connection_id,)
    assert "most likely" not in found.sentence
    assert "planted.rows" in found.sentence


ALL_TABLES: Mapping[str, tuple[str, ...]] = {
    "global read lock": ("FLUSH TABLES WITH READ LOCK",),
    "backup": ("BACKUP STAGE START", "BACKUP STAGE FLUSH", "BACKUP STAGE BLOCK_DDL", "BACKUP STAGE BLOCK_COMMIT"),
}


def locks_all_tables(clients: Clients, statements: tuple[str, ...]) -> Session:
    holder, writer = clients.session(), clients.session()
    for statement in statements:
        holder.execute(statement)
    clients.send(writer, "INSERT INTO planted.rows VALUES (3, 0)")
    until(lambda: clients.waiting("Waiting for backup lock") == 1)
    return holder


@pytest.mark.parametrize("statements", ALL_TABLES.values(), ids=ALL_TABLES)
def test_the_holder_of_a_lock_on_all_tables_is_named(clients: Clients, statements: tuple[str, ...]) -> None:
    holder = locks_all_tables(clients, statements)
    found = one_of(seen(clients), "backup_lock")
    assert found.sessions[0] == holder.connection_id
    assert any("lock on all tables" in one.text for one in hindrances(clients.seen_by, LAG_S))


@pytest.mark.parametrize("statements", ALL_TABLES.values(), ids=ALL_TABLES)
def test_a_server_that_lists_its_locks_says_who_locks_all_tables(listing: Clients, statements: tuple[str, ...]) -> None:
    holder = locks_all_tables(listing, statements)
    found = one_of(seen(listing), "backup_lock")
    assert found.sessions == (holder.connection_id,)
    assert "most likely" not in found.sentence


def test_a_lock_on_all_tables_that_waits_for_a_statement_names_both(clients: Clients) -> None:
    long, backup, writer = clients.session(), clients.session(), clients.session()
    clients.send(long, "UPDATE planted.rows SET a = SLEEP(60) WHERE id = 1")
    until(lambda: clients.waiting("User sleep") == 1)
    clients.send(backup, "FLUSH TABLES WITH READ LOCK")
    until(lambda: clients.waiting("Waiting for backup lock") == 1)
    clients.send(writer, "INSERT INTO planted.rows VALUES (3, 0)")
    until(lambda: clients.waiting("Waiting for backup lock") == 2)
    diagnosis = seen(clients)
    found = one_of(diagnosis, "backup_lock")
    assert found.sessions == (backup.connection_id,)
    assert any(f"session {long.connection_id} " in line for line in found.evidence)
    assert one_of(diagnosis, "backup").sessions == (backup.connection_id,)


def test_a_table_that_is_being_changed_is_named(clients: Clients) -> None:
    reader, changing = clients.session(), clients.session()
    reader.execute("BEGIN")
    reader.rows("SELECT * FROM planted.rows")
    clients.send(changing, "ALTER TABLE planted.rows FORCE")  # lasts until the reader is done
    until(lambda: any("ALTER TABLE" in one.text for one in hindrances(clients.seen_by, LAG_S)))
    until(lambda: [one.sessions for one in seen(clients).of_kind("ddl")] == [(changing.connection_id,)])


def test_the_holder_of_a_name_is_named(clients: Clients) -> None:
    holder = clients.session("DO GET_LOCK('nightly', 0)")
    clients.send(clients.session(), "SELECT GET_LOCK('nightly', 60)")
    until(lambda: clients.waiting("User lock") == 1)
    until(lambda: causes(seen(clients)) == {"lock_holder_idle"})
    assert one_of(seen(clients), "lock_holder_idle").sessions == (holder.connection_id,)


def test_a_flip_of_read_only_hinders_for_a_while(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poolpilot.mariadb.diagnosis.hindrances.FLIP_TOLD_S", 1.0)
    assert hindrances(clients.seen_by, LAG_S) == ()
    clients.session("SET GLOBAL read_only = 1")
    try:
        assert any("read_only" in one.text for one in hindrances(clients.seen_by, LAG_S))
        time.sleep(1.0)
        assert hindrances(clients.seen_by, LAG_S) == ()
    finally:
        clients.session("SET GLOBAL read_only = 0")
