"""Ratios mean the same on any machine, and are missing where a server does not show what they need."""

import math

import numpy as np
import pytest

from poolpilot.featurizer.catalogue import FEATURES
from poolpilot.models.latent.ratios import MOST, RATIOS, ratio_names, ratios_of


def value(name: str, features: dict[str, float | None]) -> float:
    return float(ratios_of(features)[ratio_names().index(name)])


def test_every_ratio_is_of_known_features() -> None:
    known = {feature.name for feature in FEATURES}
    assert {ratio.feature for ratio in RATIOS} | {ratio.over for ratio in RATIOS if ratio.over} <= known
    assert len(set(ratio_names())) == len(RATIOS)


def test_twice_the_machine_under_twice_the_load_is_the_same_per_processor() -> None:
    small = {"threads_mean": 6.0, "queue_length_mean": 3.0, "in_system": 9.0, "cpus": 2.0, "utilisation": 0.7}
    large = {name: number * (1.0 if name == "utilisation" else 8.0) for name, number in small.items()}
    np.testing.assert_allclose(ratios_of(small), ratios_of(large))


@pytest.mark.parametrize("missing", ["threads_mean", "cpus"])
def test_what_is_not_shown_is_missing(missing: str) -> None:
    features: dict[str, float | None] = {"threads_mean": 4.0, "cpus": 2.0, "utilisation": 0.5}
    assert math.isnan(value("threads_per_cpu", {**features, missing: None}))
    assert value("utilisation", features) == 0.5
    assert np.isnan(ratios_of({})).all()


def test_scales_have_ends() -> None:
    assert value("active_round_cv", {"active_round_us_cv": 1e6}) == MOST
    assert value("connections", {"connections": 0.0}) == pytest.approx(math.log(0.01))
