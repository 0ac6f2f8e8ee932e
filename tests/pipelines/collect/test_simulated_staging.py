"""Simulated collection: sweeps of machines nobody has, on all processors, resumable, ready to learn from."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.workloads.family import Split
from poolpilot.env.workloads.light_families import LIGHT_CHOOSING_FAMILIES, LIGHT_EVERY, LIGHT_FAMILIES
from poolpilot.env.workloads.simulated_families import (
    CHOOSING_FAMILY,
    COMPOSED,
    CYCLE_S,
    SIMULATED_FAMILIES,
    draw_scenario,
)
from poolpilot.errors import StoreError
from poolpilot.featurizer.record import OLDER_TIMER
from poolpilot.pipelines.collect.collect import collect
from poolpilot.pipelines.collect.collect_report import CollectReport
from poolpilot.pipelines.collect.collect_settings import SIMULATED_STORE, CollectSettings
from poolpilot.pipelines.collect.staging import SimulatedStaging, planned_scenarios, simulated_staging
from poolpilot.pipelines.store.dataset import SweepDataset, read_dataset
from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck
from poolpilot.pipelines.store.records import StagingStore

SMALL = {"simulated.window_requests": 200, "simulated.window_s": 2.0}
SPLITS: tuple[Split, ...] = ("train", "validation")
WHOLE = 3 * len(SIMULATED_FAMILIES) // 2
"""Workloads of which two in three are one of every family."""

LIVE = Path(__file__).parents[3] / "pipelines" / "records"


def collected(store: Path, workloads: int = 4, workers: int = 2, **flags: Any) -> CollectReport:
    given = {"store": store, "server": "simulated", "simulated.workloads": workloads, "simulated.workers": workers}
    settings = CollectSettings.load(None, {**given, **SMALL, **flags})
    return collect(settings, *simulated_staging(settings), Console(file=io.StringIO()))


@pytest.fixture(scope="module")
def judged() -> SweepDataset:
    """The live workloads that ship to judge by."""
    return read_dataset(LIVE, "validation")


def outcomes(store: Path) -> set[tuple[Any, ...]]:
    names = ("workload_id", "pool_size", "oversubscribe", "timer_interval_ms", "round", "goodput_per_s")
    return {tuple(row[name] for name in names) for row in StagingStore(store).window_rows()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> CollectReport:
    """One workload of every family, collected, and half as many lightly loaded; its store is to be read only."""
    return collected(tmp_path_factory.mktemp("whole"), workloads=WHOLE)


def test_sweeps_are_complete_and_can_be_learned_from(whole: CollectReport) -> None:
    assert whole.complete == WHOLE
    assert not whole.failed
    dataset = read_dataset(whole.store, "train")
    light = [sweep for sweep in dataset.sweeps if sweep.family in LIGHT_FAMILIES]
    assert len(light) == len({sweep.family for sweep in light}) == WHOLE // LIGHT_EVERY
    assert {sweep.family for sweep in dataset.sweeps} - set(LIGHT_FAMILIES) == set(SIMULATED_FAMILIES)
    assert all(len(sweep.entries) == len(dataset.grid) == 32 for sweep in dataset.sweeps)
    assert all(sweep.again_values for sweep in dataset.sweeps)


def test_more_are_composed_and_some_are_to_choose_by(tmp_path: Path) -> None:
    report = collected(tmp_path, 1, **{"simulated.composed": 3, "simulated.validation": 2})
    assert report.complete == 6
    dataset = read_dataset(tmp_path, "train", "validation")
    by_split = {split: {sweep.workload_id for sweep in dataset.of_split(split)} for split in SPLITS}
    assert by_split["validation"] == {f"{CHOOSING_FAMILY.name}-1-{number}" for number in range(2)}
    composed = {f"{COMPOSED}-1-{number}" for number in range(2)}
    assert by_split["train"] == {"sim_cpu_bound-1-0", "sim_pauses_5-1-0", *composed}
    RecordCheck.of([CheckedStore(tmp_path, SPLITS)]).refuse()


@pytest.mark.parametrize(("splits", "number"), [(("train",), 4), (("validation",), 3), (("test",), 0)])
def test_workloads_of_other_splits_are_not_planned(splits: tuple[Split, ...], number: int) -> None:
    """Before, who asked for those to choose by alone swept all the others too."""
    given = {"server": "simulated", "simulated.workloads": 4, "simulated.validation": 3, "splits": splits}
    planned, _ = simulated_staging(CollectSettings.load(None, given))
    assert [one.split for one in planned] == list(splits) * number


def test_no_workload_is_planned_twice() -> None:
    given = {"server": "simulated", "simulated.workloads": 5 * WHOLE, "simulated.composed": 9}
    names = [one.workload.name for one in planned_scenarios(CollectSettings.load(None, given))]
    assert len(names) == len(set(names)) == 5 * WHOLE + 4


def test_every_third_is_lightly_loaded_also_where_a_run_is_cut_short() -> None:
    given = {"server": "simulated", "simulated.workloads": 60, "simulated.composed": 90, "simulated.validation": 30}
    planned = planned_scenarios(CollectSettings.load(None, given))
    assert len(planned) == 60 + 90 - 2 + 30, "two of the composed are among the others"
    first = len(planned) - 30
    to_learn_from = [one.workload.family in LIGHT_FAMILIES for one in planned[:first]]
    to_choose_by = [one.workload.family in LIGHT_CHOOSING_FAMILIES for one in planned[first:]]
    for light in (to_learn_from, to_choose_by):
        assert np.mean(light) == pytest.approx(1 / 3, abs=0.01)
        assert np.mean(light[: len(light) // 2]) == pytest.approx(1 / 3, abs=0.05)


@pytest.mark.parametrize("cycle_s", [CYCLE_S, 0.3, 4.0])
def test_windows_hold_whole_cycles_whatever_the_timer(cycle_s: float) -> None:
    scenario = replace(draw_scenario(SIMULATED_FAMILIES["sim_bursty"], 1), cycle_s=cycle_s)
    workload = scenario.workload
    settings = CollectSettings.load(None, {"server": "simulated"})
    racing = SimulatedStaging({workload.name: scenario}).settings_for(workload, settings).racing
    assert racing.window_requests is None
    for pool_tuple in LARGE_GRID.tuples:
        cycles = racing.window_for(pool_tuple) / cycle_s
        assert cycles == pytest.approx(round(cycles)), "also where the slow timer would lengthen a window"
    assert racing.window_s < 1.01 + cycle_s


def test_windows_of_a_collection_begin_after_the_ramp() -> None:
    scenario = draw_scenario(SIMULATED_FAMILIES["sim_cpu_bound"], 1)
    server = SimulatedStaging({scenario.workload.name: scenario}).open(scenario.workload)
    assert server.snapshot().time_s == pytest.approx(0.2)


def test_threads_change_no_outcome_and_a_second_run_measures_nothing(tmp_path: Path) -> None:
    collected(tmp_path / "one", workloads=3, workers=1)
    collected(tmp_path / "many", workloads=3, workers=3)
    assert outcomes(tmp_path / "one") == outcomes(tmp_path / "many")
    assert collected(tmp_path / "many", workloads=3).windows == 0


def test_stopped_run_goes_on_where_it_ended(tmp_path: Path) -> None:
    stopped = collected(tmp_path, time_budget_s=0.3)
    assert stopped.stopped is not None
    finished = collected(tmp_path)
    assert finished.complete == 4
    assert finished.windows > 0
    assert len(read_dataset(tmp_path, "train").sweeps) == 4


def test_simulated_records_lie_apart_unless_told_otherwise(tmp_path: Path) -> None:
    assert CollectSettings.load(None, {"server": "simulated"}).store == SIMULATED_STORE
    assert CollectSettings.load(None, {"server": "simulated", "store": tmp_path}).store == tmp_path
    assert CollectSettings.load(None, {}).store != SIMULATED_STORE
    assert CollectSettings.load(None, {"server": "simulated", "climbs": 2}).climbs == 2


def test_live_and_simulated_sweeps_are_learned_from_together(whole: CollectReport, judged: SweepDataset) -> None:
    simulated = replace(read_dataset(whole.store, "train"), timer=OLDER_TIMER)  # as the shipped records
    live = read_dataset(LIVE, "train")
    both = judged.learning_from([live, simulated])
    assert len(both.of_split("train")) == len(live.sweeps) + WHOLE
    assert both.grid == live.grid
    assert both.digest not in (live.digest, simulated.digest)
    assert len({sweep.family for sweep in both.of_split("validation")}) == 3


def test_family_that_would_be_judged_on_is_not_learned_from(judged: SweepDataset) -> None:
    relabelled = [type(one)(**{**vars(one), "split": "train"}) for one in judged.sweeps]
    with pytest.raises(StoreError, match="in the splits"):
        judged.learning_from([replace(judged, sweeps=tuple(relabelled))])
