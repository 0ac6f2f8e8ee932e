"""A pool is told to be fine, saturated or stuck by what two looks saw, and what limits it is named."""

from dataclasses import replace
from typing import Any

import pytest
from tests.mariadb.diagnosis.conftest import SMALL, STOCK, facts_of, group

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import Severity
from poolpilot.mariadb.diagnosis.judgement.pool_findings import pool_finding
from poolpilot.mariadb.diagnosis.listed_session import ListedSession
from poolpilot.mariadb.diagnosis.pool_reading import QueuedRequest

SLEEPERS = tuple(
    ListedSession(number, "app@db2", "Query", 7.0 + number, "User sleep", "SELECT SLEEP(9)") for number in (3, 4, 5)
)


def held(*, queued: int = 4, listens: bool = True, dequeued: int = 0, **further: Any) -> Facts:
    """A small pool all of whose threads wait."""
    one = group(threads=4, active=0, standby=0, queued=queued, listens=listens)
    return facts_of(one, dequeued=dequeued, limits=SMALL, server_share=0.0, **further)


def crowded(active: int = 4, standby: int = 0, queued: int = 28, **further: Any) -> Facts:
    groups = [group(number, threads=5, active=active, standby=standby, queued=queued) for number in (0, 1)]
    return facts_of(*groups, **further)


def test_a_busy_pool_without_a_queue_is_fine() -> None:
    found = pool_finding(facts_of())
    assert (found.kind, found.severity) == ("fine", Severity.FINE)
    assert "1000 requests a second are taken up" in found.sentence


def test_a_pool_that_nobody_asks_is_not_judged_and_says_so() -> None:
    found = pool_finding(facts_of(group(threads=1, active=0, standby=0), dequeued=0))
    assert (found.kind, found.severity) == ("unjudged", Severity.NOTICE)
    assert found.sentence.startswith("no statement ended within 2.0 s (none was sent)")


def test_statements_that_outlast_the_look_say_nothing_of_others() -> None:
    long = ListedSession(4, "app@db2", "Query", 90.0, "Sending data", "SELECT 1")
    found = pool_finding(facts_of(group(active=2, standby=0, threads=3), dequeued=0, sessions=(long,)))
    assert found.kind == "unjudged"
    assert "1 run, the longest for 90 s" in found.sentence


def test_a_short_queue_is_fine() -> None:
    assert pool_finding(facts_of(group(queued=1))).kind == "fine"


def test_few_that_queue_for_long_are_told() -> None:
    """Before, `fine: 1 requests a second are taken up, 2.0 queue on average`: each waited two seconds."""
    one = group(threads=4, active=3, standby=0, queued=2)
    assert pool_finding(facts_of(one, dequeued=2)).kind == "saturated"


@pytest.mark.parametrize(
    ("facts", "says", "advises"),
    [
        (crowded(server_share=0.97), "processors are used up", "more threads would not help"),
        (crowded(server_share=0.5, idle_cpus=0.02), "processors are used up", "more threads would not help"),
        (crowded(server_share=0.3), "1 + oversubscribe = 4 threads at work", "larger thread_pool_size"),
        (crowded(active=1, standby=3, server_share=0.3), "more slowly than requests come", "thread_pool_stall_limit"),
        (crowded(server_share=None), "cannot be seen from here", "larger thread_pool_size"),
    ],
)
def test_a_saturated_pool_says_what_limits_it(facts: Facts, says: str, advises: str) -> None:
    found = pool_finding(facts)
    assert found.kind == "saturated"
    assert says in found.sentence
    assert any(advises in remedy for remedy in found.remedies)


def test_a_queue_in_few_groups_is_told_from_one_in_all() -> None:
    groups = [group(0, active=1, standby=2, queued=30), *(group(number) for number in range(1, 8))]
    limits = replace(STOCK, size=8)
    found = pool_finding(facts_of(*groups, limits=limits))
    assert "in 1 of 8 groups only" in found.sentence


def test_a_saturated_pool_whose_requests_wait_for_milliseconds_is_a_notice_only() -> None:
    assert pool_finding(crowded(server_share=0.97, dequeued=10_000)).severity is Severity.NOTICE
    assert pool_finding(crowded(server_share=0.97, dequeued=100)).severity is Severity.WARNING


def test_long_statements_that_use_the_processors_up_are_no_stuck_pool() -> None:
    assert pool_finding(crowded(server_share=0.97, dequeued=0)).kind == "saturated"


def test_on_another_host_threads_that_run_are_no_stuck_pool() -> None:
    assert pool_finding(crowded(server_share=None, dequeued=0)).kind == "saturated"


def test_the_limit_of_threads_is_named_where_a_saturated_pool_has_reached_it() -> None:
    found = pool_finding(crowded(server_share=0.3, limits=replace(STOCK, most_threads=10)))
    assert found.kind == "saturated"
    assert "thread_pool_max_threads = 10 is reached" in found.sentence
    assert found.remedies == ("SET GLOBAL thread_pool_max_threads = 20;",)


def test_a_pool_whose_threads_all_wait_is_stuck_and_says_who_holds_them_and_what_frees_them() -> None:
    found = pool_finding(held(sessions=SLEEPERS))
    assert (found.kind, found.severity) == ("stuck", Severity.CRITICAL)
    assert "4 requests queue" in found.evidence[0]
    assert "thread_pool_max_threads = 4" in found.sentence
    assert "3 sessions in SELECT (User sleep)" in found.evidence
    assert "SET GLOBAL thread_pool_max_threads = 10;" in found.remedies
    assert "KILL QUERY 5;" in found.remedies, "the longest one is the first to end"


def test_a_pool_that_nobody_listens_for_is_stuck_without_a_queue() -> None:
    found = pool_finding(held(queued=0, listens=False))
    assert found.kind == "stuck"
    assert "no thread listens for 4 other connections" in found.evidence[0]
    assert any("COMMIT" in line for line in found.evidence)


def test_logins_in_the_queue_are_told() -> None:
    found = pool_finding(held(queue=(QueuedRequest(0, 0, 3.0), QueuedRequest(0, 17, 3.0))))
    assert "1 logins wait in the queue" in found.evidence


def test_without_process_a_stuck_pool_says_what_is_not_seen() -> None:
    assert any("cannot be seen without PROCESS" in line for line in pool_finding(held()).evidence)


@pytest.mark.parametrize(
    "facts",
    [
        held(dequeued=1),
        held(queued=0),
        facts_of(group(active=0, standby=2, queued=1), dequeued=0),
    ],
    ids=["something is taken up", "nothing waits", "a thread stands by"],
)
def test_what_is_not_stuck(facts: Facts) -> None:
    assert pool_finding(facts).kind != "stuck"


def test_a_group_that_waits_for_the_next_tick_does_not_stand_yet() -> None:
    one = group(threads=4, active=0, standby=0, queued=4)
    slow = replace(STOCK, stall_limit_ms=6000)
    assert pool_finding(facts_of(one, dequeued=0, limits=slow, server_share=0.0)).kind != "stuck"
    assert pool_finding(facts_of(one, dequeued=0, server_share=0.0)).kind == "stuck"


def test_one_group_that_stands_is_told_though_others_go_on() -> None:
    standing = group(0, threads=4, active=0, standby=0, queued=3)
    going = group(1)
    facts = facts_of(standing, going, limits=replace(STOCK, most_threads=8))
    moved = replace(facts.after, groups=(replace(standing, dequeued=0), replace(going, dequeued=900)))
    found = pool_finding(replace(facts, after=moved))
    assert found.kind == "stuck"
    assert found.evidence[0].startswith("1 of 2 groups took nothing up")
