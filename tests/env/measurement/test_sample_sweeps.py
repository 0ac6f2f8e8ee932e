"""The sweeps that come with the package are those of the records, few in bytes, and found by family."""

from collections.abc import Callable
from pathlib import Path

import pytest

from poolpilot.env.measurement import sample_sweeps as samples
from poolpilot.env.measurement.sample_sweeps import sample_families, sample_sweeps, sweep_as_json, sweep_of_json
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.workloads.families import FAMILIES
from poolpilot.errors import SettingError

MOST_BYTES = 300_000


def test_every_family_but_the_sealed_has_a_sweep_of_the_split_it_was_recorded_for() -> None:
    samples_of = sample_families()
    assert samples_of.keys() == {family.name for family in FAMILIES.values() if family.split != "test"}
    learned = {family.name for family in FAMILIES.values() if family.split == "train"}
    assert {name for name, split in samples_of.items() if split == "train"} == learned


def test_without_a_family_only_training_ones_are_given() -> None:
    assert {sweep.split for sweep in sample_sweeps()} == {"train"}
    assert [sweep.family for sweep in sample_sweeps("page_faults")] == ["page_faults"]


def test_every_sweep_knows_the_whole_grid_on_two_processors() -> None:
    for family in sample_families():
        sweep = sample_sweeps(family)[0]
        assert (len(sweep.entries), sweep.limits.cpus) == (28, 2)


def test_json_keeps_values_regrets_and_oracle(make_sweep: Callable[..., WorkloadSweep]) -> None:
    sweep = make_sweep(noise=0.1)
    again = sweep_of_json(sweep_as_json(sweep))
    assert again.oracle_tuple == sweep.oracle_tuple
    assert {core: entry.values for core, entry in again.entries.items()} == {
        core: entry.values for core, entry in sweep.entries.items()
    }


def test_they_are_small_enough_for_a_wheel() -> None:
    folder = Path(samples.__file__).parent / samples.FOLDER
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < MOST_BYTES


def test_unknown_family_is_refused() -> None:
    with pytest.raises(SettingError, match="no sweep of a family 'nonsense' comes with the package; there are commit"):
        sample_sweeps("nonsense")
