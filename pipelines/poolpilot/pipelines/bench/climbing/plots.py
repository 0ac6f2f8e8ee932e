"""Pictures of a comparison: what each controller loses by scale and noise, and runs beside each other."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from statistics import fmean
from typing import Any

from matplotlib.figure import Figure

from poolpilot.pipelines.bench.climbing.reference_controllers import SPECTRAL
from poolpilot.pipelines.bench.climbing.summary import Comparison

OURS, OTHERS = "#c0392b", ("#2c3e50", "#2980b9", "#16a085", "#8e44ad", "#7f8c8d", "#d68910", "#95a5a6")


def draw(comparison: Comparison, folder: Path) -> list[Path]:
    """Writes the pictures of a comparison.

    Args:
        comparison: What to draw.
        folder: Where to; it is made if need be.

    Returns:
        The files; none for pools, whose cells have neither scale nor noise.
    """
    folder.mkdir(parents=True, exist_ok=True)
    cells = comparison.cells()
    if "scale" not in cells[0]:
        return []
    figure = Figure(figsize=(10.0, 4.2), layout="constrained")
    by_scale, by_noise = figure.subplots(1, 2)
    _lines(by_scale, cells, "scale", comparison.controllers)
    by_scale.set_xscale("log", base=2)
    by_scale.set_xlabel("largest pool size")
    _lines(by_noise, [cell for cell in cells if not cell["correlation"]], "noise", comparison.controllers)
    by_noise.set_xlabel("noise of one sample, relative")
    by_noise.legend(fontsize="small")
    for axes in (by_scale, by_noise):
        axes.set_yscale("log")
        axes.set_ylabel("share of the objective lost on the way")
        axes.grid(alpha=0.3)
    path = folder / "climbers.png"
    figure.savefig(path, dpi=110)
    return [path]


def _lines(axes: Any, cells: Sequence[dict[str, Any]], key: str, controllers: Sequence[str]) -> None:
    others = cycle(OTHERS)
    for name in controllers:
        lost: dict[float, list[float]] = defaultdict(list)
        for cell in cells:
            lost[cell[key]].append(cell["controllers"][name]["objective_lost"])
        colour, width = (OURS, 2.5) if name == SPECTRAL else (next(others), 1.2)
        places = sorted(lost)
        axes.plot(places, [fmean(lost[one]) for one in places], "o-", label=name, color=colour, linewidth=width)
