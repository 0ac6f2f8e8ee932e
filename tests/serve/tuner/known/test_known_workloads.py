"""Known workloads: which one is recognised, how many are kept, and which are forgotten."""

import numpy as np
import pytest

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.known.known_workloads import (
    HOURS_OF_WEEK,
    MATCH,
    MOST_MISSES,
    MOST_SIGHTS,
    MOST_WORKLOADS,
    KnownWorkloads,
    WorkloadRatios,
    hour_of_week,
    ratio_distance,
    sight_of,
)

INITIAL, BEST = PoolTuple(2, 3, 500), PoolTuple(16, 3, 10)


def sight(*ratios: float | None, pool_tuple: PoolTuple = INITIAL) -> WorkloadRatios:
    return WorkloadRatios(pool_tuple=pool_tuple, ratios=ratios)


def known(*sights: WorkloadRatios, hour: int = 0) -> KnownWorkloads:
    found = KnownWorkloads()
    for each in sights:
        found, _ = found.filed(None, [each], BEST, 0.02, hour)
    return found


def test_the_nearest_within_the_distance_is_recognised() -> None:
    two = known(sight(1.0, 1.0, 1.0, 1.0), sight(1.2, 1.0, 1.0, 1.0))
    found = two.match(sight(1.15, 1.0, 1.0, 1.0), 0)
    assert found is not None
    assert found.number == 2
    assert two.match(sight(3.0, 1.0, 1.0, 1.0), 0) is None


def test_what_is_not_shown_is_left_out_and_too_little_tells_nothing() -> None:
    assert ratio_distance((1.0, None, 2.0, 3.0, 4.0), (1.0, 9.0, 2.0, 3.0, 4.2)) == pytest.approx(0.1)
    assert ratio_distance((1.0, None, 2.0, 3.0), (1.0, 9.0, 2.0, 3.0)) == float("inf")
    assert KnownWorkloads().match(sight(), 0) is None
    assert known(sight()).match(sight(), 0) is None


def test_under_another_tuple_it_must_be_twice_as_alike() -> None:
    seen = known(sight(1.0, 1.0, 1.0, 1.0))
    shifted = 1.0 + 0.7 * MATCH
    same = sight(shifted, shifted, shifted, shifted)
    assert seen.match(same, 0) is not None
    assert seen.match(same.model_copy(update={"pool_tuple": BEST}), 0) is None


def test_hour_of_the_week_decides_between_two_that_look_alike() -> None:
    alike = sight(1.0, 1.0, 1.0, 1.0)
    two = known(alike, hour=3)
    two, _ = two.filed(None, [alike], BEST, 0.02, 80)
    for hour, number in ((2, 1), (HOURS_OF_WEEK - 1, 1), (79, 2), (100, 2)):
        found = two.match(alike, hour)
        assert found is not None
        assert found.number == number
    assert [hour_of_week(seconds) for seconds in (0.0, 3600.0, 7 * 86_400.0 - 1.0, 7 * 86_400.0)] == [0, 1, 167, 0]


def test_number_of_workloads_and_of_sights_is_bounded() -> None:
    many = known(*(sight(float(number), 0.0, 0.0, 0.0) for number in range(100)))
    assert len(many.entries) == MOST_WORKLOADS
    assert many.match(sight(99.0, 0.0, 0.0, 0.0), 0) is not None
    assert many.match(sight(3.0, 0.0, 0.0, 0.0), 0) is None
    number: int | None = None
    for size in range(1, 40):
        many, number = many.filed(number, [sight(1.0, pool_tuple=PoolTuple(size, 3, 500))], BEST, 0.02, 0)
    entry = many.numbered(number)
    assert entry is not None
    assert [each.pool_tuple.pool_size for each in entry.sights] == list(range(40 - MOST_SIGHTS, 40))


def test_later_sight_replaces_the_earlier_one_under_the_same_tuple() -> None:
    first, number = KnownWorkloads().filed(None, [sight(1.0, 1.0, 1.0, 1.0)], BEST, 0.02, 0)
    second, again = first.filed(number, [sight(5.0, 5.0, 5.0, 5.0)], INITIAL, 0.02, 1)
    assert again == number
    assert second.entries[0].sights == (sight(5.0, 5.0, 5.0, 5.0),)
    assert (second.entries[0].best, second.entries[0].hour) == (INITIAL, 1)


def test_what_was_taken_back_again_and_again_is_forgotten() -> None:
    seen = known(sight(1.0, 1.0, 1.0, 1.0))
    for _ in range(MOST_MISSES - 1):
        seen = seen.missed(1)
        assert seen.numbered(1) is not None
    restored, _ = seen.filed(1, [], BEST, 0.02, 0)
    assert restored.entries[0].misses == 0
    assert seen.missed(1).entries == ()


def test_sight_is_the_mean_of_windows() -> None:
    assert sight_of(INITIAL, [(1.0, None, 2.0), (2.0, 4.0, 2.0)]).ratios == (1.5, 4.0, 2.0)
    assert sight_of(INITIAL, []).ratios == ()


def test_noise_of_windows_is_no_other_workload_and_others_are_seldom_taken_for_it() -> None:
    """Ratios that scatter by 0.05, thrice what is usual, match; workloads drawn at random do not."""
    rng = np.random.default_rng(0)
    observations = rng.uniform(0.0, 2.0, (200, 13))
    seen = known(*(sight(*observation) for observation in observations[:30]))
    again = [seen.match(sight(*(observation + 0.05 * rng.standard_normal(13))), 0) for observation in observations[:30]]
    assert [each and each.number for each in again] == list(range(1, 31))
    assert [seen.match(sight(*observation), 0) for observation in observations[30:]] == [None] * 170
