"""Every command that connects to a server says first which one it has reached, on the screen and in its JSON."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.lab.instance import Lab
from poolpilot.mariadb.identity_query import read_identity
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE
from poolpilot.mariadb.restoration.known_server import KnownServer
from poolpilot.mariadb.session import Session

Invoke = Callable[..., Any]

COMMANDS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("advise",): ("--seconds", "0.5"),
    ("check",): ("--seconds", "1"),
    ("restore",): (),
    ("climb",): (),
    ("climb", "--search"): (),
    ("climb", "--sweep"): (),
    ("tune",): ("--seconds", "1"),
    ("tune", "--keeper"): ("--seconds", "1"),
}
"""Commands that connect, and what keeps them short."""

IN_JSON = (("check",), ("tune",))


@pytest.fixture(autouse=True)
def _journals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "journals"))


def identity_of(lab: Lab) -> ServerIdentity:
    with Session(Dsn(defaults_file=lab.defaults_file).account()) as session:
        return read_identity(session)


def line_of(lab: Lab) -> str:
    running = lab.running()
    assert running is not None
    address = f"127.0.0.1:{running.port} and its extra port 127.0.0.1:{running.extra_port}"
    return f"Reached {identity_of(lab)}, at {address}."


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_first_line_names_the_server(command: tuple[str, ...], invoke: Invoke, lab: Lab, tmp_path: Path) -> None:
    file = without_extra_port(lab, tmp_path)
    result = invoke(*command, f"F={file}", *COMMANDS[command])
    assert result.out.splitlines()[0] == line_of(lab), result.err


@pytest.mark.parametrize("command", IN_JSON, ids=" ".join)
def test_json_names_the_server(command: tuple[str, ...], invoke: Invoke, lab: Lab, tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    result = invoke(*command, f"F={lab.defaults_file}", *COMMANDS[command], "--json", told)
    assert result.code == 0, result.err
    reached, server = json.loads(told.read_text())["reached"], identity_of(lab)
    assert (reached["hostname"], reached["version"]) == (server.hostname, server.version)
    assert reached["data_folder"] == server.data_folder
    assert reached["address"].startswith("127.0.0.1:")


@pytest.mark.parametrize("command", ["climb", "climb --sweep"])
def test_a_dsn_that_leads_to_another_server_by_now_sets_nothing(
    command: str, invoke: Invoke, lab: Lab, tmp_path: Path
) -> None:
    """R04's kind: an option file that leads elsewhere than the day before."""
    dsn = f"F={lab.defaults_file}"
    known = KnownServer(tmp_path / "journals", str(Dsn.parse(dsn)))
    known.note(replace(identity_of(lab), hostname="db9"), "climb")
    refused = invoke(*command.split(), dsn, "--execute")
    assert refused.code == 1, refused.out
    assert refused.err.count("\n") == 1
    assert "on db9 for the climb of" in refused.err
    assert "nothing is set" in refused.err
    assert "on db9 for the climb of" in invoke("restore", dsn).out
    assert invoke("restore", dsn, "--forget").code == 0
    assert "on db9" not in invoke("restore", dsn).out


def without_extra_port(lab: Lab, folder: Path) -> Path:
    """The option file of the tuner without the port of its own, which the server then names."""
    lines = [line for line in lab.defaults_file.read_text().splitlines() if not line.startswith("extra")]
    file = folder / "client.cnf"
    file.write_text("\n".join(lines))
    file.chmod(0o600)
    return file
