"""Walks along the advice: who follows it arrives, from posted configurations, and a quiet server is left alone."""

from advice_walks import Walk, simulated, table_of
from posted_tuples import POSTED


def test_fifty_configurations_are_posted() -> None:
    assert len(set(POSTED)) == 50


def test_who_follows_the_advice_arrives_and_light_load_is_left_alone() -> None:
    walks = [walk for number in range(40) for walk in simulated(number)]
    assert {walk.share for walk in walks} == {0.05, 0.2, 0.5, 0.8, 1.0}
    assert all(walk.steps <= 2 and not walk.comes_back for walk in walks)
    from_default = [walk for walk in walks[::2] if walk.is_light]
    alone = sum(walk.verdict == "leave it" and not walk.steps for walk in from_default)
    assert alone >= len(from_default) - 1
    assert any(walk.steps for walk in walks)


def test_the_table_counts_faults() -> None:
    walks = [
        Walk("calm", 0.2, ((2, 3, 500),), "leave it"),
        Walk("calm", 0.2, ((4, 3, 500), (2, 3, 500), (4, 3, 500), (2, 3, 500)), "change"),
    ]
    table = table_of(walks)
    assert [next(iter(column.cells)) for column in table.columns] == ["20%", "1", "1", "2", "3", "1", "1"]
