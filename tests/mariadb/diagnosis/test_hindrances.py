"""What a tuner waits for is told from two statements, and what cannot be seen is no hindrance."""

from typing import Any

import pytest
from tests.mariadb.diagnosis.conftest import ScriptedSession

from poolpilot.featurizer.snapshot import Hindrance, HindranceKind
from poolpilot.mariadb.diagnosis.hindrances import FLIP_TOLD_S, hindrances

LAG = 10.0


def pool(
    *,
    read_only: object = 0,
    most: int = 65_536,
    threads: int = 8,
    queued: int = 0,
    standing: int = 0,
    replicas: int = 0,
) -> list[tuple[Any, ...]]:
    return [(read_only, most, threads, queued, standing, str(replicas))]


def busy(text: str, seconds: float = 5.0, state: str = "", number: int = 12) -> tuple[Any, ...]:
    return (number, "app", "10.0.0.3:51234", "Query", seconds, state, text, 100, "shop")


def server(*sessions: tuple[Any, ...], **population: Any) -> ScriptedSession:
    return ScriptedSession({"THREAD_POOL_GROUPS": pool(**population), "PROCESSLIST": sessions})


def test_a_busy_server_is_no_hindrance_and_two_statements_tell() -> None:
    asked = server(busy("SELECT 1"), busy("UPDATE t SET a = 1"), queued=40, threads=11)
    assert hindrances(asked, LAG) == ()
    assert len(asked.asked) == 2


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("ALTER TABLE t FORCE", "session 12 of app@10.0.0.3 changes a table: ALTER TABLE for 5 s"),
        ("BACKUP STAGE FLUSH", "session 12 of app@10.0.0.3 backs up: BACKUP STAGE for 5 s"),
        ("FLUSH TABLES WITH READ LOCK", "session 12 of app@10.0.0.3 backs up: FLUSH TABLES for 5 s"),
    ],
)
def test_statements_that_hinder(statement: str, says: str) -> None:
    assert hindrances(server(busy(statement)), LAG) == (Hindrance(says),)


def test_a_table_that_is_made_at_once_is_part_of_the_workload() -> None:
    assert hindrances(server(busy("CREATE TABLE t (a INT)", 0.02)), LAG) == ()


def test_sessions_pile_up_behind_a_definition() -> None:
    waiting = busy("SELECT a FROM t", 2.0, "Waiting for table metadata lock")
    assert hindrances(server(waiting), LAG) == ()
    assert hindrances(server(waiting, waiting, waiting), LAG) == (Hindrance("3 sessions wait for metadata locks"),)


def test_one_session_behind_a_lock_on_all_tables_is_enough() -> None:
    (told,) = hindrances(server(busy("INSERT INTO t VALUES (1)", 1.5, "Waiting for backup lock")), LAG)
    assert told.text.startswith("1 session waits for a lock on all tables")


def test_a_pool_that_has_all_its_threads_and_whose_groups_wait_is_stuck() -> None:
    (told,) = hindrances(server(most=4, threads=4, queued=6, standing=1), LAG)
    assert told.text.startswith("the pool is stuck: 6 requests queue")
    assert told.kind is HindranceKind.STUCK
    assert hindrances(server(most=5, threads=4, queued=6, standing=1), LAG) == ()
    assert hindrances(server(most=4, threads=4, queued=6, standing=0), LAG) == ()


@pytest.mark.parametrize("values", [(0, 1), ("OFF", "ON"), (0, "NO_LOCK")])
def test_a_flip_of_read_only_is_told_for_a_while_and_a_replica_that_stays_so_never(
    values: tuple[object, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, it was told once, to whoever looked first, and a look between two windows told nobody."""
    now_s = [100.0]
    monkeypatch.setattr("poolpilot.mariadb.diagnosis.hindrances.time.monotonic", lambda: now_s[0])
    asked = server(read_only=values[0])
    assert hindrances(asked, LAG) == ()
    asked.answers["THREAD_POOL_GROUPS"] = pool(read_only=values[1])
    for later_s in (0.0, FLIP_TOLD_S - 1.0):
        now_s[0] = 100.0 + later_s
        (told,) = hindrances(asked, LAG)
        assert told.text.startswith("read_only has just been switched on")
    now_s[0] = 100.0 + FLIP_TOLD_S
    assert hindrances(asked, LAG) == ()
    assert hindrances(server(read_only=values[1]), LAG) == ()


STATUS = [("Connection_name", "Seconds_Behind_Master"), ("", 3), ("east", 42), ("west", None)]


def test_a_replica_that_is_too_far_behind_is_told() -> None:
    asked = server(replicas=3)
    asked.answers["SHOW ALL SLAVES STATUS"] = STATUS
    assert hindrances(asked, LAG) == (Hindrance("the replication connection 'east' is 42 s behind, more than 10 s"),)
    assert hindrances(asked, 60.0) == ()


def test_what_cannot_be_seen_is_left_out() -> None:
    assert hindrances(server(replicas=1), LAG) == ()


def test_a_server_that_replicates_nothing_is_not_asked_for_its_lag() -> None:
    asked = server()
    hindrances(asked, LAG)
    assert not any("SLAVES STATUS" in statement for statement in asked.asked)
