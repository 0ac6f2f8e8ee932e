"""Staging on MariaDB plans whole families, in a store of its own, with windows of its own."""

from pathlib import Path

import pytest

from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.measurement.protocol import MARIADB_RACING
from poolpilot.lab.sysbench_families import FAMILIES, draw_workload
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.collect.staging import mariadb_staging, racing_for
from poolpilot.pipelines.evaluate.evaluate import EvaluateSettings
from poolpilot.pipelines.store.dataset import one_grid
from poolpilot.pipelines.store.records import StagingStore
from poolpilot.pipelines.train.promote import PromoteSettings
from poolpilot.pipelines.train.train_settings import TrainSettings

STORE = Path("pipelines/mariadb")


def test_mariadb_has_a_store_of_its_own_everywhere() -> None:
    assert CollectSettings.load(None, {"server": "mariadb"}).store == STORE
    assert PromoteSettings.load(None, {"server": "mariadb"}).store == STORE
    train = TrainSettings.load(None, {"server": "mariadb"})
    assert train.store == STORE
    assert train.server_views
    assert train.initial is not None
    assert (train.initial / "manifest.json").is_file()


def test_named_settings_win_over_mariadbs_defaults() -> None:
    named = CollectSettings.load(None, {"server": "mariadb", "store": "elsewhere", "climbs": 2})
    assert (named.store, named.climbs) == (Path("elsewhere"), 2)
    assert CollectSettings.load(None, {"server": "mariadb", "grid": "large"}).action_grid == LARGE_GRID


def test_what_is_collected_without_more_goes_on_with_the_records_that_the_champion_learned_from() -> None:
    settings = CollectSettings.load(None, {})
    definitions = StagingStore(settings.store).workload_rows()
    assert one_grid(settings.store, definitions.values()) == settings.action_grid
    assert TrainSettings.load(None, {}).store == EvaluateSettings.load(None, {}).store == settings.store


def test_splits_hold_whole_families_and_only_the_wanted_are_planned() -> None:
    planned, _ = mariadb_staging(CollectSettings.load(None, {"server": "mariadb"}))
    assert len(planned) >= 40
    assert all(FAMILIES[one.workload.family].split == one.split for one in planned)
    held_out, _ = mariadb_staging(CollectSettings.load(None, {"server": "mariadb", "splits": ("test",)}))
    assert {one.split for one in held_out} == {"test"}


def test_windows_are_mariadbs_unless_named_and_hold_whole_bursts() -> None:
    settings = CollectSettings.load(None, {"server": "mariadb"})
    even, bursty = (draw_workload(FAMILIES[name], 1, 0) for name in ("point_select", "bursty"))
    assert racing_for(even, settings).racing.window_s == MARIADB_RACING.window_s
    racing, period_s = racing_for(bursty, settings).racing, bursty.classes[0].burst_period_s
    for pool_tuple in settings.action_grid.tuples:
        bursts = racing.window_for(pool_tuple) / period_s
        assert bursts == pytest.approx(round(bursts)), "also where the slow timer lengthens a window"
    named = CollectSettings.load(None, {"server": "mariadb", "racing.window_s": 2.5})
    assert racing_for(even, named).racing.window_s == 2.5
    assert racing_for(even, named).racing.settle_s == MARIADB_RACING.settle_s
