"""The gate between a trained model and the champion judges what it can judge, and promotes what it has judged."""

import io
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from mlflow.exceptions import MlflowException
from rich.console import Console

from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.errors import ArtefactError, ServerError, StoreError
from poolpilot.models import artefact_folder
from poolpilot.models.artefact import load, save
from poolpilot.models.champion import CHAMPIONS, champion_folder
from poolpilot.pipelines.evaluate.evaluation import Evaluation
from poolpilot.pipelines.store.records import StagingStore
from poolpilot.pipelines.train import promote as gate
from poolpilot.pipelines.train.promote import PromoteSettings, Promotion, objections_to, promote
from poolpilot.pipelines.train.train import train
from poolpilot.pipelines.train.train_settings import TrainSettings

pytestmark = [
    pytest.mark.filterwarnings("ignore:The ``noload``"),  # SQLAlchemy warns of what MLflow still uses
    pytest.mark.filterwarnings("ignore:Operation with range is deprecated"),  # pandas warns of what MLflow does
    pytest.mark.filterwarnings("ignore:.*Any type hint is inferred"),  # MLflow's own base class has such a hint
]

QUICK: Mapping[str, object] = {"baselines.trees.iterations": 2, "comparison.resamples": 100}


@pytest.fixture(scope="module")
def candidate(recorded_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that has hardly learned anything."""
    place = tmp_path_factory.mktemp("trained")
    small = {"use_ppo": False, "use_marwil": False, "all_action.epochs": 1, "all_action.members": 2}
    places = {"store": recorded_store, "output": place / "artefact", "tracking": place / "tracking"}
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        train(TrainSettings.load(None, {**QUICK, **small, "all_action.hidden": 16, **places}), silent())
    return place / "artefact"


@pytest.fixture
def promoted(
    candidate: Path, recorded_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Promotion]:
    """Promotes the candidate into a private folder, with other settings where some are given."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)

    def run(console: Console | None = None, **values: object) -> Promotion:
        places = {"candidate": candidate, "champion": tmp_path / "champion", "store": recorded_store}
        settings = {**QUICK, **places, "tracking": candidate.parent / "tracking", **values}
        return promote(PromoteSettings.load(None, settings), console or silent())

    return run


@pytest.fixture
def better(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is judged is better than the single best static tuple."""
    monkeypatch.setattr(gate, "_regrets", lambda *_: {"candidate": 0.1, "sbs": 0.2})


def silent() -> Console:
    return Console(file=io.StringIO())


def test_a_regret_that_is_no_number_is_refused() -> None:
    assert len(objections_to({"candidate": math.nan, "sbs": 0.2, "champion": 0.1}, margin=0.01, workloads=3)) == 2
    assert len(objections_to({"candidate": 0.1, "sbs": math.nan, "champion": math.nan}, margin=0.01, workloads=3)) == 2


def test_two_workloads_judge_nothing() -> None:
    (few,) = objections_to({"candidate": 0.1, "sbs": 0.2}, margin=0.01, workloads=2)
    assert few == "it was judged on 2 validation workloads and 3 are needed: collect more"


@pytest.mark.usefixtures("better")
def test_workloads_that_cannot_judge_do_not_count(
    promoted: Callable[..., Promotion], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "censored_sweeps", lambda sweeps: {sweeps[0].workload_id: "it does not repeat"})
    (few,) = promoted(dry_run=True).objections
    assert few.startswith("it was judged on 2 validation workloads")


def test_records_that_nothing_may_learn_from_judge_nothing(
    promoted: Callable[..., Promotion], recorded_store: Path, tmp_path: Path
) -> None:
    whole, store = StagingStore(recorded_store), StagingStore(tmp_path / "planted")
    windows = [dict(row) for row in whole.window_rows()]
    next(row for row in windows if row["split"] == "validation")["duration_s"] = math.nan
    store.workloads.append([dict(row) for row in whole.workload_rows().values()], "run")
    store.windows.append(windows, "run")
    with pytest.raises(StoreError, match="no finite number in duration_s"):
        promoted(store=store.directory)
    assert not (tmp_path / "champion").exists()


@pytest.mark.usefixtures("better")
def test_what_was_judged_is_promoted_whatever_is_written_meanwhile(
    promoted: Callable[..., Promotion], candidate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(candidate, tmp_path / "candidate")
    digest = load(candidate).digest

    def judge_slowly(*_: object) -> dict[str, float]:
        artefact_folder.write(tmp_path / "candidate", artefact_folder.read(champion_folder()))
        return {"candidate": 0.1, "sbs": 0.2}

    monkeypatch.setattr(gate, "_regrets", judge_slowly)
    assert promoted(candidate=tmp_path / "candidate").candidate == digest
    assert load(tmp_path / "champion").digest == digest


@pytest.mark.usefixtures("better")
def test_a_champion_of_another_grid_is_replaced_if_told_so(promoted: Callable[..., Promotion], tmp_path: Path) -> None:
    shutil.copytree(champion_folder(), tmp_path / "champion")
    with pytest.raises(ArtefactError, match="chooses from another grid of configurations; give --set without_compar"):
        promoted()
    console = silent()
    assert promoted(console, without_comparison=True, dry_run=True).champion is None
    assert isinstance(console.file, io.StringIO)
    assert "Warning: the candidate cannot be compared with the champion in" in console.file.getvalue()


@pytest.mark.usefixtures("better")
def test_a_champion_that_may_choose_less_is_compared(
    promoted: Callable[..., Promotion], candidate: Path, tmp_path: Path
) -> None:
    artefact = load(candidate)
    grid = replace(artefact.card.grid, sizes=artefact.card.grid.sizes[:-1])
    card = artefact.card.model_copy(
        update={"grid": grid, "architecture": artefact.card.architecture.model_copy(update={"candidates": len(grid)})}
    )
    kept = [pool_tuple in grid.tuples for pool_tuple in artefact.card.grid.tuples]
    weights = {**artefact.weights, "candidates": artefact.weights["candidates"][kept]}
    smaller = save(tmp_path / "champion", weights, card)
    assert promoted(dry_run=True).champion == smaller.digest


def test_a_champion_for_another_kind_of_server_is_never_replaced(
    promoted: Callable[..., Promotion], tmp_path: Path
) -> None:
    shutil.copytree(champion_folder(kind="mariadb"), tmp_path / "champion")
    with pytest.raises(ArtefactError, match="is for servers of the kind 'mariadb' and the candidate for 'native'"):
        promoted(without_comparison=True)


@pytest.mark.usefixtures("better")
def test_an_alias_that_cannot_be_moved_is_a_sentence(
    promoted: Callable[..., Promotion], candidate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: str) -> None:
        raise MlflowException("the registry is read-only")

    monkeypatch.setenv(CHAMPIONS["native"][1], str(tmp_path / "champion"))
    monkeypatch.setattr(gate, "set_production_alias", refuse)
    with pytest.raises(ServerError, match=r"in force in .*champion, but .*read-only; run \S+ learn promote again"):
        promoted()
    assert load(tmp_path / "champion").digest == load(candidate).digest


def test_for_mariadb_the_gate_sees_what_the_server_sees(
    promoted: Callable[..., Promotion], candidate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def noted(sweeps: Sequence[WorkloadSweep], *_: object) -> Evaluation:
        seen.extend(sweep.workload_id for sweep in sweeps)
        assert not any(one.classes for sweep in sweeps for entry in sweep.entries.values() for one in entry.windows)
        raise StoreError("enough seen")

    artefact = load(candidate)
    card = artefact.card.model_copy(update={"server_kind": "mariadb"})
    save(candidate.parent / "mariadb", artefact.weights, card)
    monkeypatch.setattr(gate, "evaluate_methods", noted)
    with pytest.raises(StoreError, match="enough seen"):
        promoted(server="mariadb", candidate=candidate.parent / "mariadb", dry_run=True)
    assert len(seen) == 3
