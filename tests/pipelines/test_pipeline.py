"""From records to a champion: train, evaluate and promote on small data, with MLflow beside it."""

import io
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import mlflow
import pytest
from mlflow import MlflowClient
from rich.console import Console
from typer.testing import CliRunner

from poolpilot.errors import ArtefactError, DamagedArtefactError, StoreError
from poolpilot.featurizer.schema import FEATURES
from poolpilot.models import artefact_folder
from poolpilot.models.artefact import load, save
from poolpilot.models.champion import CHAMPIONS, load_champion
from poolpilot.models.mlflow.packaging import REGISTERED_NAME
from poolpilot.models.workload_repository import RememberedTuple, RememberedWorkload, WorkloadRepository
from poolpilot.pipelines.evaluate.evaluate import EvaluateSettings, evaluate
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.store.records import StagingStore
from poolpilot.pipelines.store.views import connect
from poolpilot.pipelines.tracking import use_tracking
from poolpilot.pipelines.train.promote import PromoteSettings, objections_to, promote
from poolpilot.pipelines.train.stage_store import FOLDER
from poolpilot.pipelines.train.train import TrainReport, train
from poolpilot.pipelines.train.train_settings import TrainSettings
from poolpilot.serve.commands.main import build
from poolpilot.serve.commands.presentation.exit_codes import REFUSED

pytestmark = [
    pytest.mark.filterwarnings("ignore:The ``noload``"),  # SQLAlchemy warns of what MLflow still uses
    pytest.mark.filterwarnings("ignore:Operation with range is deprecated"),  # pandas warns of what MLflow does
    pytest.mark.filterwarnings("ignore:.*Any type hint is inferred"),  # MLflow's own base class has such a hint
]

