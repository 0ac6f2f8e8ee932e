"""Every curve has its optimum where it says."""

import numpy as np
import pytest

from climbing.shapes import PER_THREAD_PER_S, SHAPES, Landscape

PEAKED = [shape for shape in SHAPES if shape != "flat"]


@pytest.mark.parametrize("scale", [2, 8, 32, 128, 1024])
@pytest.mark.parametrize("shape", PEAKED)
def test_optimum_is_at_its_share_of_the_scale(shape: str, scale: int) -> None:
    named = max(1, round(scale / 3))
    landscape = Landscape.of(shape, scale, 0.0)
    assert landscape.optimum == named
    assert landscape.scale == scale
    assert landscape.throughputs_per_s[named - 1] == pytest.approx(PER_THREAD_PER_S * scale)
    assert Landscape.of(shape, scale, 0.0, 1.0).optimum == scale


@pytest.mark.parametrize("shape", SHAPES)
def test_regret_is_nothing_at_the_optimum_and_positive_elsewhere(shape: str) -> None:
    landscape = Landscape.of(shape, 128, 0.02)
    assert landscape.regrets[landscape.optimum - 1] == 0.0
    assert np.all(np.delete(landscape.regrets, landscape.optimum - 1) > 0.0)
    assert np.all(landscape.regrets < 1.0)


@pytest.mark.parametrize("shape", PEAKED)
def test_throughput_rises_up_to_the_optimum_and_never_beyond(shape: str) -> None:
    steps = np.diff(Landscape.of(shape, 128, 0.0).throughputs_per_s)
    assert np.all(steps[:42] > 0.0)
    assert np.all(steps[42:] <= 0.0)


def test_flat_curve_differs_by_the_price_alone() -> None:
    landscape = Landscape.of("flat", 64, 0.02)
    assert landscape.optimum == 1
    assert landscape.regrets[63] == pytest.approx(1.0 - 64**-0.02)


def test_soft_knee_falls_less_than_every_curve_but_the_knee() -> None:
    lost = {shape: Landscape.of(shape, 1024, 0.0).regrets[2 * 341 - 1] for shape in PEAKED}
    assert sorted(lost, key=lambda shape: lost[shape])[:2] == ["knee", "soft_knee"]
    assert lost["soft_knee"] > 0.0


def test_collapse_rises_like_a_roof_and_falls_three_times_as_steeply() -> None:
    roof, collapse = (Landscape.of(shape, 96, 0.0).throughputs_per_s for shape in ("roof", "collapse"))
    assert collapse[:32] == pytest.approx(roof[:32])
    assert np.log(collapse[95] / collapse[31]) == pytest.approx(3.0 * np.log(roof[95] / roof[31]))


def test_price_pulls_the_optimum_to_fewer_threads() -> None:
    optima = [Landscape.of("arch", 1024, price).optimum for price in (0.0, 0.02, 0.2)]
    assert optima == sorted(optima, reverse=True)
    assert len(set(optima)) == 3


def test_scaled_landscape_has_the_same_regrets() -> None:
    landscape = Landscape.of("arch", 32, 0.02)
    scaled = landscape.scaled(0.6)
    assert scaled.throughputs_per_s == pytest.approx(0.6 * landscape.throughputs_per_s)
    assert scaled.regrets == pytest.approx(landscape.regrets)
    assert scaled.optimum == landscape.optimum
