"""Where all who run a statement stand in one state, it is told with their number, since when, and what helps there."""

import pytest
from tests.mariadb.diagnosis.conftest import facts_of, group

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import Finding, Severity
from poolpilot.mariadb.diagnosis.full_disks import FullDisk
from poolpilot.mariadb.diagnosis.judgement.diagnose import diagnose
from poolpilot.mariadb.diagnosis.judgement.known_states import what_helps
from poolpilot.mariadb.diagnosis.listed_session import ListedSession


def standing(state: str, number: int = 8, since_s: float = 6.0, text: str = "INSERT INTO t VALUES (1)") -> Facts:
    sessions = (
        ListedSession(20 + one, "app@web1", "Query", since_s + one, state, text, 90 + one) for one in range(number)
    )
    return facts_of(group(0, threads=number + 1, active=number, standby=0), dequeued=0, sessions=tuple(sessions))


def told(facts: Facts) -> tuple[Finding, ...]:
    return diagnose(facts).of_kind("same_state")


@pytest.mark.parametrize(
    ("state", "helps"),
    [
        ("Waiting for semi-sync ACK from slave", "rpl_semi_sync_master_enabled = OFF"),
        ("Waiting for semi-sync ACK from replica", "rpl_semi_sync_master_enabled = OFF"),
        ("Waiting for prior transaction to commit", "binary log"),
        ("Commit", "binary log"),
        ("Waiting for someone to free space", "free space"),
        ("Waiting for query cache lock", "query_cache_type = OFF"),
        ("Opening tables", "table_open_cache"),
        ("login", "skip_name_resolve"),
        ("wsrep: initiating pre-commit for write set (42)", "flow_control"),
        ("Writing to net", "clients"),
    ],
)
def test_a_state_that_is_known_says_what_helps(state: str, helps: str) -> None:
    (found,) = told(standing(state))
    assert found.severity is Severity.CRITICAL
    assert f"8 of 8 sessions that run a statement are in the state {state!r}, the longest for 13 s" in found.sentence
    assert any(helps in line for line in found.remedies)


def test_a_state_that_nobody_knows_is_told_where_all_stand_in_it() -> None:
    (found,) = told(standing("Waiting for the moon"))
    assert found.remedies == ()
    assert found.severity is Severity.CRITICAL


@pytest.mark.parametrize(
    "facts",
    [
        standing("Sending data"),
        standing("", text="SELECT 1"),
        standing("User sleep", text="SELECT SLEEP(15)"),
        standing("Commit", since_s=-9.0),
        standing("Waiting for the moon", number=2),
    ],
    ids=["they work", "they execute", "they sleep as told", "they have just come", "two alone"],
)
def test_what_is_no_state_to_stand_in(facts: Facts) -> None:
    assert told(facts) == ()


def test_one_session_on_a_server_that_serves_is_a_notice() -> None:
    one = ListedSession(20, "app@web1", "Query", 6.0, "Writing to net", "SELECT 1", 9)
    (found,) = told(facts_of(sessions=(one,)))
    assert found.severity is Severity.NOTICE


def test_who_waits_for_a_lock_is_told_of_by_its_holder_alone() -> None:
    assert told(standing("Waiting for table metadata lock")) == ()


def test_a_disk_without_space_is_told_though_no_state_says_so() -> None:
    diagnosis = diagnose(facts_of(full=(FullDisk("/var/lib/mysql/", 5 << 20),)))
    assert diagnosis.verdict == "disk_full"
    assert "/var/lib/mysql/ is full: 5 MB are free" in diagnosis.findings[0].sentence


def test_the_longest_beginning_of_a_state_counts() -> None:
    assert what_helps("Waiting for table flush") != what_helps("Waiting for commit lock")
    assert what_helps("Sorting result") is None
    assert what_helps("anything else") == ()
