"""The folder of the decisions: the server's own, whatever way leads to it, and what lay under an older name is kept."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from poolpilot.env.tuning.target import Target
from poolpilot.errors import StoreError, TakenFolderError
from poolpilot.lab.instance import Lab
from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE
from poolpilot.mariadb.restoration.mariadb_target import mariadb_target
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.serve.commands.tune.decisions_folder import decisions_folder
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.tuner.decision_log import DecisionLog


@pytest.fixture
def target(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Target]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with mariadb_target(f"F={lab.defaults_file}", None, None) as opened:
        yield opened


def older_of(target: Target, way: str) -> Path:
    """A folder as it used to be named, in which a kill switch is thrown."""
    assert isinstance(target.server, MariadbServer)
    account = target.server.account
    older = TuneSettings().folder({"extra port": target.name, "port": f"{account.host}:{account.port}"}[way])
    older.mkdir(parents=True)
    (older / "stop").touch()
    return older


def test_it_is_named_by_what_is_the_servers_own(target: Target, tmp_path: Path) -> None:
    assert isinstance(target.server, MariadbServer)
    folder = decisions_folder(TuneSettings(), target)
    assert folder == tmp_path / "decisions" / folder.name
    assert folder.name.endswith(target.server.identity.key)
    assert not folder.exists()


@pytest.mark.parametrize("way", ["extra port", "port"])
def test_folder_of_an_older_name_is_renamed_with_all_that_lies_in_it(target: Target, way: str) -> None:
    older = older_of(target, way)
    folder = decisions_folder(TuneSettings(), target)
    assert (folder / "stop").exists()
    assert not older.exists()
    assert decisions_folder(TuneSettings(), target) == folder


def test_older_folder_stays_where_there_is_a_new_one_already(target: Target) -> None:
    folder = decisions_folder(TuneSettings(), target)
    folder.mkdir(parents=True)
    older = older_of(target, "port")
    assert decisions_folder(TuneSettings(), target) == folder
    assert older.exists()


def test_folder_in_which_a_tuner_is_at_work_is_not_renamed(target: Target) -> None:
    older = older_of(target, "port")
    with closing(DecisionLog(older, "a server")), pytest.raises(TakenFolderError):
        decisions_folder(TuneSettings(), target)
    assert older.exists()


def test_folder_that_cannot_be_renamed_is_named(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    older = older_of(target, "port")

    def fail(_self: Path, _to: Path) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(StoreError, match=rf"cannot rename {older} to .* \(Read-only file system\)"):
        decisions_folder(TuneSettings(), target)


def test_folder_that_is_named_is_taken_as_it_is(target: Target, tmp_path: Path) -> None:
    older = older_of(target, "port")
    assert decisions_folder(TuneSettings(log=tmp_path / "mine"), target) == tmp_path / "mine"
    assert older.exists()
