"""`poolpilot check --settings serve`: a service's settings are explained, and what it is made of is tried."""

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.tls_identity import Identity, make_identity

from poolpilot.durability.folder_lock import locked_folder
from poolpilot.errors import SettingError
from poolpilot.serve.commands.command_line.given_flags import CommandLine
from poolpilot.serve.commands.config.account_trial import AccountTrial
from poolpilot.serve.commands.config.config_command import check_settings
from poolpilot.serve.commands.config.service_trials import service_trials
from poolpilot.serve.commands.presentation.exit_codes import REFUSED
from poolpilot.serve.service.service_settings import ServeSettings


@pytest.fixture
def identity(tmp_path: Path) -> Identity:
    return make_identity(tmp_path, "service")


def check(file: Path | None, written: Path | None = None, **flags: str) -> None:
    """Explains the settings of a service, and tries what it needs."""
    check_settings("serve", CommandLine(flags, file, [], written), all_of_them=False)


def tried(flags: Mapping[str, Any]) -> dict[str, AccountTrial]:
    """The trials of a service by their names."""
    return {trial.name: trial for trial in service_trials(ServeSettings.load(None, {"port": 0, **flags}))}


def test_file_of_a_service_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before, it was refused as one of a tuner: there is no such setting as 'port'."""
    file, written = tmp_path / "serve.toml", tmp_path / "check.json"
    file.write_text("port = 0\nrate_per_s = 5.0\n", encoding="utf-8")
    check(file, written)
    said = capsys.readouterr().out
    assert "port = 0 (file; allowed: at least 0, at most 65535)" in said
    assert "rate_per_s = 5 (file; allowed: more than 0)" in said
    assert "what ships loads" in said
    assert "rate_burst" not in said
    found = json.loads(written.read_text(encoding="utf-8"))
    assert [row["name"] for row in found["settings"]] == [*ServeSettings.model_fields]
    assert [trial["name"] for trial in found["trials"]] == ["model", "port"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("mode = 'apply'", "setting 'mode': there is no such setting"),
        ("host = '0.0.0.0'", "is not a loopback address"),
        ("port = 70000", "setting 'port'"),
    ],
)
def test_what_a_service_refuses_is_refused(written: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(f"{written}\n", encoding="utf-8")
    with pytest.raises(SettingError, match=said):
        check(file)


def test_a_service_has_no_dsn() -> None:
    with pytest.raises(typer.BadParameter, match="DSN is not of `poolpilot serve`: leave it out"):
        check(None, dsn="h=db1")


@pytest.mark.parametrize("named", ["model", "token_file"])
def test_what_cannot_be_loaded_is_refused(named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = tried({named: tmp_path / "gone"})[{"token_file": "tokens"}.get(named, named)]
    assert trial.refuses
    assert "gone" in trial.found
    monkeypatch.setenv(f"POOLPILOT_SERVE_{named.upper()}", str(tmp_path / "gone"))
    with pytest.raises(typer.Exit) as ended:
        check(None)
    assert ended.value.exit_code == REFUSED


def test_tokens_and_certificate_are_read(identity: Identity, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"predict {'secret-word' * 4}\n")
    tokens.chmod(0o600)
    files = {"token_file": tokens, "tls_certificate": identity.certificate, "tls_key": identity.key}
    trials = tried(files)
    assert trials["tokens"].good
    assert trials["certificate"].good
    assert "secret-word" not in " ".join(trial.found for trial in trials.values())
    identity.key.write_text("no key")
    assert tried(files)["certificate"].refuses


def test_port_and_outcomes_may_be_those_of_the_service_that_runs(tmp_path: Path) -> None:
    folder = tmp_path / "outcomes"
    with locked_folder(folder, "keeps outcomes"):
        assert tried({"outcomes": folder})["outcomes"].refuses
        with socket.create_server(("127.0.0.1", 0)) as taken:
            trials = tried({"outcomes": folder, "port": taken.getsockname()[1]})
    assert not trials["port"].good
    assert "is in use" in trials["port"].found
    assert not any(trial.refuses for trial in trials.values())
    assert all(trial.good for trial in tried({"outcomes": folder}).values())
