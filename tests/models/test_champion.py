"""The champion is found in the package, by environment variable or by argument, and missed in one sentence."""

from importlib.resources import files
from pathlib import Path

import pytest

from poolpilot.errors import ArtefactError, DamagedArtefactError, FeatureError
from poolpilot.featurizer.snapshot import SERVER_KINDS, ServerKind
from poolpilot.models.artefact import Artefact
from poolpilot.models.card import ModelKind
from poolpilot.models.champion import CHAMPIONS, MODEL_FOR, champion_folder, load_champion, load_for, model_for


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
    with pytest.raises(
        ArtefactError, match=r"no champion in .*nowhere; run `poolpilot learn train`.*`\S+ learn promote`"
    ):
        load_champion(tmp_path / "nowhere")


def test_another_folder_is_named_as_this_one_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, who had named --model was told of a variable that it goes before."""
    variable, folder = CHAMPIONS["mariadb"][1], tmp_path / "of the variable"
    monkeypatch.setenv(variable, str(folder))
    with pytest.raises(ArtefactError, match="name another folder with --model") as refused:
        load_for("mariadb", tmp_path / "of the flag")
    assert variable not in str(refused.value)
    for named in (None, folder):
        with pytest.raises(ArtefactError, match=f"name another folder with {variable}") as refused:
            load_for("mariadb", named)
        assert "--model" not in str(refused.value)


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


@pytest.mark.parametrize(("server_kind", "kind"), MODEL_FOR.items())
def test_model_is_the_one_for_the_kind_of_server(
    server_kind: ServerKind, kind: ModelKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _, variable in CHAMPIONS.values():
        monkeypatch.delenv(variable, raising=False)
    loaded = load_for(server_kind)
    assert (model_for(server_kind), loaded.card.kind) == (kind, kind)
    assert loaded.digest == load_champion(kind=kind).digest
    assert load_for(server_kind, champion_folder(kind=kind)).digest == loaded.digest


@pytest.mark.parametrize("server_kind", [kind for kind in SERVER_KINDS if kind not in MODEL_FOR])
def test_kind_of_server_that_no_model_knows_is_refused_by_name(server_kind: ServerKind) -> None:
    says = rf"server_kind is '{server_kind}', and no model has learned .* there are models for .* mariadb"
    with pytest.raises(FeatureError, match=says) as refused:
        load_for(server_kind)
    assert refused.value.feature == "server_kind"
    with pytest.raises(FeatureError, match=says):
        load_for(server_kind, champion_folder())


@pytest.mark.parametrize(
    ("server_kind", "named"), [("mariadb", "native"), ("native", "mariadb"), ("simulated", "mariadb")]
)
def test_model_of_another_kind_is_refused_by_name(
    server_kind: ServerKind, named: ModelKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CHAMPIONS[named][1], raising=False)
    folder = champion_folder(kind=named)
    says = rf"the model in {folder} is for servers of the kind '{named}', and this one is '{server_kind}'"
    with pytest.raises(ArtefactError, match=says):
        load_for(server_kind, folder)


def test_champion_of_another_kind_in_a_variable_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHAMPIONS["native"][1], raising=False)
    monkeypatch.setenv(CHAMPIONS["mariadb"][1], str(champion_folder()))
    with pytest.raises(ArtefactError, match="is for servers of the kind 'native', and this one is 'mariadb'"):
        load_for("mariadb")
