"""What training is told: a recipe for MariaDB of which any part may be set apart, and stores that count once."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from poolpilot.errors import ArtefactError
from poolpilot.featurizer.schema import feature_names
from poolpilot.models.latent.ratios import FEATURES_OF_RATIOS
from poolpilot.models.predictor import ScorePredictor
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


def test_a_network_on_ratios_is_shown_what_they_are_made_of() -> None:
    assert TrainSettings.load(None, {}).hidden_features == ()
    hidden = TrainSettings.load(None, {"features": "ratios"}).hidden_features
    assert set(feature_names()) - set(hidden) == FEATURES_OF_RATIOS
    assert list(hidden) == [name for name in feature_names() if name in hidden]


@pytest.mark.filterwarnings("ignore:The ``noload``", "ignore:Operation with range", "ignore:.*Any type hint")
def test_a_network_on_ratios_never_sees_anything_else(
    recorded_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    quick = {"baselines.trees.iterations": 2, "comparison.resamples": 100, "features": "ratios"}
    small = {"use_ppo": False, "use_marwil": False, "all_action.epochs": 1, "all_action.members": 2}
    places = {"store": recorded_store, "output": tmp_path / "artefact", "tracking": tmp_path / "tracking"}
    settings = TrainSettings.load(None, {**quick, **small, "all_action.hidden": 16, **places})
    artefact = train(settings, Console(file=io.StringIO())).artefact
    assert artefact.card.hidden_features == settings.hidden_features
    known = artefact.card.out_of_distribution
    shown = [name for name, low in zip(feature_names(), known.low, strict=True) if low is not None]
    assert set(shown) <= FEATURES_OF_RATIOS
    sweep = read_records(settings).of_split("validation")[0]
    window = next(iter(sweep.entries.values())).windows[0]
    kept = {name: value for name, value in window.profile.features.items() if name not in settings.hidden_features}
    poorer = replace(window, profile=replace(window.profile, features=dict.fromkeys(window.profile.features) | kept))
    predictor = ScorePredictor(artefact)
    told = [predictor.prefer([one], sweep.limits, sweep.objective) for one in (window, poorer)]
    assert told[0] == told[1]
