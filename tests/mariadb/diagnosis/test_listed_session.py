"""Whom the process list shows, and how they are told of."""

import pytest
from tests.mariadb.diagnosis.conftest import ScriptedSession

from poolpilot.mariadb.diagnosis.listed_session import ListedSession, read_sessions


def test_threads_that_carry_out_what_others_have_done_are_no_clients() -> None:
    """Galera's sleep, by the list, at work too: an aborter that was idle for weeks was named for who holds a lock."""
    assert not ListedSession(3, "system user@", "Sleep", 1e6).of_a_client
    assert ListedSession(3, "system@web1", "Sleep", 1.0).of_a_client


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("web1:40312", "app@web1"),
        ("10.0.0.5:40312", "app@10.0.0.5"),
        ("2001:db8::5:40312", "app@2001:db8::5"),
        ("::1:40312", "app@::1"),
        ("localhost", "app@localhost"),
        ("", "app@"),
    ],
)
def test_account_is_told_without_the_clients_port(host: str, shown: str) -> None:
    """Before, a client by IPv6 was told of as app@2001, which there is not."""
    (one,) = read_sessions(ScriptedSession({"PROCESSLIST": [(3, "app", host, "Query", 0.1, "", None, 1, "")]}))
    assert one.account == shown


def test_what_runs_in_a_galera_cluster_is_asked_for() -> None:
    asked = ScriptedSession({"PROCESSLIST": ()})
    read_sessions(asked, busy=True)
    assert "COMMAND <> 'Sleep' OR USER = 'system user'" in asked.asked[0]
