"""The grid on curves: who runs where, and what is scored."""

import numpy as np
import pytest

from climbing import curves
from climbing.curves import CELLS, measured, played, seeds_of
from climbing.reference_controllers import BASELINES, SPECTRAL
from climbing.shapes import Landscape
from harness.experiment import Task

NOISY, QUIET = "roof of 32, 5 %, from one", "roof of 32, 0 %, from one"


def test_noisy_cells_are_repeated() -> None:
    assert list(seeds_of(NOISY, 3)) == [0, 1, 2]
    assert list(seeds_of(QUIET, 3)) == [0]


@pytest.mark.parametrize("controller", [SPECTRAL, *BASELINES])
def test_run_is_the_same_twice(controller: str) -> None:
    found = played(controller, CELLS[NOISY], 2, samples=200)
    assert played(controller, CELLS[NOISY], 2, samples=200) == found
    assert 0.0 <= found.end_lost <= 1.0
    assert 0.0 <= found.objective_lost <= 1.0


def test_seeds_differ() -> None:
    assert measured(Task(SPECTRAL, NOISY, 0)) != measured(Task(SPECTRAL, NOISY, 1))


def test_ours_is_at_the_optimum_at_rest() -> None:
    found = measured(Task(SPECTRAL, QUIET, 0))
    assert found["end_lost"] <= 0.05
    assert found["samples_to_stay"] is not None


@pytest.mark.parametrize(("start", "size"), [("one", 1), ("root", 6), ("optimum", 11), ("largest", 32)])
def test_run_begins_where_its_cell_says(start: str, size: int) -> None:
    found = played(SPECTRAL, CELLS[f"roof of 32, 0 %, from {start}"], 0, samples=1)
    assert found.objective_lost == pytest.approx(Landscape.of("roof", 32, 0.02).regrets[size - 1])


def test_only_what_follows_a_shift_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "play", lambda _climber, start, _landscapes, noise: np.full(len(noise), start))
    found = played(SPECTRAL, CELLS["roof of 128, 0 %, shifted to fewer threads"], 0)
    after = Landscape.of("roof", 128, 0.02, 1 / 12)
    assert found.objective_lost == pytest.approx(after.regrets[43 - 1])
