"""What training is told: a recipe for MariaDB of which any part may be set apart, and stores that count once."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from poolpilot.errors import ArtefactError
from poolpilot.pipelines.train.train import checked_stores, read_records, train
from poolpilot.pipelines.train.train_settings import TrainSettings


def test_a_named_part_of_a_nested_setting_leaves_the_rest_of_the_recipe() -> None:
    recipe = TrainSettings.load(None, {"server": "mariadb"})
    named = TrainSettings.load(None, {"server": "mariadb", "all_action.epochs": 7, "predictor.caution": 0.1})
    assert named.all_action == recipe.all_action.model_copy(update={"epochs": 7})
    assert named.predictor == recipe.predictor.model_copy(update={"caution": 0.1})
    assert (named.all_action.keep, named.predictor.min_gain) == ("last", 0.2)
    assert TrainSettings.load(None, {"all_action.epochs": 7}).all_action.keep == "best"


def test_a_store_that_is_named_twice_is_learned_from_once(
    recorded_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recorded_store.parent)
    (tmp_path / "link").symlink_to(recorded_store)
    settings = TrainSettings(
        store=recorded_store, training_stores=(recorded_store, Path(recorded_store.name), tmp_path / "link")
    )
    assert [one.directory.resolve() for one in checked_stores(settings)] == 2 * [recorded_store.resolve()]
    read = read_records(settings).of_split("train")
    assert len(read) == len({sweep.workload_id for sweep in read}) == 6


def test_an_output_that_cannot_be_made_is_refused_before_anything_is_trained(
    recorded_store: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    settings = TrainSettings(store=recorded_store, output=tmp_path / "file" / "model", tracking=tmp_path / "tracking")
    with pytest.raises(ArtefactError, match="Not a directory; name another folder with --output"):
        train(settings, Console(file=io.StringIO()))
    assert not (tmp_path / "tracking").exists()
