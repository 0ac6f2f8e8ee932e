"""A grid for any machine: sizes by number and by processor, cut to what the server allows."""

import numpy as np
import pytest
from pydantic import ValidationError

from poolpilot.env.knobs import Knob, KnobSpace
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.latent.machine_grid import MachineGrid

GRID = MachineGrid(sizes=(1, 16), multiples=(0.5, 8.0), oversubscribes=(1, 3), timer_intervals_ms=(500,))


@pytest.mark.parametrize(
    ("cpus", "sizes"), [(1, {1, 8, 16}), (2, {1, 16}), (6, {1, 3, 16, 48}), (96, {1, 16, 48, 128})]
)
def test_sizes_follow_the_processors_up_to_the_largest_allowed(cpus: int, sizes: set[int]) -> None:
    placed = GRID.on(KnobSpace.stock(cpus))
    assert {pool_tuple.pool_size for pool_tuple in placed.tuples} == sizes
    assert len(set(placed.tuples)) == len(placed.tuples)


def test_columns_that_name_one_tuple_share_it() -> None:
    placed = GRID.on(KnobSpace.stock(2))
    assert placed.shares.shape == (4, len(GRID))
    np.testing.assert_allclose(placed.shares.sum(axis=1), 1.0)
    assert set(placed.shares.ravel()) == {0.0, 0.5}


def test_length_counts_every_column() -> None:
    assert len(GRID) == len(GRID.columns_on(KnobSpace.stock(4))) == 8
    assert len(MachineGrid()) == 64


def test_knobs_that_the_server_lacks_keep_their_one_value() -> None:
    placed = MachineGrid().on(KnobSpace.of(2, Knob("pool_size", 1, 8, 2, "workers")))
    assert {pool_tuple.core for pool_tuple in placed.tuples} == {(size, 3, 10) for size in (1, 2, 4, 8)}
    np.testing.assert_allclose(placed.shares.sum(axis=1), 1.0)


def test_server_that_allows_none_of_it_is_refused() -> None:
    odd = KnobSpace.of(2, Knob("pool_size", 1, 8, 2, "workers"), Knob("oversubscribe", 7, 9, 7, "threads"))
    with pytest.raises(SettingError, match="no configuration of the grid"):
        GRID.on(odd)


def test_references_are_the_multiples_or_where_there_are_none_the_sizes() -> None:
    assert GRID.reference_columns == (5, 7)
    limits = KnobSpace.stock(2)
    plain = MachineGrid(sizes=(1, 4, 16), multiples=(), oversubscribes=(1, 3), timer_intervals_ms=(10, 500))
    columns = plain.columns_on(limits)
    references = [columns[place] for place in plain.reference_columns]
    assert references == [PoolTuple(size, 3, timer) for size in (1, 4, 16) for timer in (10, 500)]
    assert references[plain.nearest_reference(limits, PoolTuple(3, 3, 500))] == PoolTuple(4, 3, 500)


@pytest.mark.parametrize("values", [{"sizes": (), "multiples": ()}, {"sizes": (0,)}, {"oversubscribes": ()}])
def test_grid_without_a_positive_size_is_refused(values: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(ValidationError, match="grid"):
        MachineGrid.model_validate(values)
