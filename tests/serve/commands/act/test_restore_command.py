"""`poolpilot restore` says what was left over, and brings it back or forgets it when told to."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.instance import Lab
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE, journal_folder
from poolpilot.mariadb.restoration.mariadb_restoration import MariadbRestoration
from poolpilot.mariadb.server.mariadb_server import MariadbServer


@pytest.fixture
def server(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MariadbServer]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with MariadbServer(Dsn(defaults_file=lab.defaults_file).account()) as found:
        before = found.tuple_in_force()
        yield found
        found.put_back(before)


@pytest.fixture
def left_over(server: MariadbServer) -> PoolTuple:
    """A tuple that a killed sweep has left in force."""
    restoration = MariadbRestoration(server)
    tried = restoration.begin("sweep", lambda _sentence: None).with_core((32, 5, 70))
    server.apply(tried)
    restoration.close()
    return tried


def test_without_a_journal_there_is_nothing_to_do(invoke: Callable[..., Any], server: MariadbServer, lab: Lab) -> None:
    result = invoke("restore", f"F={lab.defaults_file}", "--execute")
    assert (result.code, result.err) == (0, "")
    assert f"No journal of this server lies in {journal_folder()}" in result.out
    assert f"nothing is to be restored. In force now: {server.tuple_in_force()}." in result.out


def test_it_says_what_it_would_do_and_does_it_when_told_to(
    invoke: Callable[..., Any], server: MariadbServer, lab: Lab, left_over: PoolTuple
) -> None:
    dsn = f"F={lab.defaults_file}"
    asked = invoke("restore", dsn)
    assert (asked.code, asked.err) == (0, "")
    assert f"{left_over} is in force" in asked.out
    assert server.tuple_in_force() == left_over
    done = invoke("restore", dsn, "--execute")
    assert (done.code, done.err) == (0, "")
    assert server.tuple_in_force() != left_over
    assert f"In force now: {server.tuple_in_force()}." in done.out


@pytest.mark.parametrize("command", ["climb", "climb --sweep", "climb --search"])
def test_preview_of_a_command_warns_of_it(
    invoke: Callable[..., Any], server: MariadbServer, lab: Lab, left_over: PoolTuple, command: str
) -> None:
    result = invoke(*command.split(), f"F={lab.defaults_file}")
    assert result.code == 0
    assert "Warning: the sweep of" in result.out
    assert server.tuple_in_force() == left_over


def test_forgotten_it_is_the_beginning(
    invoke: Callable[..., Any], server: MariadbServer, lab: Lab, left_over: PoolTuple
) -> None:
    result = invoke("restore", f"F={lab.defaults_file}", "--forget")
    assert (result.code, result.err) == (0, "")
    assert f"the beginning from now on: {left_over}" in result.out
    assert MariadbRestoration(server).warnings() == ()
    assert server.tuple_in_force() == left_over
