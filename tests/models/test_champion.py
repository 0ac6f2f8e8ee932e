"""The champion is found in the package, by environment variable or by argument, and missed in one sentence."""

from importlib.resources import files
from pathlib import Path

import pytest

from poolpilot.errors import ArtefactError, DamagedArtefactError
from poolpilot.models.artefact import Artefact
from poolpilot.models.champion import CHAMPIONS, champion_folder, load_champion


def test_champion_is_found_by_argument_before_variable(
    artefact: Artefact, unanimous: Artefact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHAMPIONS["native"][1], str(tmp_path / "random"))
    assert load_champion().digest == artefact.digest
    assert load_champion(tmp_path / "unanimous").digest == unanimous.digest


def test_champion_is_otherwise_the_one_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHAMPIONS["native"][1], raising=False)
    assert champion_folder() == Path(str(files("poolpilot.models"))) / "champion"


def test_missing_champion_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match=r"no champion in .*nowhere; run `poolpilot train`.*`poolpilot promote`"):
        load_champion(tmp_path / "nowhere")


def test_champion_without_manifest_is_damaged_not_missing(artefact: Artefact, tmp_path: Path) -> None:
    assert artefact.digest
    (tmp_path / "random" / "manifest.json").unlink()
    with pytest.raises(DamagedArtefactError, match=r"cannot read .*manifest\.json"):
        load_champion(tmp_path / "random")


def test_shipped_champion_of_mariadb_lists_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHAMPIONS["mariadb"][1], raising=False)
    repository = load_champion(kind="mariadb").repository
    assert repository is not None
    assert repository.workloads


def test_every_kind_of_server_has_a_champion_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHAMPIONS["mariadb"][1], raising=False)
    assert champion_folder(kind="mariadb") == Path(str(files("poolpilot.models"))) / "champion_mariadb"
    assert load_champion(kind="mariadb").digest != load_champion().digest
    monkeypatch.setenv(CHAMPIONS["mariadb"][1], str(tmp_path))
    with pytest.raises(ArtefactError, match="POOLPILOT_MARIADB_CHAMPION"):
        load_champion(kind="mariadb")
