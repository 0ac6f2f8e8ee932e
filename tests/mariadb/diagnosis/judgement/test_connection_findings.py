"""A limit on connections that is reached, or nearly, is told with both numbers, whoever uses them."""

from dataclasses import replace
from typing import Any

import pytest
from tests.mariadb.diagnosis.conftest import STOCK, facts_of

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import Severity
from poolpilot.mariadb.diagnosis.judgement.connection_findings import connection_findings, no_connection_left
from poolpilot.mariadb.diagnosis.listed_session import ListedSession


def connected(number: int, *, refused: int = 0, most: int = 40, most_of_a_user: int = 0, **further: Any) -> Facts:
    limits = replace(STOCK, most_connections=most, most_of_a_user=most_of_a_user)
    facts = facts_of(limits=limits, **further)
    return replace(facts, after=replace(facts.after, connected=number, refused=refused))


def idle(user: str, number: int) -> ListedSession:
    return ListedSession(number, f"{user}@web1", "Sleep", 60.0 + number)


def test_what_is_reached_is_critical_with_both_numbers_and_who_has_them() -> None:
    """Before, `the pool is fine`, and nothing of 40 of 40."""
    sessions = tuple(idle("shop", number) for number in range(30)) + tuple(idle("cron", 40 + one) for one in range(10))
    (found,) = connection_findings(connected(40, refused=3, sessions=sessions))
    assert (found.kind, found.severity) == ("max_connections", Severity.CRITICAL)
    assert found.sentence == "40 of max_connections = 40 connections are open: a further login is refused"
    assert found.evidence == (
        "3 logins came to nothing during this observation",
        "most of them: 30 of shop@web1, 10 of cron@web1",
        "40 of them send nothing, the longest for 109 s",
    )
    assert found.remedies[0] == "SET GLOBAL max_connections = 80;"


@pytest.mark.parametrize(("number", "severity"), [(41, Severity.CRITICAL), (37, Severity.WARNING)])
def test_one_over_it_and_nearly_all(number: int, severity: Severity) -> None:
    (found,) = connection_findings(connected(number))
    assert found.severity is severity
    assert f"{number} of max_connections = 40" in found.sentence


def test_a_server_with_connections_left_has_no_finding() -> None:
    assert not [*connection_findings(connected(35))]


def test_a_user_that_has_all_that_a_user_may_have_is_named() -> None:
    sessions = (*(idle("shop", number) for number in range(5)), idle("cron", 9))
    (found,) = connection_findings(connected(6, most_of_a_user=5, sessions=sessions))
    assert found.severity is Severity.WARNING
    assert "the user shop has 5 of max_user_connections = 5" in found.sentence


def test_a_user_with_a_limit_of_its_own_is_named_with_that() -> None:
    sessions = tuple(idle("app", number) for number in range(15))
    facts = connected(16, sessions=sessions)
    facts = replace(facts, limits=replace(facts.limits, of_users={"app": 15, "shop": 1}))
    (found,) = connection_findings(facts)
    assert "the user app has 15 of MAX_USER_CONNECTIONS = 15" in found.sentence
    assert "MAX_USER_CONNECTIONS 30;" in found.remedies[0]


def test_a_login_that_is_refused_is_a_finding() -> None:
    (found,) = no_connection_left("db1", "db1 has no free connection left").findings
    assert (found.kind, found.severity) == ("max_connections", Severity.CRITICAL)
    assert found.evidence == ("db1 has no free connection left",)