SMALL: Mapping[str, object] = {
    "use_ppo": False,
    "use_marwil": False,
    "all_action.epochs": 200,
    "all_action.learning_rate": 3e-3,
    "all_action.weight_decay": 0.1,
    "all_action.policy_weight": 1.0,
    "all_action.sharpness": 10.0,
    "all_action.hide_feature_share": 0.05,
    "all_action.members": 2,
    "all_action.hidden": 16,
    "predictor.deviations": 0.01,
    "predictor.max_disagreement": 100.0,
    "baselines.trees.iterations": 10,
    "comparison.resamples": 100,
}
"""A network that learns the two training families in seconds and is bold enough to act on what it has learned.

With fewer epochs and less weight decay its rank among the baselines hung on the processor it ran on.
"""


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a trained artefact and its MLflow store."""
    return tmp_path_factory.mktemp("workplace")


@pytest.fixture(autouse=True)
def _local_tracking(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    use_tracking(workplace / "tracking")


@pytest.fixture(scope="module")
def trained(recorded_store: Path, workplace: Path) -> TrainReport:
    """A small model trained on the recorded store."""
    patch = pytest.MonkeyPatch()
    patch.delenv("MLFLOW_TRACKING_URI", raising=False)
    settings = TrainSettings.load(
        None, {**SMALL, "store": recorded_store, "output": workplace / "artefact", "tracking": workplace / "tracking"}
    )
    report = train(settings, Console(file=io.StringIO()))
    patch.undo()
    return report


def test_training_makes_a_sound_artefact_of_the_records(trained: TrainReport, recorded_store: Path) -> None:
    dataset = read_dataset(recorded_store, "train", "validation")
    card = load(trained.folder).card
    assert card.training_digest == dataset.digest
    assert card.grid == dataset.grid
    assert card.out_of_distribution.cpus == (2,)
    assert card.residual_std > 0.0
    assert card.metrics["validation.predicted.regret_median"] == pytest.approx(
        trained.evaluation.methods()["predicted"]["regret_median"]
    )
    assert trained.variant == card.variant == "all_action"
    assert not (trained.folder / FOLDER).exists()  # what Ctrl-C would have kept is in the model


def test_the_trained_model_beats_the_best_static_tuple(trained: TrainReport) -> None:
    methods = trained.evaluation.methods()
    assert set(methods) == {
        "predicted", "refined", "unguarded", "default", "sbs", "nearest", "trees", "wait_ratio", "little",
        "oracle_again",
    }  # fmt: skip
    assert trained.evaluation.paired_vs("sbs")["predicted"].mean_difference < 0.0
    assert trained.evaluation.paired_vs("sbs")["oracle_again"].mean_difference < 0.0


def test_the_run_is_tracked(trained: TrainReport) -> None:
    run = mlflow.get_run(trained.run_id)
    assert run.data.params["all_action.epochs"] == "200"
    assert run.data.tags["dataset_digest"] == trained.artefact.card.training_digest
    assert run.data.tags["artefact_digest"] == trained.artefact.digest
    client = MlflowClient()
    history = client.get_metric_history(trained.run_id, "all_action.validation_regret_mean")
    assert [one.step for one in history] == list(range(len(history)))
    assert len(history) > 1
    artefacts = {one.path for one in client.list_artifacts(trained.run_id)}
    assert {"all_action.png", "regrets.png", "risk_coverage.png", "evaluation.json"} <= artefacts


def test_the_version_has_signature_and_example_and_answers(trained: TrainReport) -> None:
    version = MlflowClient().get_model_version(REGISTERED_NAME, trained.version)
    assert version.tags["artefact_digest"] == trained.artefact.digest
    assert version.description is not None
    assert "for servers of the kind `native` with 2 processors; for others it gives no advice" in version.description
    assert "by `all_action`. Input" in version.description
    assert re.search(r"Mean regret on the validation workloads: \d+\.\d %", version.description)
    model = mlflow.pyfunc.load_model(f"models:/{REGISTERED_NAME}/{trained.version}")
    assert model.metadata.signature is not None
    answer = model.predict(model.input_example)
    assert answer["model_digest"][0] == trained.artefact.digest


def test_evaluation_evaluates_the_test_split_and_writes_json(
    trained: TrainReport, recorded_store: Path, workplace: Path
) -> None:
    path = workplace / "evaluation.json"
    flags = [
        "--store", str(recorded_store), "--model", str(trained.folder), "--tracking", str(workplace / "tracking"),
        "--json", str(path), "--set", "baselines.trees.iterations=10", "--set", "comparison.resamples=100",
    ]  # fmt: skip
    result = CliRunner().invoke(build(), ["evaluate", *flags], env={"COLUMNS": "150"}, catch_exceptions=False)
    assert result.exit_code == 0
    assert "6 workloads of 2 families, split test" in result.stdout
    report = json.loads(path.read_text())
    assert report["model_digest"] == trained.artefact.digest
    for name in ("predicted", "refined", "default", "sbs", "nearest", "trees", "oracle_again"):
        assert {"regret_median", "regret_p90", "within_5pct"} <= set(report["methods"][name])
    assert report["paired_vs_sbs"]["predicted"]["low"] is None, "two families have no interval"


def test_evaluation_refuses_what_does_not_fit(trained: TrainReport, recorded_store: Path, tmp_path: Path) -> None:
    settings = {"store": recorded_store, "tracking": tmp_path / "tracking"}
    with pytest.raises(ArtefactError, match="there is no champion"):
        evaluate(EvaluateSettings.load(None, {**settings, "model": tmp_path / "none"}))
    with pytest.raises(StoreError, match="holds no workloads"):
        evaluate(EvaluateSettings.load(None, {"store": tmp_path / "none", "model": trained.folder}))
    with connect(StagingStore(recorded_store)) as connection:
        assert connection.sql("SELECT count(*) FROM features WHERE split = 'test'").fetchall() == [(6 * 46,)]


def promotion_settings(trained: TrainReport, store: Path, champion: Path, **values: object) -> PromoteSettings:
    common = {
        "candidate": trained.folder,
        "champion": champion,
        "store": store,
        "tracking": trained.folder.parent / "tracking",
        "baselines.trees.iterations": 10,
        "comparison.resamples": 100,
    }
    return PromoteSettings.load(None, {**common, **values})


def test_a_dry_run_changes_nothing(trained: TrainReport, recorded_store: Path, tmp_path: Path) -> None:
    promotion = promote(promotion_settings(trained, recorded_store, tmp_path / "champion", dry_run=True))
    assert (promotion.objections, promotion.promoted) == ((), False)
    assert not (tmp_path / "champion").exists()
    assert MlflowClient().get_model_version(REGISTERED_NAME, trained.version).aliases == []


def test_a_better_model_becomes_the_champion(
    trained: TrainReport, recorded_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHAMPIONS["native"][1], str(tmp_path / "champion"))
    first = promote(promotion_settings(trained, recorded_store, tmp_path / "champion"))
    assert (first.promoted, first.champion) == (True, None)
    assert load_champion(tmp_path / "champion").digest == trained.artefact.digest
    version = MlflowClient().get_model_version_by_alias(REGISTERED_NAME, "champion")
    assert str(version.version) == trained.version
    assert version.tags["validation_status"] == "passed"
    again = promote(promotion_settings(trained, recorded_store, tmp_path / "champion"))
    assert again.champion == trained.artefact.digest
    assert again.regrets["champion"] == pytest.approx(again.regrets["candidate"])


def test_promotion_into_a_private_folder_leaves_the_shared_alias(
    trained: TrainReport, recorded_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHAMPIONS["native"][1], str(tmp_path / "in use"))
    MlflowClient().delete_registered_model_alias(REGISTERED_NAME, "champion")
    assert promote(promotion_settings(trained, recorded_store, tmp_path / "private")).promoted
    assert load_champion(tmp_path / "private").digest == trained.artefact.digest
    assert MlflowClient().get_registered_model(REGISTERED_NAME).aliases == {}


@pytest.mark.parametrize("name", ["model.safetensors", "model.json", "memory.json", "golden.json", "manifest.json"])
def test_a_damaged_champion_stops_the_gate(
    trained: TrainReport, recorded_store: Path, tmp_path: Path, name: str
) -> None:
    artefact = trained.artefact
    remembered = RememberedTuple(core=(2, 3, 500), features=(None,) * len(FEATURES), value=1.0, per_s={})
    repository = WorkloadRepository(workloads=(RememberedWorkload(name="a", family="b", tuples=(remembered,)),))
    save(tmp_path / "champion", artefact.weights, artefact.card, repository)
    (tmp_path / "champion" / name).write_bytes(b"{}")
    with pytest.raises(DamagedArtefactError, match=rf"cannot be compared with the champion, which is damaged.*{name}"):
        promote(promotion_settings(trained, recorded_store, tmp_path / "champion"))
    assert (tmp_path / "champion" / name).read_bytes() == b"{}"


def test_a_champion_of_another_version_is_replaced_without_comparison_if_told_so(
    trained: TrainReport, recorded_store: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "champion"
    files = artefact_folder.read(trained.folder)
    card = {**json.loads(files["model.json"]), "schema_version": 0}
    artefact_folder.write(folder, {**files, "model.json": json.dumps(card).encode()})
    with pytest.raises(ArtefactError, match=r"feature schema.*give --set without_comparison=true"):
        promote(promotion_settings(trained, recorded_store, folder))
    promotion = promote(promotion_settings(trained, recorded_store, folder, without_comparison=True))
    assert (promotion.champion, promotion.promoted) == (None, True)
    assert load_champion(folder).digest == trained.artefact.digest


def test_a_model_that_loses_to_the_static_tuple_is_refused(
    trained: TrainReport, recorded_store: Path, tmp_path: Path
) -> None:
    timid = trained.artefact.card.settings.model_copy(update={"min_gain": 1000.0})
    card = trained.artefact.card.model_copy(update={"settings": timid})
    save(tmp_path / "timid", trained.artefact.weights, card)
    shutil.copytree(trained.folder, tmp_path / "champion")
    flags = [
        "--candidate", str(tmp_path / "timid"), "--set", f"champion={tmp_path / 'champion'}", "--store",
        str(recorded_store), "--tracking", str(tmp_path / "tracking"), "--set", "baselines.trees.iterations=10",
    ]  # fmt: skip
    result = CliRunner().invoke(build(), ["learn", "promote", *flags], env={"COLUMNS": "150"}, catch_exceptions=False)
    assert result.exit_code == REFUSED
    assert "not below the" in result.stdout
    assert "of the champion" in result.stdout
    assert load_champion(tmp_path / "champion").digest == trained.artefact.digest
    (version,) = MlflowClient().search_model_versions(f"name = '{REGISTERED_NAME}'")
    assert version.tags["validation_status"] == "refused"


def test_the_gate_in_words() -> None:
    assert objections_to({"candidate": 0.1, "sbs": 0.2, "champion": 0.095}, margin=0.01, workloads=3) == ()
    (worse,) = objections_to({"candidate": 0.1, "sbs": 0.2, "champion": 0.05}, margin=0.01, workloads=3)
    assert worse == (
        "its mean regret on the validation workloads is 10.0%, more than 1.0% above the 5.0% of the champion"
    )
    assert len(objections_to({"candidate": 0.3, "sbs": 0.2, "champion": 0.05}, margin=0.01, workloads=3)) == 2
