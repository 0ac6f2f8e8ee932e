"""What a window is held against: earlier ones of its tuple, in the same try or while the tuner watched."""

from observation_distances import FIRST, IN_TRIAL, WATCHED, Distances, Seen, rows_of
from poolpilot.featurizer.pool_tuple import PoolTuple

HOME, NEAR = PoolTuple(2, 3, 500), PoolTuple(4, 3, 500)


def seen(
    level: float,
    pool_tuple: PoolTuple = HOME,
    *,
    in_trial: bool = False,
    workload: int | None = 0,
    verified: PoolTuple = HOME,
) -> Seen:
    """A window whose four ratios are all the same number."""
    return Seen(workload, pool_tuple, verified, in_trial, (level,) * 4)


def held(*windows: Seen) -> list[tuple[str, bool, float]]:
    found = Distances()
    for each in windows:
        found.add(each)
    return [(each.where, each.another, round(each.apart, 6)) for each in found.found]


def test_the_first_two_windows_of_another_workload_are_held_against_the_one_before() -> None:
    watched = [seen(level, workload=int(level > 1.5)) for level in (1.0, 1.0, 3.0, 3.0, 3.0, 3.0)]
    assert held(*watched) == [(WATCHED, True, 2.0), (WATCHED, True, 2.0), (WATCHED, False, 0.0)]


def test_a_window_in_which_the_workload_changes_is_left_out() -> None:
    assert held(seen(1.0), seen(1.0), seen(9.0, workload=None), seen(1.5)) == [(WATCHED, False, 0.5)]


def test_within_a_try_each_tuple_is_held_against_itself_and_the_first_against_before() -> None:
    tried = [
        seen(5.0, NEAR, in_trial=True),
        seen(1.2, in_trial=True),
        seen(5.1, NEAR, in_trial=True),
        seen(1.3, in_trial=True),
    ]
    assert held(seen(1.0), seen(1.0), *tried) == [(FIRST, False, 0.2), (IN_TRIAL, False, 0.1), (IN_TRIAL, False, 0.1)]


def test_what_was_tried_is_what_the_next_try_begins_from() -> None:
    tried = [seen(5.0, NEAR, in_trial=True), seen(1.0, in_trial=True), seen(5.2, NEAR, in_trial=True)]
    after = [
        seen(8.0, PoolTuple(8, 3, 500), in_trial=True, verified=NEAR),
        seen(5.5, NEAR, in_trial=True, verified=NEAR),
    ]
    assert held(*tried, *after)[-1] == (FIRST, False, 0.4)


def test_rows_tell_how_many_lie_beyond_the_limit() -> None:
    found = Distances()
    for level in (1.0, 1.0, 1.1, 2.0):
        found.add(seen(level))
    (row,) = rows_of(found.found)
    assert (row["where"], row["another"], row["windows"], row["beyond"]) == (WATCHED, False, 2, 0.5)
