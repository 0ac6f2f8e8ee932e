"""What keeps a tuner from starting is told before it starts, its account apart."""

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

from poolpilot.durability.folder_lock import locked_folder
from poolpilot.serve.commands.command_line.given_flags import CommandLine
from poolpilot.serve.commands.config.account_trial import AccountTrial
from poolpilot.serve.commands.config.config_command import check_settings
from poolpilot.serve.commands.config.part_trials import part_trials
from poolpilot.serve.commands.presentation.exit_codes import REFUSED
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.page.page_server import LOOPBACK

REMOTE = {"remote": "https://127.0.0.1:1"}


def check(file: Path) -> None:
    """Explains the settings of a tuner, and tries what it needs."""
    check_settings("tune", CommandLine({}, file, [], None), all_of_them=False)


def tried(flags: Mapping[str, Any], *, beside_another: bool = False) -> dict[str, AccountTrial]:
    """The trials of the parts of a tuner by their names."""
    settings = TuneSettings.load(None, {"backend": "simulated", **flags})
    return {trial.name: trial for trial in part_trials(settings, beside_another=beside_another)}


@pytest.mark.parametrize("mode", ["observe", "apply"])
def test_what_ships_can_be_had(mode: str) -> None:
    trials = tried({"mode": mode, "challenger": Path("network"), "page": 0})
    assert list(trials) == ["model", "challenger", "page"]
    assert all(trial.good for trial in trials.values())
    assert trials["model"].found == "what ships loads"


@pytest.mark.parametrize("name", ["model", "challenger"])
def test_model_that_does_not_load_is_refused(name: str, tmp_path: Path) -> None:
    trial = tried({name: tmp_path / "gone"})[name]
    assert trial.refuses
    assert "gone" in trial.found


def test_service_is_not_asked(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("predict secret-word\n")
    token.chmod(0o600)
    trials = tried({**REMOTE, "token_file": token})
    assert list(trials) == ["service"]
    assert trials["service"].good
    assert "secret-word" not in trials["service"].found


@pytest.mark.parametrize("named", ["token_file", "remote_authority", "remote_certificate"])
def test_service_whose_files_are_of_no_use_is_refused(named: str, tmp_path: Path) -> None:
    file = tmp_path / "open.pem"
    file.write_text("nothing of use")
    file.chmod(0o644)
    for path in (file, tmp_path / "gone.pem"):
        trial = tried({**REMOTE, named: path})["service"]
        assert trial.refuses
        assert path.name in trial.found


def test_port_of_the_page_is_tried_and_left_free() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        trial = tried({"page": port})["page"]
        assert trial.refuses
        assert f"port {port} on {LOOPBACK} is in use" in trial.found
        assert not tried({"page": port}, beside_another=True)["page"].refuses, "that tuner may have it"
    assert tried({"page": port})["page"].good
    assert tried({"page": port})["page"].good


def test_keeper_needs_none_of_it(tmp_path: Path) -> None:
    settings = TuneSettings.load(None, {"dsn": "S=none", "keeper": True, "model": tmp_path / "gone"})
    assert list(part_trials(settings, beside_another=False)) == []


def test_check_ends_as_tune_would(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tuner.toml"
    file.write_text(f'backend = "simulated"\nmodel = "{tmp_path}/gone"\n', encoding="utf-8")
    with pytest.raises(typer.Exit) as ended:
        check(file)
    assert ended.value.exit_code == REFUSED
    assert "The settings cannot be followed" in capsys.readouterr().out


def test_folder_of_outcomes_is_tried_and_nothing_is_made(tmp_path: Path) -> None:
    """Before, a tuner that could not keep outcomes was told so at its start alone."""
    file, folder = tmp_path / "file", tmp_path / "outcomes"
    file.write_text("no folder")
    assert tried({"outcomes": folder})["outcomes"].good
    assert not folder.exists()
    refused = tried({"outcomes": file})["outcomes"]
    assert refused.refuses
    assert refused.found == f"cannot be kept in {file}: name another folder with --outcomes"
    with locked_folder(folder, "keeps outcomes"):
        trial = tried({"outcomes": folder})["outcomes"]
        assert trial.refuses
        assert f"another process keeps outcomes in {folder}" in trial.found
        assert not tried({"outcomes": folder}, beside_another=True)["outcomes"].refuses, "that tuner may have it"
    assert tried({"outcomes": folder})["outcomes"].good
