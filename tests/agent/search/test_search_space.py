"""A search space: tuples to points and back, and the knobs that must not be varied live."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolpilot.agent.search.search_space import SearchKnob, SearchSpace
from poolpilot.env.knobs import KnobSpace
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

STOCK = KnobSpace.stock(4)
IN_FORCE = PoolTuple(4, 3, 500, idle_timeout_s=30.0)
CHOICES = {"timer_interval_ms": (500, 10, 100)}


def marked(restart_only: Sequence[str] = (), per_session: Sequence[str] = ()) -> KnobSpace:
    knobs = {
        name: replace(knob, restart_only=name in restart_only, per_session=name in per_session)
        for name, knob in STOCK.knobs.items()
    }
    return KnobSpace(4, knobs)


@given(st.lists(st.floats(0.0, 1.0), min_size=5, max_size=5))
def test_every_point_is_an_allowed_tuple_that_decodes_to_itself(point: list[float]) -> None:
    space = SearchSpace.of(STOCK, list(STOCK.knobs), CHOICES, IN_FORCE)
    pool_tuple = space.decode(np.array(point))
    assert STOCK.allows(pool_tuple)
    assert space.contains(pool_tuple)
    again = space.decode(space.encode(pool_tuple))
    assert again.core == pool_tuple.core
    assert again.create_thread_on_wait is pool_tuple.create_thread_on_wait
    assert again.idle_timeout_s == pytest.approx(pool_tuple.idle_timeout_s)
    assert ((space.encode(pool_tuple) >= 0.0) & (space.encode(pool_tuple) <= 1.0)).all()


def test_values_have_the_types_of_a_tuple() -> None:
    space = SearchSpace.of(STOCK, list(STOCK.knobs), None, IN_FORCE)
    drawn = space.draw(np.random.default_rng(0))
    assert [type(value) for value in drawn.as_dict().values()] == [int, int, int, bool, float]


def test_sizes_are_drawn_in_logarithms_and_listed_values_alike() -> None:
    space = SearchSpace.of(STOCK, ["pool_size", "timer_interval_ms"], CHOICES, IN_FORCE)
    rng = np.random.default_rng(0)
    drawn = [space.draw(rng) for _ in range(3000)]
    assert np.median([pool_tuple.pool_size for pool_tuple in drawn]) == pytest.approx(128**0.5, abs=1.5)
    timers, counts = np.unique([pool_tuple.timer_interval_ms for pool_tuple in drawn], return_counts=True)
    assert timers.tolist() == [10, 100, 500]
    assert counts.min() > 900
    assert {pool_tuple.oversubscribe for pool_tuple in drawn} == {3}


def test_times_of_mariadb_are_drawn_in_whole_seconds() -> None:
    """It sets no other, and what is read back was taken for somebody else's."""
    whole = replace(STOCK.knobs["idle_timeout_s"], low=1, high=600, in_wholes=True)
    space = SearchSpace.of(KnobSpace(4, {whole.name: whole}), [whole.name], None, IN_FORCE)
    rng = np.random.default_rng(0)
    drawn = {space.draw(rng).idle_timeout_s for _ in range(200)}
    assert len(drawn) > 50
    assert all(value == int(value) and 1 <= value <= 600 for value in drawn)
    with pytest.raises(SettingError, match=r"idle_timeout_s is 10\.5, but must be a whole number"):
        SearchSpace.of(KnobSpace(4, {whole.name: whole}), [whole.name], {whole.name: (10.5,)}, IN_FORCE)


def test_no_tuple_is_drawn_that_the_server_has_no_threads_for() -> None:
    """One draw of eight was refused on a server of 500 threads, and ended the search."""
    few = replace(STOCK, most_threads=500)
    space = SearchSpace.of(few, ["pool_size", "oversubscribe"], None, IN_FORCE)
    rng = np.random.default_rng(0)
    drawn = [space.draw(rng) for _ in range(500)]
    assert max(one.active_threads for one in drawn) <= 500
    assert len(set(drawn)) > 200
    none = SearchSpace.of(replace(STOCK, most_threads=1), ["pool_size"], None, IN_FORCE)
    with pytest.raises(SettingError, match="threads for hardly anything of what is searched"):
        none.draw(rng)


def test_what_is_not_varied_is_kept() -> None:
    space = SearchSpace.of(STOCK, ["pool_size"], None, IN_FORCE)
    assert space.decode(np.array([1.0])) == replace(IN_FORCE, pool_size=128)
    elsewhere = PoolTuple(9, 7, 20, create_thread_on_wait=False)
    assert space.with_held(PoolTuple(64, 3, 500), elsewhere) == replace(elsewhere, pool_size=64)


def test_values_not_listed_are_not_contained_and_count_as_the_nearest() -> None:
    space = SearchSpace.of(STOCK, ["timer_interval_ms"], CHOICES, IN_FORCE)
    assert not space.contains(PoolTuple(4, 3, 120))
    assert space.encode(PoolTuple(4, 3, 120)) == space.encode(PoolTuple(4, 3, 100))


def test_live_search_holds_what_needs_a_restart_or_belongs_to_sessions() -> None:
    knobs = marked(["timer_interval_ms"], ["idle_timeout_s", "oversubscribe"])
    space = SearchSpace.of(knobs, ["pool_size", "timer_interval_ms", "idle_timeout_s"], None, IN_FORCE)
    assert space.names == ("pool_size",)
    assert space.held == {
        "timer_interval_ms": "needs a restart",
        "idle_timeout_s": "each session holds its own value",
    }
    assert not space.needs_restart(IN_FORCE, replace(IN_FORCE, timer_interval_ms=10))


def test_restart_knobs_vary_where_that_is_allowed() -> None:
    knobs = marked(["timer_interval_ms"], ["idle_timeout_s"])
    names = ["pool_size", "timer_interval_ms", "idle_timeout_s"]
    space = SearchSpace.of(knobs, names, CHOICES, IN_FORCE, allow_restart=True)
    assert space.names == ("pool_size", "timer_interval_ms")
    assert list(space.held) == ["idle_timeout_s"]
    assert space.needs_restart(IN_FORCE, replace(IN_FORCE, timer_interval_ms=10))
    assert not space.needs_restart(IN_FORCE, replace(IN_FORCE, pool_size=9))


@pytest.mark.parametrize(
    ("names", "choices", "text"),
    [
        (["colour"], None, "no knob 'colour'"),
        (["pool_size", "pool_size"], None, "once"),
        (["pool_size"], CHOICES, "only for knobs that vary"),
        (["timer_interval_ms"], {"timer_interval_ms": (10, 0)}, "timer_interval_ms is 0"),
        (["timer_interval_ms"], {"timer_interval_ms": ()}, "empty list"),
        ([], None, "none was named"),
    ],
)
def test_impossible_space_is_refused(
    names: Sequence[str], choices: Mapping[str, Sequence[float]] | None, text: str
) -> None:
    with pytest.raises(SettingError, match=text):
        SearchSpace.of(STOCK, names, choices, IN_FORCE)


def test_space_of_held_knobs_alone_is_refused_with_the_reason() -> None:
    with pytest.raises(SettingError, match="pool_size needs a restart"):
        SearchSpace.of(marked(["pool_size"]), ["pool_size"], None, IN_FORCE)


def test_knob_with_a_falling_range_is_refused() -> None:
    with pytest.raises(SettingError, match="must not fall"):
        SearchKnob("pool_size", 4, 2)
    with pytest.raises(SettingError, match="above 0"):
        SearchKnob("pool_size", 0, 2, logarithmic=True)
