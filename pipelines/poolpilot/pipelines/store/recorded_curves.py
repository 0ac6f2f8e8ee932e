"""Response curves of recorded workloads: what a sweep has measured, stated on the grid of a library."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.action_grid import nearest_core
from poolpilot.env.measurement.sweep import SweepEntry, WorkloadSweep
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.schema import moments_of_present
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.ratios import ratios_of
from poolpilot.models.latent.response_curves import DIGITS, ResponseCurve, rounded
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck


def recorded_curves(stores: Sequence[Path], grid: MachineGrid, *, older_timer: bool = False) -> list[ResponseCurve]:
    """The response curves of all training workloads of some record stores.

    Args:
        stores: Folders of records.
        grid: The configurations of the library.
        older_timer: Whether records that are all of the pool's older timer are learned from.

    Raises:
        StoreError: A store is missing, holds no complete training sweep, or `records --check` finds a fault in
            what is learned from.
    """
    if stores:
        checked = [CheckedStore(store, ("train",), ("train",)) for store in stores]
        RecordCheck.of(checked, older_timer=older_timer).refuse()
    return [curve_of_sweep(sweep, grid) for store in stores for sweep in read_dataset(store, "train").of_split("train")]


def curve_of_sweep(sweep: WorkloadSweep, grid: MachineGrid) -> ResponseCurve:
    """The response curve of one recorded workload, interpolated between the sizes that were measured."""
    columns = grid.columns_on(sweep.limits)
    seen = next(iter(sweep.entries.values())).windows[0].profile.features
    return ResponseCurve(
        name=sweep.workload_id,
        family=sweep.family,
        cpus=sweep.limits.cpus,
        connections=round(seen.get("connections") or 0.0),
        log_worth=tuple(round(_log_worth(sweep, column), DIGITS) for column in columns),
        ratios=tuple(rounded(_ratios(nearest_entry(sweep, columns[place]))) for place in grid.reference_columns),
    )


def _log_worth(sweep: WorkloadSweep, pool_tuple: PoolTuple) -> float:
    value = sweep.value(pool_tuple)
    if not sweep.keeps_floors(pool_tuple.core):
        # Who tries it goes back, so it is worth no more than what was there before.
        value = min(value, sweep.value(sweep.limits.default_tuple()))
    return value + sweep.objective.price_of_thread * float(np.log(pool_tuple.pool_size))


def nearest_entry(sweep: WorkloadSweep, pool_tuple: PoolTuple) -> SweepEntry:
    """The measured tuple that is nearest to a tuple."""
    cores = list(sweep.entries)
    return sweep.entries[cores[nearest_core(cores, pool_tuple.core)]]


def _ratios(entry: SweepEntry) -> NDArray[np.float64]:
    """Mean ratios of all windows of a tuple, (R,)."""
    rows = np.stack([ratios_of(window.profile.features) for window in entry.windows])
    present = ~np.isnan(rows)
    mean, _ = moments_of_present(rows, present)
    return np.where(present.any(axis=0), mean, np.nan)
