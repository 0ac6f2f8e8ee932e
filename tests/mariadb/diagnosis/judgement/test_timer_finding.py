"""A group that only the pool's timer can give a thread is judged by its queue, its listener and the stall limit."""

from dataclasses import replace
from typing import Any

import pytest
from tests.mariadb.diagnosis.conftest import STOCK, facts_of, group

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import FindingKind, Severity
from poolpilot.mariadb.diagnosis.judgement.diagnose import diagnose
from poolpilot.mariadb.diagnosis.judgement.pool_findings import pool_finding
from poolpilot.mariadb.diagnosis.listed_session import ListedSession
from poolpilot.mariadb.diagnosis.pool_reading import ThreadGroup

REPORT = ListedSession(4, "report@db2", "Query", 40.0, "Sending data", "SELECT * FROM facts", 9)
DEAF = group(0, threads=1, active=1, standby=0, listens=False)
"""One thread, which runs a statement: nobody listens for the other seven connections."""


def of_limit(limit_ms: int, *groups: ThreadGroup, **further: Any) -> Facts:
    further = {"dequeued": 0, "sessions": (REPORT,), **further}
    return facts_of(*groups, limits=replace(STOCK, size=len(groups), stall_limit_ms=limit_ms), **further)


def test_clients_that_hang_behind_a_report_for_a_stall_limit() -> None:
    """Before, `the pool is fine: no request came within 2.0 s`, since nobody counts what nobody reads."""
    found = pool_finding(of_limit(600_000, DEAF, unread=7))
    assert (found.kind, found.severity) == ("stall_limit", Severity.CRITICAL)
    assert "thread_pool_stall_limit = 600000 ms" in found.sentence
    assert "for up to 10 minutes" in found.sentence
    assert found.evidence[0] == "1 of 1 groups took nothing up for 2.0 s: 7 requests have come that nobody reads"
    assert "session 4 of report@db2 runs SELECT for 40 s" in found.evidence
    assert any("units of 10 ms" in line for line in found.evidence)
    assert found.remedies[0] == "SET GLOBAL thread_pool_stall_limit = 500;"


LISTENS = replace(DEAF, threads=2, has_listener=True)
CASES: dict[str, tuple[Facts, FindingKind, Severity]] = {
    "a queue with a listener": (of_limit(30_000, replace(LISTENS, queued=3)), "stall_limit", Severity.CRITICAL),
    "seconds": (of_limit(5000, DEAF, unread=7), "stall_limit", Severity.WARNING),
    "nobody is seen to wait": (of_limit(600_000, DEAF), "stall_limit", Severity.WARNING),
    "one of two groups": (of_limit(6000, DEAF, group(1), server_share=None), "stall_limit", Severity.WARNING),
    "threads that stand by": (of_limit(6000, replace(DEAF, threads=3, standby=2)), "stall_limit", Severity.WARNING),
    "every connection has its thread": (of_limit(6000, replace(DEAF, connections=1)), "unjudged", Severity.NOTICE),
    "somebody listens, nothing queues": (of_limit(6000, LISTENS), "unjudged", Severity.NOTICE),
    "the stock limit": (of_limit(500, DEAF), "unjudged", Severity.NOTICE),
    "it is taken up": (of_limit(6000, DEAF, dequeued=900), "fine", Severity.FINE),
}


@pytest.mark.parametrize(("facts", "kind", "severity"), CASES.values(), ids=CASES)
def test_what_waits_for_the_timer(facts: Facts, kind: FindingKind, severity: Severity) -> None:
    found = pool_finding(facts)
    assert (found.kind, found.severity) == (kind, severity)


def test_a_group_that_was_held_for_a_part_of_the_look_is_told() -> None:
    """The first twelve of twenty samples saw it held; then the timer came."""
    facts = of_limit(5000, DEAF)
    served = tuple(
        replace(one, groups=(replace(DEAF, has_listener=True, threads=2, dequeued=50 * number),))
        for number, one in enumerate(facts.samples[12:], 1)
    )
    last = replace(facts.after, groups=(replace(DEAF, has_listener=True, threads=2, dequeued=900),))
    found = pool_finding(replace(facts, samples=facts.samples[:12] + served, after=last))
    assert found.kind == "stall_limit"
    assert "took nothing up for 1.2 s" in found.evidence[0]


def test_a_long_limit_under_which_nothing_was_seen_to_wait_is_a_notice_beside_fine() -> None:
    diagnosis = diagnose(facts_of(limits=replace(STOCK, stall_limit_ms=60_000)))
    assert [(one.kind, one.severity) for one in diagnosis.findings] == [
        ("stall_limit", Severity.NOTICE),
        ("fine", Severity.FINE),
    ]
    assert diagnose(facts_of(limits=replace(STOCK, stall_limit_ms=1000))).verdict == "fine"
