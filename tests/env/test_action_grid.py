"""The grid counts all combinations, finds tuples, and is masked by limits."""

from dataclasses import replace

import numpy as np
import pytest

from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.knobs import Knob, KnobSpace
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple


def test_tuples_are_the_product_in_order() -> None:
    grid = ActionGrid((1, 2), (3,), (10, 500))
    assert [pool_tuple.core for pool_tuple in grid.tuples] == [(1, 3, 10), (1, 3, 500), (2, 3, 10), (2, 3, 500)]


def test_index_of_finds_every_tuple_whatever_its_other_knobs() -> None:
    places = [DEFAULT_GRID.index_of(replace(pool_tuple, idle_timeout_s=1.0)) for pool_tuple in DEFAULT_GRID.tuples]
    assert places == list(range(len(DEFAULT_GRID)))


def test_tuple_off_the_grid_is_refused() -> None:
    with pytest.raises(SettingError, match=r"\(5, 3, 500\) is not on the grid: sizes \(1, 2, 4"):
        DEFAULT_GRID.index_of(PoolTuple(5, 3, 500))


def test_mask_drops_sizes_the_server_does_not_allow() -> None:
    mask = DEFAULT_GRID.mask(KnobSpace.stock(2, max_pool_size=8))
    assert [pool_tuple.pool_size <= 8 for pool_tuple in DEFAULT_GRID.tuples] == mask.tolist()


def test_mask_is_of_the_ranges_alone() -> None:
    stock = KnobSpace.stock(2, max_pool_size=8)
    renamed = {name: replace(knob, default=knob.high, unit="another") for name, knob in stock.knobs.items()}
    other = KnobSpace(4, renamed)
    assert other.ranges == stock.ranges == KnobSpace.of_ranges(None, stock.ranges).ranges
    assert DEFAULT_GRID.mask(other).tolist() == DEFAULT_GRID.mask(stock).tolist()
    wider = KnobSpace.stock(2, max_pool_size=16)
    assert DEFAULT_GRID.mask(wider).sum() > DEFAULT_GRID.mask(stock).sum()


def test_knobs_that_a_server_lacks_are_not_varied() -> None:
    """Before, a pool with a size alone had every size several times, under timers that it does not have."""
    own = KnobSpace.of(2, Knob("pool_size", 1, 32, 4, "workers"))
    allowed = [each for each, may in zip(DEFAULT_GRID.tuples, DEFAULT_GRID.mask(own), strict=True) if may]
    assert {each.core[1:] for each in allowed} == {own.default_tuple().core[1:]}
    assert [each.pool_size for each in allowed] == [size for size in DEFAULT_GRID.sizes if size <= 32]


def test_limits_that_allow_nothing_are_refused() -> None:
    with pytest.raises(SettingError, match="no configuration of the grid"):
        ActionGrid((64,), (3,), (500,)).mask(KnobSpace.stock(2, max_pool_size=8))


def test_nearest_is_by_ratio_and_keeps_to_the_mask() -> None:
    assert DEFAULT_GRID.nearest(PoolTuple(11, 3, 400)).core == (8, 3, 500)
    assert DEFAULT_GRID.nearest(PoolTuple(12, 3, 400)).core == (16, 3, 500)
    small = np.array([pool_tuple.pool_size <= 4 for pool_tuple in DEFAULT_GRID.tuples])
    assert DEFAULT_GRID.nearest(PoolTuple(12, 3, 400), small).core == (4, 3, 500)


def test_dict_restores_the_grid() -> None:
    assert ActionGrid.from_dict(DEFAULT_GRID.as_dict()) == DEFAULT_GRID
