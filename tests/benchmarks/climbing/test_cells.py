"""Noise is what it says, every cell has a name of its own, and a shift is large enough to be seen."""

import json

import numpy as np
import pytest

from climbing.cells import SHIFTS, STARTS, CurveCell, Noise, grid, shifted
from climbing.shapes import SHAPES, Landscape

NOISES = (Noise(0.0), Noise(0.02), Noise(0.05), Noise(0.05, 0.9))


@pytest.mark.parametrize("noise", NOISES)
def test_noise_of_one_seed_is_the_same_twice_and_of_another_is_not(noise: Noise) -> None:
    assert np.array_equal(noise.draw(50, 3), noise.draw(50, 3))
    assert np.array_equal(noise.draw(50, 3), noise.draw(50, 4)) == (noise.share == 0.0)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_noise_has_the_deviation_and_the_correlation_it_states(correlation: float) -> None:
    logs = np.log(Noise(0.05, correlation).draw(100_000, 1))
    assert logs.std() == pytest.approx(0.05, rel=0.03)
    assert logs.mean() == pytest.approx(0.0, abs=0.003)
    assert np.corrcoef(logs[:-1], logs[1:])[0, 1] == pytest.approx(correlation, abs=0.02)


def test_first_sample_of_correlated_noise_is_as_noisy_as_the_others() -> None:
    noise = Noise(0.05, 0.9)
    firsts = [float(np.log(noise.draw(2, seed)[0])) for seed in range(2000)]
    assert np.std(firsts) == pytest.approx(0.05, rel=0.06)


def test_no_noise_changes_nothing() -> None:
    assert np.all(Noise(0.0, 0.9).draw(20, 1) == 1.0)


def test_noises_are_named() -> None:
    assert [str(noise) for noise in NOISES] == ["0 %", "2 %", "5 %", "5 % correlated"]


def test_every_cell_has_a_name_of_its_own() -> None:
    cells = grid(tuple(SHAPES), (2, 8, 32), NOISES, STARTS) + shifted(tuple(SHAPES), (8, 32), NOISES)
    assert len(cells) == 6 * 3 * 4 * 4 + 5 * 2 * 4 * 2
    assert len({str(cell) for cell in cells}) == len(cells)


def test_flat_curve_is_not_shifted() -> None:
    assert shifted(("flat",), (32,), NOISES) == []
    assert {cell.shift for cell in shifted(("arch", "flat"), (32,), NOISES)} == set(SHIFTS)


@pytest.mark.parametrize(("start", "size"), [("one", 1), ("root", 11), ("optimum", 40), ("largest", 128)])
def test_start_is_a_size(start: str, size: int) -> None:
    assert CurveCell("arch", 128, Noise(0.0), start).start_size(40) == size


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("scale", [1, 2, 3])
def test_start_of_the_smallest_scales_is_within_them(scale: int, start: str) -> None:
    optimum = Landscape.of("arch", scale, 0.02).optimum
    assert 1 <= CurveCell("arch", scale, Noise(0.0), start).start_size(optimum) <= scale


def test_cell_is_fit_for_json() -> None:
    cell = CurveCell("arch", 32, Noise(0.05, 0.9), "optimum", "to more threads")
    expected = {"shape": "arch", "scale": 32, "noise": 0.05, "correlation": 0.9}
    assert json.loads(json.dumps(cell.as_dict())) == {**expected, "start": "optimum", "shift": "to more threads"}


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize(("scale", "least"), [(32, 0.3), (128, 1 / 3), (1024, 1 / 3)])
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "flat"])
def test_shift_changes_what_the_old_optimum_gives_by_a_third(shape: str, scale: int, least: float, shift: str) -> None:
    change = SHIFTS[shift]
    before = Landscape.of(shape, scale, 0.02, change.before)
    after = Landscape.of(shape, scale, 0.02, change.after).scaled(change.factor)
    old = before.optimum
    assert after.throughputs_per_s[old - 1] <= (1.0 - least) * before.throughputs_per_s[old - 1]
    assert (after.optimum < old) == (shift == "to fewer threads")
