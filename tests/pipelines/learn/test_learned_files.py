"""The judgement of a model on the shelf is replaced, and whenever that is cut short the model is sound."""

import json
from pathlib import Path

import pytest
from tests.pipelines.production.conftest import curves_named

from poolpilot.durability.durable_writes import write_durably
from poolpilot.errors import ArtefactError
from poolpilot.models.latent.learned_folder import MANIFEST_FILE, load_learned_model, write_learned_model
from poolpilot.pipelines.learn import learned_files as module
from poolpilot.pipelines.learn.learned_files import EVALUATION_FILE, learned_files, renew_evaluation

PASSED = b'{"objections": []}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that was refused."""
    place = tmp_path / "model"
    write_learned_model(place, learned_files(curves_named("one"), {"objections": ["it loses"]}))
    return place


def listed(folder: Path) -> dict[str, str]:
    return dict(json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))["sha256"])


def test_latest_judgement_takes_the_place_of_the_one_before(folder: Path) -> None:
    before, files = listed(folder), {path.name for path in folder.iterdir()}
    renew_evaluation(folder, PASSED)
    assert (folder / EVALUATION_FILE).read_bytes() == PASSED
    assert load_learned_model(folder).curves.digest == curves_named("one").digest
    assert {name for name, digest in listed(folder).items() if before[name] != digest} == {EVALUATION_FILE}
    assert listed(folder).keys() == before.keys()
    assert {path.name for path in folder.iterdir()} == files


def test_same_judgement_is_not_written_again(folder: Path) -> None:
    """A service that follows the folder would load what it has."""
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}
    renew_evaluation(folder, (folder / EVALUATION_FILE).read_bytes())
    assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()} == before


@pytest.mark.parametrize("done", range(3))
def test_replacement_that_is_cut_short_leaves_a_sound_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch, done: int
) -> None:
    written: list[Path] = []

    def on_a_full_disk(path: Path, content: bytes) -> None:
        if len(written) == done:
            raise OSError(28, "No space left on device")
        write_durably(path, content)
        written.append(path)

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_durably", on_a_full_disk)
        with pytest.raises(ArtefactError, match=r"cannot write the evaluation .*No space"):
            renew_evaluation(folder, PASSED)
    assert load_learned_model(folder).curves.digest == curves_named("one").digest
    renew_evaluation(folder, PASSED)
    assert EVALUATION_FILE in listed(folder)
    assert load_learned_model(folder).curves.digest == curves_named("one").digest
