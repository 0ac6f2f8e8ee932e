"""Curves with a known optimum: thousands of cells in a minute."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from poolpilot.env.climbing.spectral import native_settings
from poolpilot.native_pool import SpectralSettings
from poolpilot.pipelines.bench.climbing.cells import SHIFTS, CurveCell, Noise, grid, shifted
from poolpilot.pipelines.bench.climbing.play import play
from poolpilot.pipelines.bench.climbing.reference_controllers import BASELINES, SPECTRAL, MakeClimber, ours
from poolpilot.pipelines.bench.climbing.score import Score, score
from poolpilot.pipelines.bench.climbing.shapes import Landscape
from poolpilot.pipelines.bench.climbing.suite import Task


@dataclass(frozen=True)
class CurveSuite:
    """The grid on curves.

    Attributes:
        controllers: Names of the controllers.
        shapes: Names of curves.
        scales: Largest sizes.
        noises: Noise of a sample.
        starts: Where runs begin.
        shift_scales: Largest sizes at which the workload also shifts in mid-run.
        seeds: Repeats of a noisy cell; one without noise has a single run.
        samples: Length of a run.
        price_of_thread: e of the objective, and of our climber.
        variants: Other settings of our climber by controller name, for ablations.
    """

    controllers: tuple[str, ...]
    shapes: tuple[str, ...]
    scales: tuple[int, ...]
    noises: tuple[Noise, ...]
    starts: tuple[str, ...]
    shift_scales: tuple[int, ...]
    seeds: int
    samples: int
    price_of_thread: float
    variants: dict[str, dict[str, float]]

    @cached_property
    def _cells(self) -> dict[str, CurveCell]:
        cells = grid(self.shapes, self.scales, self.noises, self.starts)
        return {str(cell): cell for cell in (*cells, *shifted(self.shapes, self.shift_scales, self.noises))}

    def tasks(self) -> list[Task]:
        """Every run, controllers interleaved."""
        return [
            Task(controller, name, seed)
            for name, cell in self._cells.items()
            for seed in range(self.seeds if cell.noise.share > 0.0 else 1)
            for controller in self.controllers
        ]

    def run(self, task: Task) -> Score:
        """Plays one controller on one curve; after a shift only what follows it is scored."""
        cell = self._cells[task.cell]
        landscapes = _landscapes(cell.shape, cell.scale, cell.shift, self.price_of_thread)
        start = cell.start_size(landscapes[0].optimum)
        noise = cell.noise.draw(self.samples, task.seed)
        climber = self.make(task.controller)(start, cell.scale)
        sizes = play(climber, start, landscapes, noise)
        return score(np.array_split(sizes, len(landscapes))[-1], landscapes[-1])

    def make(self, controller: str) -> MakeClimber:
        """Makes the climbers of a name.

        Raises:
            SettingError: A variant has a setting that the climber does not know.
        """
        if controller in BASELINES:
            return BASELINES[controller]
        variant = {"price_of_thread": self.price_of_thread, **self.variants.get(controller, {})}
        return ours(native_settings(SpectralSettings(), **variant))

    def describe(self, cell: str) -> dict[str, Any]:
        """What a cell is, fit for JSON."""
        return self._cells[cell].as_dict()


@lru_cache(maxsize=64)
def _landscapes(shape: str, scale: int, shift: str | None, price_of_thread: float) -> tuple[Landscape, ...]:
    if shift is None:
        return (Landscape.of(shape, scale, price_of_thread),)
    change = SHIFTS[shift]
    before = Landscape.of(shape, scale, price_of_thread, change.before)
    return before, Landscape.of(shape, scale, price_of_thread, change.after).scaled(change.factor)


ABLATIONS: dict[str, dict[str, float]] = {
    SPECTRAL: {},
    "without relative gain": {"relative_gain": False},
    "wave not scaled by noise": {"wave_follows_noise": False},
    "without significance test": {"test_significance": False},
    "without price": {"price_of_thread": 0.0},
    "two periods at least": {"min_periods_known_noise": 2},
    "four windows of patience": {"hcm_patience": 4},
    "without the scan": {"scan_rounds": 0},
}
"""Our climber with one improvement switched off."""
