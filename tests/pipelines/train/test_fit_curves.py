"""Response curves are drawn for any machine, the same for the same seed, and kept when a run is stopped."""

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tests.models.conftest import without_family

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.workloads.composed import is_held_out
from poolpilot.env.workloads.light_families import LIGHT_FAMILIES
from poolpilot.env.workloads.simulated_families import COMPOSED
from poolpilot.lab.sysbench_families import FAMILIES as SQL_FAMILIES
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves
from poolpilot.models.latent.shipped_curves import VARIABLE, load_curves
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.store.recorded_curves import curve_of_sweep
from poolpilot.pipelines.train.fit_curves import FitCurvesSettings, fit_curves

QUIET = ("sim_pauses_5_stock", "sim_sleepers_5_stock", "sim_bursts_5_stock")

GRID = MachineGrid(sizes=(1, 64), multiples=(1.0,), oversubscribes=(3,), timer_intervals_ms=(10,))


def fitted(**values: object) -> ResponseCurves:
    settings = FitCurvesSettings(workloads=1, composed=2, requests=200, grid=GRID, threads=1, **values)  # type: ignore[arg-type]
    return fit_curves(settings, Console(file=io.StringIO()))


@pytest.fixture(scope="module")
def curves() -> ResponseCurves:
    return fitted()


def test_same_seed_gives_the_same_curves(curves: ResponseCurves) -> None:
    assert fitted() == curves
    assert fitted(seed=1) != curves


def test_every_family_and_many_machines_are_drawn(curves: ResponseCurves) -> None:
    families = [curve.family for curve in curves.curves]
    assert families.count(COMPOSED) == 2
    assert len(set(families)) == len(families) - 1 >= 20
    assert all(curve.composition for curve in curves.curves)
    assert len({curve.cpus for curve in curves.curves}) >= 5
    assert curves.log_worth.shape == (len(curves.curves), 3)


def test_stopped_run_goes_on_and_other_settings_begin_anew(curves: ResponseCurves, tmp_path: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    assert fitted(runs=runs) == curves
    rows = [json.loads(line) for line in runs.read_text(encoding="utf-8").splitlines()]
    rows[0]["log_worth"] = [9.0, 9.0, 9.0]
    runs.write_text("".join(json.dumps(row) + "\n" for row in rows[:3]), encoding="utf-8")
    resumed = fitted(runs=runs)
    assert resumed.curves[0].log_worth == (9.0, 9.0, 9.0)
    assert resumed.curves[1:] == curves.curves[1:]
    assert 9.0 not in fitted(runs=runs, seed=1).curves[0].log_worth


def test_shipped_curves_cover_small_and_large_machines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    shipped = load_curves()
    cpus = [curve.cpus for curve in shipped.curves]
    assert (min(cpus), max(cpus) > 64, len({curve.family for curve in shipped.curves}) >= 20) == (1, True, True)
    other = tmp_path / "other.json.xz"
    without_family(shipped, shipped.curves[0].family).save(other)
    monkeypatch.setenv(VARIABLE, str(other))
    assert load_curves() != shipped


def test_nothing_shipped_was_learned_from_what_is_held_out() -> None:
    held_out = {curve.name for curve in load_curves().curves if curve.composition and is_held_out(curve.composition)}
    composed = {curve.name for curve in load_curves().curves if curve.family == COMPOSED}
    assert len(composed) > 1000
    assert held_out & composed == set()
    recorded = {curve.family for curve in load_curves().curves if not curve.composition}
    assert recorded
    assert recorded & {family.name for family in SQL_FAMILIES.values() if family.split != "train"} == set()


def test_every_third_simulated_curve_that_ships_is_of_light_or_half_load(curves: ResponseCurves) -> None:
    assert {curve.family for curve in curves.curves} >= set(LIGHT_FAMILIES)
    simulated = [curve.family for curve in load_curves().curves if curve.composition]
    light = [family for family in simulated if family in LIGHT_FAMILIES]
    assert set(light) == set(LIGHT_FAMILIES)
    assert len(light) / len(simulated) == pytest.approx(1 / 3, abs=0.01)


def test_a_light_load_is_worth_the_same_from_the_default_on() -> None:
    library = load_curves()
    quiet = [curve for curve in library.curves if curve.family in QUIET]
    assert len(quiet) > 100
    flat = [range_from_default(library.grid, curve) < 0.05 for curve in quiet]
    assert np.mean(flat) > 0.9


def range_from_default(grid: MachineGrid, curve: ResponseCurve) -> float:
    """How far apart a curve's values are over all sizes from the default's on."""
    columns = grid.columns_on(KnobSpace.stock(curve.cpus))
    worth = [value for one, value in zip(columns, curve.log_worth, strict=True) if one.pool_size >= curve.cpus]
    return max(worth) - min(worth)


def test_training_workloads_of_a_store_are_taken_in(recorded_store: Path) -> None:
    library = fitted(stores=(recorded_store,))
    recorded = [curve for curve in library.curves if not curve.composition]
    assert {curve.family for curve in recorded} == {"small", "large"}
    assert "recorded: " in library.source
    sweep = next(one for one in read_dataset(recorded_store, "train").sweeps if one.workload_id == recorded[0].name)
    columns = GRID.columns_on(sweep.limits)
    price = sweep.objective.price_of_thread
    expected = [sweep.value(column) + price * math.log(column.pool_size) for column in columns]
    np.testing.assert_allclose(recorded[0].log_worth, expected, atol=1e-3)
    assert len(recorded[0].ratios) == len(GRID.reference_columns)


def test_a_configuration_that_breaks_a_constraint_is_worth_no_more_than_the_default(recorded_store: Path) -> None:
    sweep = read_dataset(recorded_store, "train").sweeps[0]
    broken = replace(sweep, entries={core: replace(one, feasible=False) for core, one in sweep.entries.items()})
    price, default = sweep.objective.price_of_thread, sweep.limits.default_tuple()
    sizes = [column.pool_size for column in GRID.columns_on(sweep.limits)]
    values = np.array(curve_of_sweep(broken, GRID).log_worth) - price * np.log(sizes)
    assert (values <= sweep.value(default) + 1e-3).all()
