"""`poolpilot check` from its arguments to what it prints and writes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import short_folder
from tests.mariadb.diagnosis.conftest import Clients, until

from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.mariadb import session as session_module

SMALL_POOL = ("--thread-pool-size=1", "--thread-pool-oversubscribe=1", "--thread-pool-max-threads=4")


def test_a_server_without_load_is_not_judged(invoke: Callable[..., Any], lab: Lab, tmp_path: Path) -> None:
    result = invoke("check", f"F={lab.defaults_file}", "--seconds", 1, "--json", tmp_path / "told.json")
    told = json.loads((tmp_path / "told.json").read_text())
    assert (result.code, result.err, told["verdict"]) == (0, "", "unjudged")
    assert {"where", "reached", "variables", "shows", "findings", "hidden"} <= {*told}
    assert "Thread pool of" in result.out
    assert "What it shows" in result.out
    assert "no statement ended within" in result.out
    assert "nothing is changed" in result.out
    assert "GRANT PROCESS ON *.* TO `poolpilot`@`127.0.0.1`;" in result.out


def test_who_holds_a_row_and_the_line_that_ends_it_are_printed(
    invoke: Callable[..., Any], lab: Lab, tmp_path: Path
) -> None:
    with Clients(lab) as clients:
        holder = clients.session(
            "CREATE DATABASE IF NOT EXISTS told",
            "CREATE OR REPLACE TABLE told.one (id INT PRIMARY KEY) ENGINE=InnoDB SELECT 1 AS id",
            "BEGIN",
            "UPDATE told.one SET id = 2",
        )
        clients.send(clients.session(), "UPDATE told.one SET id = 3")
        until(lambda: clients.row_waits() == 1)
        result = invoke("check", f"F={clients.file}", "--json", tmp_path / "told.json")
    told = json.loads((tmp_path / "told.json").read_text())
    assert (result.code, result.err, told["verdict"]) == (0, "", "lock_holder_idle")
    assert told["findings"][0]["sessions"] == [holder.connection_id]
    assert f"KILL {holder.connection_id};" in result.out.splitlines()
    assert "Not seen" not in result.out


def test_a_login_that_finds_no_thread_is_a_finding_with_the_lines_for_my_cnf(
    invoke: Callable[..., Any],
    mariadb_installed: None,  # noqa: ARG001
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Lab(short_folder(tmp_path_factory), LabSettings(dataset="empty"), SMALL_POOL) as lab, Clients(lab) as clients:
        for session in [clients.session() for _ in range(8)]:
            clients.send(session, "SELECT SLEEP(9)")
        until(lambda: clients.waiting("User sleep") == 4)
        monkeypatch.setattr(session_module, "ANSWER_WITHIN_S", 1.0)
        result = invoke("check", f"S={lab.socket},F={lab.root_file}", "--json", tmp_path / "told.json")
    assert (result.code, result.err) == (0, "")
    assert json.loads((tmp_path / "told.json").read_text())["verdict"] == "no_login"
    assert "extra_port = 3307" in result.out.splitlines()


def test_a_login_that_is_refused_since_all_connections_are_in_use_is_a_finding(
    invoke: Callable[..., Any], lab: Lab, tmp_path: Path
) -> None:
    """Before, it ended with 1 and a sentence, and nothing that a check could read."""
    normal_port = tmp_path / "normal.cnf"
    with Clients(lab) as clients:
        most = int(clients.seen_by.row("SELECT @@GLOBAL.max_connections")[0])
        normal_port.touch(0o600)
        normal_port.write_text(clients.file.read_text().partition("[poolpilot]")[0])
        clients.seen_by.execute("SET GLOBAL max_connections = 10")
        try:
            opened = int(clients.seen_by.row("SHOW GLOBAL STATUS LIKE 'Threads_connected'")[1])
            for _ in range(11 - opened):  # one more is left to who may administer connections, as both accounts here
                clients.session()
            result = invoke("check", f"F={normal_port}", "--json", tmp_path / "told.json")
        finally:
            clients.seen_by.execute(f"SET GLOBAL max_connections = {most}")
    assert (result.code, result.err) == (0, "")
    assert json.loads((tmp_path / "told.json").read_text())["verdict"] == "max_connections"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("h=127.0.0.1,P=1",), "cannot reach a server"),
        (("h=db1", "--seconds", 0.5), "greater than or equal to 1"),
        (("h=db1", "--json", "/nowhere/told.json"), "no such folder"),
    ],
)
def test_mistakes_are_one_sentence(invoke: Callable[..., Any], arguments: tuple[object, ...], says: str) -> None:
    result = invoke("check", *arguments)
    assert result.code == 1
    assert says in result.err
    assert result.err.count("\n") == 1
