"""An artefact returns what was saved, and a damaged or foreign one is refused in one sentence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError
from safetensors.numpy import save as save_tensors

from poolpilot.errors import ArtefactError, DamagedArtefactError
from poolpilot.featurizer.schema import FEATURES
from poolpilot.models import artefact_folder
from poolpilot.models.artefact import Artefact, load, save
from poolpilot.models.artefact_folder import CARD_FILE, GOLDEN_FILE, REPOSITORY_FILE, WEIGHTS_FILE
from poolpilot.models.card import ModelCard, Variant
from poolpilot.models.workload_repository import RememberedTuple, RememberedWorkload, WorkloadRepository


@pytest.fixture
def folder(artefact: Artefact, tmp_path: Path) -> Path:
    assert artefact.digest
    return tmp_path / "random"


def rewrite(folder: Path, name: str, content: bytes) -> None:
    """Replaces a file and makes the manifest agree with it."""
    artefact_folder.write(folder, {**artefact_folder.read(folder), name: content})


def rewrite_card(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    card = json.loads((folder / CARD_FILE).read_bytes())
    change(card)
    rewrite(folder, CARD_FILE, json.dumps(card).encode())


def test_load_returns_what_was_saved(artefact: Artefact, weights: dict[str, NDArray[np.float32]], folder: Path) -> None:
    loaded = load(folder)
    assert loaded.card == artefact.card
    assert loaded.digest == artefact.digest == artefact_folder.model_digest(artefact_folder.read(folder))
    assert set(loaded.weights) == set(weights)
    assert all(np.array_equal(loaded.weights[name], weights[name]) for name in weights)


@pytest.mark.parametrize("variant", get_args(Variant))
def test_card_says_which_stage_the_weights_come_from(
    variant: Variant, artefact: Artefact, card_of: Callable[..., ModelCard], tmp_path: Path
) -> None:
    save(tmp_path / "of-a-stage", artefact.weights, card_of(variant=variant))
    assert load(tmp_path / "of-a-stage").card.variant == variant


def test_card_of_before_does_not_say_it_and_is_read(folder: Path) -> None:
    rewrite_card(folder, lambda card: card.pop("variant"))
    assert load(folder).card.variant is None


def test_same_model_has_the_same_digest_and_another_another(artefact: Artefact, tmp_path: Path) -> None:
    again = save(tmp_path / "again", artefact.weights, artefact.card)
    changed = artefact.card.model_copy(update={"training_digest": "1" * 64})
    assert again.digest == artefact.digest
    assert save(tmp_path / "other", artefact.weights, changed).digest != artefact.digest


@pytest.fixture
def repository() -> WorkloadRepository:
    remembered = RememberedTuple(core=(2, 3, 500), features=(0.5,) * len(FEATURES), value=1.0, per_s={"read": 3.0})
    return WorkloadRepository(workloads=(RememberedWorkload(name="a", family="b", tuples=(remembered,)),))


def test_repository_is_stored_with_the_model_and_goes_with_it(
    tmp_path: Path, artefact: Artefact, repository: WorkloadRepository
) -> None:
    remembering = save(tmp_path / "new", artefact.weights, artefact.card, repository)
    assert remembering.repository == load(tmp_path / "new").repository == repository
    assert remembering.digest == artefact.digest, "what predicts is the same"
    assert save(tmp_path / "new", artefact.weights, artefact.card).repository is None
    assert not (tmp_path / "new" / REPOSITORY_FILE).exists()


@pytest.mark.parametrize("name", [WEIGHTS_FILE, CARD_FILE, REPOSITORY_FILE, GOLDEN_FILE])
def test_one_flipped_bit_is_noticed(
    tmp_path: Path, artefact: Artefact, repository: WorkloadRepository, name: str
) -> None:
    save(tmp_path, artefact.weights, artefact.card, repository)
    content = bytearray((tmp_path / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DamagedArtefactError, match=f"{name} does not match its digest"):
        load(tmp_path)


def test_model_that_does_not_answer_what_it_did_is_refused(
    folder: Path, weights: dict[str, NDArray[np.float32]]
) -> None:
    rewrite(folder, WEIGHTS_FILE, save_tensors({**weights, "score_out.weight": 1.01 * weights["score_out.weight"]}))
    with pytest.raises(ArtefactError, match="does not answer what it did when it was saved"):
        load(folder)


def test_model_of_an_older_version_has_no_golden_vectors_and_is_taken(folder: Path, artefact: Artefact) -> None:
    files = artefact_folder.read(folder)
    del files[GOLDEN_FILE]
    artefact_folder.write(folder, files)
    loaded = load(folder)
    loaded.check()
    assert (loaded.golden, loaded.digest) == (None, artefact.digest)


@pytest.mark.parametrize("content", [b"{}", b"[]", b"no JSON", b'{"inputs": {}, "gains": "many"}'])
def test_file_without_golden_vectors_is_damaged(folder: Path, content: bytes) -> None:
    rewrite(folder, GOLDEN_FILE, content)
    with pytest.raises(DamagedArtefactError, match=r"golden\.json holds no golden vectors"):
        load(folder)


@pytest.mark.parametrize("content", [b"no JSON", b"[" * 100_000])
def test_card_that_is_none_is_damaged(folder: Path, content: bytes) -> None:
    rewrite(folder, CARD_FILE, content)
    with pytest.raises(DamagedArtefactError, match=rf"{CARD_FILE} is not JSON"):
        load(folder)


def test_unknown_architecture_names_the_program_that_wrote_it(folder: Path) -> None:
    rewrite_card(folder, lambda card: card["architecture"].update(kind="transformer-7"))
    with pytest.raises(ArtefactError, match=r"'transformer-7'.*install the version that wrote it \(poolpilot"):
        load(folder)


def test_other_schema_version_is_refused(folder: Path) -> None:
    rewrite_card(folder, lambda card: card.update(schema_version=2))
    with pytest.raises(ArtefactError, match="version 2 of the feature schema but this version reads 1") as refused:
        load(folder)
    assert not isinstance(refused.value, DamagedArtefactError)


def test_other_features_are_refused_by_name(folder: Path) -> None:
    rewrite_card(folder, lambda card: card["features"][5].update(unit="fortnight"))
    name = json.loads((folder / CARD_FILE).read_bytes())["features"][5]["name"]
    with pytest.raises(ArtefactError, match=f"first difference: {name}"):
        load(folder)


def spoil(card: dict[str, Any]) -> None:
    card["out_of_distribution"]["low"].pop()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda card: card.pop("ladder"), "grid: Field required"),
        (lambda card: card.update(mood="good"), "mood"),
        (lambda card: card.update(variant="luck"), "variant: Input should be 'all_action', 'ppo' or 'marwil'"),
        (spoil, "every vector of features"),
        (lambda card: card["ladder"].update(sizes=[1, 2]), "the grid has"),
        (lambda card: card.pop("architecture"), "architecture None"),
    ],
)
def test_card_that_does_not_fit_is_refused(
    folder: Path, change: Callable[[dict[str, Any]], object], place: str
) -> None:
    rewrite_card(folder, change)
    with pytest.raises(ArtefactError, match=place):
        load(folder)


def test_file_that_is_no_safetensors_is_refused(folder: Path) -> None:
    rewrite(folder, WEIGHTS_FILE, b"\x80\x04 certainly no tensors")
    with pytest.raises(ArtefactError, match="not a safetensors file"):
        load(folder)


@pytest.mark.parametrize(
    ("name", "array", "sentence"),
    [
        ("score_in.weight", np.zeros((1, 2, 3), np.float32), r"score_in.weight is float32\(1, 2, 3\), not float32\("),
        ("log_sharpness", np.array(np.nan, np.float32), "not finite"),
        ("log_sharpness", np.array(1.0), "float64"),
        ("backdoor", np.zeros(1, np.float32), "'backdoor' is missing or unknown"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    folder: Path, weights: dict[str, NDArray[np.float32]], name: str, array: NDArray[Any], sentence: str
) -> None:
    rewrite(folder, WEIGHTS_FILE, save_tensors({**weights, name: array}))
    with pytest.raises(ArtefactError, match=sentence):
        load(folder)


def test_weights_of_another_grid_are_not_saved(
    tmp_path: Path, weights: dict[str, NDArray[np.float32]], artefact: Artefact
) -> None:
    moved = {**weights, "candidates": weights["candidates"] + 1}
    with pytest.raises(ArtefactError, match="not those of the card's grid"):
        save(tmp_path / "moved", moved, artefact.card)
    assert not (tmp_path / "moved").exists()


def test_folder_that_cannot_be_made_is_named(tmp_path: Path, artefact: Artefact) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ArtefactError, match=r"cannot write the model to .*file.*choose another folder"):
        save(tmp_path / "file", artefact.weights, artefact.card)


def test_card_cannot_be_changed(card_of: Callable[..., ModelCard]) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        card_of().residual_std = 1.0
