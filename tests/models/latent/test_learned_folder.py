"""A learned model is its folder: what predicts comes from there, and a folder that was damaged is refused."""

import json
from pathlib import Path

import pytest

from poolpilot.errors import ArtefactError, DamagedArtefactError
from poolpilot.models.advisor.model import Model
from poolpilot.models.champion import champion_folder, load_champion
from poolpilot.models.latent.learned_folder import (
    CURVES_FILE,
    MANIFEST_FILE,
    holds_learned_model,
    load_learned_model,
    write_learned_model,
)
from poolpilot.models.latent.response_curves import ResponseCurves


@pytest.fixture
def files(curves: ResponseCurves, tmp_path: Path) -> dict[str, bytes]:
    saved = tmp_path / CURVES_FILE
    curves.save(saved)
    return {CURVES_FILE: saved.read_bytes(), "evaluation.json": b"{}\n"}


@pytest.fixture
def folder(files: dict[str, bytes], tmp_path: Path) -> Path:
    write_learned_model(tmp_path / "models" / "one", files)
    return tmp_path / "models" / "one"


def network_files() -> dict[str, bytes]:
    return {f"network/{path.name}": path.read_bytes() for path in champion_folder().iterdir()}


def test_its_curves_decide_in_place_of_the_shipped_ones(folder: Path, curves: ResponseCurves) -> None:
    learned = load_learned_model(folder)
    assert (learned.curves, learned.network, learned.digests) == (curves, None, frozenset({curves.digest}))
    trying, model = Model.load(folder, "mariadb", to_try=True), Model.load(folder, "mariadb")
    assert trying.curves == model.curves == curves
    assert not model.networks["mariadb"].alone, "without one of its own the shipped network is asked first"
    assert Model.load(folder, "native").networks["native"].any_machine is not None


def test_its_network_is_asked_for_its_kind_alone(files: dict[str, bytes], tmp_path: Path) -> None:
    write_learned_model(tmp_path / "both", files | network_files())
    learned = load_learned_model(tmp_path / "both")
    assert learned.network is not None
    assert learned.digests == {learned.curves.digest, load_champion().digest}
    networks = Model.load(tmp_path / "both").networks
    assert networks["native"].network.artefact.digest == load_champion().digest
    assert networks["mariadb"].network.artefact.digest == load_champion(kind="mariadb").digest
    assert networks["native"].any_machine is None, "a network of one's own knows one's machine"


def test_a_link_is_followed_once(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "current"
    link.symlink_to(folder)
    assert holds_learned_model(link)
    assert load_learned_model(link).folder == folder


def test_a_torn_folder_is_none(folder: Path) -> None:
    (folder / MANIFEST_FILE).unlink()
    assert not holds_learned_model(folder)
    with pytest.raises(ArtefactError, match="there is no champion in"):
        Model.load(folder, "native", to_try=True)


@pytest.mark.parametrize("damage", ["changed", "gone", "not listed", "outside", "no manifest", "another format"])
def test_a_damaged_folder_is_refused_by_name(folder: Path, damage: str) -> None:
    manifest = json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
    if damage == "changed":
        (folder / CURVES_FILE).write_bytes(b"other")
    elif damage == "gone":
        (folder / "evaluation.json").unlink()
    elif damage == "not listed":
        del manifest["sha256"][CURVES_FILE]
    elif damage == "outside":
        manifest["sha256"]["../one/evaluation.json"] = manifest["sha256"]["evaluation.json"]
    elif damage == "another format":
        manifest["format"] = 2
    text = "no JSON" if damage == "no manifest" else json.dumps(manifest)
    (folder / MANIFEST_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(DamagedArtefactError, match="copy the whole folder again, or learn anew"):
        load_learned_model(folder)


def test_folder_that_cannot_be_written_is_a_sentence(files: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ArtefactError, match=r"cannot write the learned model to .*; choose another folder with --out"):
        write_learned_model(tmp_path / "file", files)


def test_a_network_that_the_manifest_does_not_name_is_not_read(files: dict[str, bytes], tmp_path: Path) -> None:
    write_learned_model(tmp_path / "both", files | network_files())
    incoming = tmp_path / "both" / "network" / ".incoming"
    incoming.mkdir()
    for path in champion_folder(kind="mariadb").iterdir():
        (incoming / path.name).write_bytes(path.read_bytes())
    learned = load_learned_model(tmp_path / "both")
    assert learned.network is not None
    assert learned.network.digest == load_champion().digest


def test_half_a_network_is_refused(files: dict[str, bytes], tmp_path: Path) -> None:
    half = {name: content for name, content in network_files().items() if not name.endswith("model.json")}
    write_learned_model(tmp_path / "half", files | half)
    with pytest.raises(DamagedArtefactError, match=r"names no network/model\.json"):
        load_learned_model(tmp_path / "half")
