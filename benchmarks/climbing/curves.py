"""Curves with a known optimum: thousands of cells in a minute."""

from dataclasses import asdict
from functools import lru_cache

import numpy as np

from climbing.cells import SHIFTS, STARTS, CurveCell, Noise, grid, shifted
from climbing.play import play
from climbing.reference_controllers import BASELINES, MakeClimber, ours
from climbing.score import Score, score
from climbing.shapes import SHAPES, Landscape
from harness.experiment import Found, Task
from poolpilot.env.climbing.spectral import native_settings
from poolpilot.native_pool import SpectralSettings

SCALES = (2, 8, 32, 128, 512, 1024)
SHIFT_SCALES = (32, 128, 1024)
NOISES = (Noise(0.0), Noise(0.02), Noise(0.05), Noise(0.1), Noise(0.05, 0.9))
SAMPLES = 600
PRICE_OF_THREAD = 0.02

CELLS: dict[str, CurveCell] = {
    str(cell): cell
    for cell in (*grid(tuple(SHAPES), SCALES, NOISES, STARTS), *shifted(tuple(SHAPES), SHIFT_SCALES, NOISES))
}


def seeds_of(cell: str, repeats: int) -> range:
    """Repeats of a cell: one without noise has a single run."""
    return range(repeats if CELLS[cell].noise.share > 0.0 else 1)


def measured(task: Task) -> Found:
    """What a controller loses on one curve."""
    return asdict(played(task.arm, CELLS[task.scenario], task.seed))


def played(controller: str, cell: CurveCell, seed: int, samples: int = SAMPLES) -> Score:
    """Plays one controller on one curve; after a shift only what follows it is scored."""
    landscapes = _landscapes(cell.shape, cell.scale, cell.shift)
    start = cell.start_size(landscapes[0].optimum)
    sizes = play(maker(controller)(start, cell.scale), start, landscapes, cell.noise.draw(samples, seed))
    return score(np.array_split(sizes, len(landscapes))[-1], landscapes[-1])


def maker(controller: str) -> MakeClimber:
    """Makes the climbers of a name."""
    settings = native_settings(SpectralSettings(), price_of_thread=PRICE_OF_THREAD)
    return BASELINES.get(controller) or ours(settings)


@lru_cache(maxsize=64)
def _landscapes(shape: str, scale: int, shift: str | None) -> tuple[Landscape, ...]:
    if shift is None:
        return (Landscape.of(shape, scale, PRICE_OF_THREAD),)
    change = SHIFTS[shift]
    before = Landscape.of(shape, scale, PRICE_OF_THREAD, change.before)
    return before, Landscape.of(shape, scale, PRICE_OF_THREAD, change.after).scaled(change.factor)
