"""The records in the repository are those that the shipped models learned from and the published figures come from."""

import json
from pathlib import Path

import pytest

from poolpilot.models.champion import Kind, load_champion
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.store.records import StagingStore

ROOT = Path(__file__).parents[3]
STORES: dict[Kind, Path] = {"native": ROOT / "pipelines" / "native", "mariadb": ROOT / "pipelines" / "mariadb"}
OLDER = ROOT / "pipelines" / "records"
MOST_BYTES = 20_000_000


@pytest.mark.parametrize("kind", STORES)
def test_production_model_learned_from_the_records_that_are_shipped(kind: Kind) -> None:
    learned_from = load_champion(kind=kind).card.training_digest
    assert read_dataset(STORES[kind], "train", "validation").digest == learned_from


def test_published_evaluation_is_of_the_shipped_model_and_records() -> None:
    report = json.loads((ROOT / "benchmarks" / "reports" / "evaluation.json").read_text())
    assert report["model_digest"] == load_champion().digest
    assert report["dataset_digest"] == read_dataset(STORES["native"], "train", report["split"]).digest


@pytest.mark.parametrize("folder", [*STORES.values(), OLDER], ids=lambda folder: folder.name)
def test_shipped_records_are_merged_and_small(folder: Path) -> None:
    store = StagingStore(folder)
    assert (len(store.windows.segments), len(store.workloads.segments), store.torn) == (1, 1, ())
    stores = [*STORES.values(), OLDER]
    assert sum(path.stat().st_size for each in stores for path in each.rglob("*.parquet")) < MOST_BYTES
