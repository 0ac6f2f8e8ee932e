"""Familiar windows pass, unfamiliar ones are named with their reason."""

from collections.abc import Callable

import pytest

from poolpilot.errors import SettingError
from poolpilot.featurizer.schema import FEATURES, feature_names
from poolpilot.featurizer.window import Window
from poolpilot.models.card import ModelKind
from poolpilot.models.champion import load_for
from poolpilot.models.out_of_distribution import DistributionSettings, OutOfDistribution, vector_of

CORE = {feature.name for feature in FEATURES if feature.tier == "core"}
RICH_MISSING = dict.fromkeys(set(feature_names()) - CORE)


@pytest.fixture
def statistics(window_of: Callable[..., Window]) -> OutOfDistribution:
    training = [window_of(seed, failed_share=None) for seed in range(300)]
    held_out = [window_of(seed, failed_share=None) for seed in range(300, 400)]
    return OutOfDistribution.fit(training, held_out, {2, 4})


def test_nearly_all_windows_like_the_held_out_ones_are_familiar(
    statistics: OutOfDistribution, window_of: Callable[..., Window]
) -> None:
    assessed = [statistics.assess(window_of(seed, failed_share=None), cpus=2) for seed in range(400, 500)]
    assert sum(bool(familiarity.reasons) for familiarity in assessed) <= 5
    assert {familiarity.threshold for familiarity in assessed} == {statistics.distance_threshold}


def test_stored_windows_are_at_no_distance_to_themselves(window_of: Callable[..., Window]) -> None:
    training = [window_of(seed) for seed in range(10)]
    statistics = OutOfDistribution.fit(training, training, {2}, DistributionSettings(neighbours=1))
    assert max(statistics.assess(window, cpus=2).distance for window in training) < 0.01


def test_all_features_at_their_ends_are_unlike_and_outside(
    statistics: OutOfDistribution, window_of: Callable[..., Window]
) -> None:
    extreme = window_of(0, **{feature.name: feature.high for feature in FEATURES})
    familiarity = statistics.assess(extreme, cpus=2)
    assert familiarity.distance > familiarity.threshold
    assert "unlike every workload that the model has learned from" in familiarity.reasons[0]
    assert familiarity.reasons[1].startswith("measurements outside the range learned from: ")


def test_unmeasured_core_count_is_a_reason_of_its_own(
    statistics: OutOfDistribution, window_of: Callable[..., Window]
) -> None:
    familiarity = statistics.assess(window_of(5, failed_share=None), cpus=72)
    (reason,) = familiarity.reasons
    assert reason == (
        "the model has learned from servers of 2 or 4 processors only, and this one has 72; "
        "it would need records of servers like this one"
    )


@pytest.mark.parametrize("cpus", [1, 2])
def test_few_processor_counts_are_a_list(statistics: OutOfDistribution, cpus: int) -> None:
    listed = statistics.model_copy(update={"cpus": (1, 2, 8, 64)})
    assert listed.knows_cpus(cpus)
    assert not listed.knows_cpus(3)
    assert not listed.knows_cpus(32)
    assert listed.cpus_in_words == "1 or 2 or 8 or 64"


@pytest.mark.parametrize(("cpus", "is_known"), [(2, False), (3, True), (5, True), (128, True), (129, False)])
def test_five_different_processor_counts_are_a_range(
    window_of: Callable[..., Window], cpus: int, is_known: bool
) -> None:
    windows = [window_of(seed) for seed in range(50)]
    statistics = OutOfDistribution.fit(windows, windows, {128, 3, 48, 6, 12})
    reasons = statistics.assess(windows[0], cpus).reasons
    assert any("servers of 3 to 128 processors only, and this one has" in reason for reason in reasons) != is_known
    assert OutOfDistribution.model_validate_json(statistics.model_dump_json()).cpus_range == (3, 128)


@pytest.mark.parametrize("kind", ["native", "mariadb"])
def test_shipped_models_know_only_the_processors_that_they_saw(kind: ModelKind) -> None:
    statistics = load_for(kind).card.out_of_distribution
    assert statistics.cpus_range is None
    assert not statistics.knows_cpus(max(statistics.cpus) + 1)


def test_missing_rich_features_do_not_make_a_window_unfamiliar(
    statistics: OutOfDistribution, window_of: Callable[..., Window]
) -> None:
    familiarity = statistics.assess(window_of(5, **RICH_MISSING), cpus=2)
    assert familiarity.distance > 0.0
    assert familiarity.reasons == ()


def test_window_without_any_feature_is_infinitely_far(
    statistics: OutOfDistribution, window_of: Callable[..., Window]
) -> None:
    familiarity = statistics.assess(window_of(5, **dict.fromkeys(feature_names())), cpus=2)
    assert familiarity.distance == float("inf")
    assert len(familiarity.reasons) == 1


def test_feature_never_seen_in_training_is_outside_when_present(
    statistics: OutOfDistribution, window_of: Callable[..., Window]
) -> None:
    index = feature_names().index("failed_share")
    assert index in statistics.outside(vector_of(window_of(5, failed_share=0.5)))
    assert index not in statistics.outside(vector_of(window_of(5, failed_share=None)))


def test_features_outside_the_box_are_named_with_their_value(window_of: Callable[..., Window]) -> None:
    steady = [window_of(seed, utilisation=0.5) for seed in range(50)]
    statistics = OutOfDistribution.fit(steady, steady, {2}).model_copy(
        update={"distance_threshold": 100.0, "outside_threshold": 0}
    )
    (reason,) = statistics.assess(window_of(3, utilisation=1.25), cpus=2).reasons
    assert reason == (
        "measurements outside the range learned from: 1 where up to 0 would be familiar (utilisation = 1.25); "
        "it would need records of workloads like this one"
    )


def test_statistics_survive_json(statistics: OutOfDistribution, window_of: Callable[..., Window]) -> None:
    restored = OutOfDistribution.model_validate_json(statistics.model_dump_json())
    assert restored == statistics
    assert restored.assess(window_of(6), cpus=2) == statistics.assess(window_of(6), cpus=2)


def test_fit_needs_training_and_held_out_windows(window_of: Callable[..., Window]) -> None:
    with pytest.raises(SettingError, match="collect both"):
        OutOfDistribution.fit([window_of(0)], [], {2})
