"""The champion is found in the package, by environment variable or by argument, and missed in one sentence."""

from importlib.resources import files
from pathlib import Path

import pytest

from poolpilot.featurizer.errors import ArtefactError
from poolpilot.models.artefact import Artefact
from poolpilot.models.champion import CHAMPION_VARIABLE, champion_folder, load_champion


def test_champion_is_found_by_argument_before_variable(
    artefact: Artefact, unanimous: Artefact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHAMPION_VARIABLE, str(tmp_path / "random"))
    assert load_champion().digest == artefact.digest
    assert load_champion(tmp_path / "unanimous").digest == unanimous.digest


def test_champion_is_otherwise_the_one_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHAMPION_VARIABLE, raising=False)
    assert champion_folder() == Path(str(files("poolpilot.models"))) / "champion"


def test_missing_champion_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match=r"no champion in .*nowhere; run `poolpilot train`.*`poolpilot promote`"):
        load_champion(tmp_path / "nowhere")
